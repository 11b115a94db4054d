"""Have people grade answers and captions, on a page that only this computer can open.

python -m harness.grade                                one answer at a time, blind to the variant
python -m harness.grade grader=ann second_look=true    first what graders disagree on
python -m harness.grade merge=other.jsonl              another grader's file; how far you agree
python -m harness.grade write=grades.csv               for a spreadsheet; read it with read=
"""

from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import GradeSettings


@stage("grade")
def main(settings: "GradeSettings", how: "Composition") -> None:
    """Serve the grading page, or move grades between files."""
    from harness.grade.grading import grade

    grade(settings, how)


if __name__ == "__main__":
    main()
