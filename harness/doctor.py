"""Is this judge fit for use? Ask it what is known.

python -m harness.doctor judge=chat judge.chat.model=qwen2.5:7b judge.chat.base_url=http://localhost:11434/v1
python -m harness.doctor judge=chat chat@judge.chat=ollama judge.chat.model=qwen2.5:7b

It tries whether the endpoint answers and enforces a JSON schema, how long a prompt it reads whole,
whether it says the same twice, how fast it is, and how many of 24 entailments a language it labels
right. Some thirty calls; nothing is remembered, nothing is written. Exit code 1: not fit.

Settings: those of python -m harness.evaluate that begin with judge, study, or budget.
"""

import sys
from typing import TYPE_CHECKING

from harness.config.command import ending

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import Evaluate


def main() -> None:
    """Examine the judge that the command line describes."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        print((__doc__ or "").strip())
        return
    from harness.config.composition import run_stage

    with ending("interrupted: what the model said is kept"):
        run_stage("evaluate", examined)


def examined(settings: "Evaluate", _: "Composition") -> None:
    """Print what was found, and advice."""
    from harness.judge import ChatJudge
    from harness.judge.fitness import LANGUAGES, Level, examine
    from harness.judge.prompt import language
    from harness.llm import Calls

    judge = settings.judge
    if not isinstance(judge, ChatJudge):
        print(f"judge {judge.label} asks no model. Measured against people:")
        print(*judge.measured, sep="\n")
        return
    spoken = language(judge.language)
    languages = [spoken] if spoken in LANGUAGES else list(LANGUAGES)
    points = []
    for point in examine(judge, languages, Calls(None, budget=settings.budget)):
        points.append(point)
        print(f"{point.name:<20} {point.level.name.lower():<9} {point.said}", flush=True)
    for point in points:
        if point.advice:
            print(f"advice: {point.name}: {point.advice}")
    worst = max(point.level for point in points)
    print(
        {
            Level.FIT: "fit for use, as far as this goes: the report's trust table says the rest",
            Level.DOUBTFUL: "use with care",
            Level.UNFIT: "not fit for use",
        }[worst]
    )
    if worst is Level.UNFIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
