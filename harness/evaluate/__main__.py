"""Have a judge label the answers of the runs, and compute the scores.

python -m harness.evaluate                                            every run of the study
python -m harness.evaluate 'runs=[ctx_k9,text_k9]' 'metrics=[faithfulness,ragchecker]'
python -m harness.evaluate judge=chat judge.chat.model=...            another judge
python -m harness.evaluate dry_run=true                               its calls and their cost
"""

from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import Evaluate


@stage("evaluate")
def main(settings: "Evaluate", how: "Composition") -> None:
    """Score the runs that the command line names."""
    from harness.config.command import progress
    from harness.evaluate.bill import print_bill
    from harness.evaluate.evaluation import evaluate
    from harness.evaluate.summary import check_unread, summary

    if settings.dry_run:
        print_bill(settings, how)
        return
    with progress("evaluate") as advance:
        done = evaluate(settings, how, advance)
    print(summary(done))
    check_unread(done, settings.most_unread)
    print(f"next: {how.command('report')}")
    done.chosen.check()


if __name__ == "__main__":
    main()
