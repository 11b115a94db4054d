"""Have people grade answers and captions, on a page that only this computer can open.

python -m harness.grade                                one answer at a time, blind to the variant
python -m harness.grade grader=ann second_look=true    first what graders disagree on
python -m harness.grade merge=other.jsonl              another grader's file; how far you agree
python -m harness.grade write=grades.csv               for a spreadsheet; read=grades.csv back
python -m harness.grade read=graded.json               a map: variant, question, 0 or 1
"""

from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import Grade


@stage("grade")
def main(settings: "Grade", how: "Composition") -> None:
    """Serve the grading page, or move grades between files."""
    from harness.grade.work import grade

    grade(settings, how)


if __name__ == "__main__":
    main()
