"""Run one variant on a study's test set.

python -m harness.collect variant=ctx_k9                              one variant
python -m harness.collect -m variant=ctx_k9 variant.top_k=2,4,6,9     a sweep
python -m harness.collect -m 'variant=glob(*)'                        every variant
python -m harness.collect variant=ctx_k9 limit=2                      the first two questions
"""

from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import Collect


@stage("collect")
def main(settings: "Collect", how: "Composition") -> None:
    """Collect the variant that the command line describes."""
    from harness.collect.collection import collect, from_cache
    from harness.config.command import progress
    from harness.config.paths import shown_path

    with progress(how.choices.get("variant", "collect")) as advance:
        run = collect(settings, how, advance)
    facts = run.facts()
    counts = facts["counts"]
    failed = f", {counts['failed']} failed" if counts["failed"] else ""
    answered = f"{counts['answered']} of {counts['questions']} answered{failed}"
    print(f"{shown_path(run.path)}: {answered}{from_cache(facts)}")
    print(f"next: {how.command('evaluate')}")


if __name__ == "__main__":
    main()
