"""Compare the runs of a study, one factor at a time.

python -m harness.report                                  every run of the study
python -m harness.report baseline=text_k4 factor=top_k    a part of it
python -m harness.report suspects=true                    the verdicts that a person should look at
python -m harness.report cluster=document language=ja
"""

from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import Report


@stage("report")
def main(settings: "Report", how: "Composition") -> None:
    """Print the report and write its files."""
    from harness.report.writing import report

    report(settings, how)


if __name__ == "__main__":
    main()
