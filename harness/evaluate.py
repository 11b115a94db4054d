"""Have a judge label what the runs answered, and work out the scores.

python -m harness.evaluate                                            every run of the study
python -m harness.evaluate 'runs=[ctx_k9,text_k9]' 'metrics=[faithfulness,ragchecker]'
python -m harness.evaluate judge=chat judge.chat.model=...            another judge
"""

from typing import TYPE_CHECKING

from harness.command import stage

if TYPE_CHECKING:
    from harness.config import Composition, Evaluate


@stage("evaluate")
def main(settings: "Evaluate", how: "Composition") -> None:
    """Score the runs that the command line names."""
    from harness.config import shown_path
    from harness.evaluation import evaluate, summary
    from harness.progress import progress

    with progress("evaluate") as advance:
        runs = evaluate(settings, advance)
    for run in runs:
        print(f"{shown_path(run.path)}: {summary(run.scores(settings.judge.label))}")
    print(f"next: python -m harness.report {how.study_words}")


if __name__ == "__main__":
    main()
