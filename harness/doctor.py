"""Is this judge fit for use? Test it with questions whose answers are known.

python -m harness.doctor judge=chat judge.chat.model=qwen2.5:7b judge.chat.base_url=http://localhost:11434/v1
python -m harness.doctor judge=chat chat@judge.chat=ollama judge.chat.model=qwen2.5:7b

It tests whether the endpoint responds and enforces a JSON schema, the longest prompt that it reads
without truncation, whether it gives the same reply twice, its speed, and how many of 24
entailments per language it labels right. About thirty calls; nothing is cached and nothing is
written. Exit code 1: not fit for use.

Settings: those of python -m harness.evaluate that begin with judge, study or budget.
"""

from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import Evaluate


@stage("evaluate", listed=False, interrupted="interrupted")
def main(settings: "Evaluate", _: "Composition") -> None:
    """Examine the judge: print the result of each test, advice, and the conclusion."""
    from harness.judge import ChatJudge
    from harness.judge.fitness import Level, examine
    from harness.llm import Calls
    from harness.text import visible

    judge = settings.judge
    if not isinstance(judge, ChatJudge):
        print(f"judge {judge.label} calls no model. Agreement with people, as measured:")
        print(*judge.accuracies, sep="\n")
        return
    points = []
    for point in examine(judge, Calls(None, budget=settings.budget)):
        points.append(point)
        result = visible(point.result)
        print(f"{point.name:<20} {point.level.name.lower():<9} {result}", flush=True)
    for point in points:
        if point.advice:
            print(f"advice: {point.name}: {visible(point.advice)}")
    worst = max(point.level for point in points)
    print(
        {
            Level.FIT: "fit for use as far as these tests go; see also the report's trust table",
            Level.DOUBTFUL: "use with care",
            Level.UNFIT: "not fit for use",
        }[worst]
    )
    if worst is Level.UNFIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
