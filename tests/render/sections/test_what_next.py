"""The last section: what each further run would show, its price, and the line to paste."""

from dataclasses import replace

import pytest

from harness.analysis import Analysis
from harness.analysis.results import Aim, Change, NextStep, RunPrice
from harness.render import LANGUAGES, StudyFacts, words
from harness.render.blocks import Command, Items, Paragraph
from harness.render.sections.what_next import what_next

TOP_K, PROMPT = Change("top_k", 4, 9), Change("prompt", "default", "strict")
PAID = RunPrice(10, True, (100.0, 200.0), (5.0, 7.5), new_index=True)
FREE = RunPrice(10, False, (100.0, 200.0), (5.0, 7.5), new_index=False)
WORDS = ("variant=a", "variant.top_k=9")
SEPARATE = NextStep(Aim.SEPARATE, WORDS, (TOP_K,), price=PAID)
SPLIT = NextStep(Aim.SPLIT, WORDS, pair=("a", "b"), price=replace(PAID, new_index=None))


def told(analysis: Analysis, *steps: NextStep, brief: bool = True, language: str = "en") -> str:
    """Return what the section says of these steps, a line a block."""
    facts = StudyFacts("x", overrides=("study=x", "judge=chat"))
    section = what_next(replace(analysis, next_steps=steps), facts, words(language), brief)
    lines = []
    for block in section.blocks if section else ():
        if isinstance(block, Items):
            lines += block.texts
        else:
            assert isinstance(block, Paragraph | Command)
            lines.append(block.text)
    return "\n".join(lines)


def test_a_run_has_its_price_and_its_command(article: Analysis) -> None:
    """Ten answers at most, by the tokens of the runs collected, and an index to build."""
    both = replace(SEPARATE, changes=(TOP_K, PROMPT))

    assert told(article, both).splitlines() == [
        "1 further run gives each of these changes, which occur only together with others, a "
        "contrast of its own, and no smaller set of runs does: top_k 4 -> 9, prompt default -> "
        "strict.",
        "To collect (at most 10 answers by the model, free where cached, about 1000 to 2000 input "
        "and 50 to 75 output tokens by the runs collected, builds a new index):",
        "python -m harness.collect study=x variant=a variant.top_k=9",
        "Then score and compare all runs (with dry_run=true, evaluate prints the judge's cost "
        "first):",
        "python -m harness.evaluate study=x judge=chat",
        "python -m harness.report study=x judge=chat",
    ]


def test_each_of_several_runs_names_what_it_separates(article: Analysis) -> None:
    """Where it is not shown that fewer runs are too few, that is said."""
    steps = [replace(SEPARATE, fewest=False, price=FREE, changes=(one,)) for one in (TOP_K, PROMPT)]
    shown = told(article, *steps)

    assert "(found step by step; a smaller set may exist): top_k 4 -> 9, prompt" in shown
    assert "For top_k 4 -> 9 (no model is asked for answers, needs no new index):" in shown
    assert "For prompt default -> strict (" in shown


def test_what_has_no_command_has_a_reason(article: Analysis) -> None:
    """A recording, and a setting that no command sets; nothing is left to compare."""
    recorded = replace(SEPARATE, words=(), obstacle="recorded")
    fixed = NextStep(Aim.SEPARATE, changes=(PROMPT,), obstacle="unwritable")
    shown = told(article, recorded, fixed)

    assert "1 further run would help, but the answers of this study are replayed" in shown
    assert "No command separates prompt default -> strict: one side has no such setting" in shown
    assert "python -m" not in shown


def test_three_runs_of_an_aim_are_offered_in_brief(article: Analysis) -> None:
    """In full ten are, and the others are counted."""
    steps = [SPLIT] * 12

    assert told(article, *steps).count("a and b: whether retrieval or generation made") == 3
    assert "9 more in report.md." in told(article, *steps)
    full = told(article, *steps, brief=False)
    assert full.count("harness.collect") == 10
    assert "2 more." in full


def test_nothing_confounded_is_said_and_nothing_at_all_is_no_section(article: Analysis) -> None:
    """A study without a contrast has nothing to say here."""
    assert told(article) == (
        "Every factor that changed has a contrast of its own: no further run is needed to "
        "separate factors."
    )
    assert told(replace(article, contrasts=())) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_it_all(article: Analysis, language: str) -> None:
    """Each kind of step has its sentence, and the commands are the same."""
    steps = (
        SEPARATE,
        replace(SEPARATE, changes=(PROMPT,), price=FREE),
        NextStep(Aim.QUESTIONS, gain=0.2, questions=39, asked=12, changed=0.25, power=0.8),
        NextStep(Aim.DEPEND, WORDS, squares=((TOP_K, PROMPT),), price=FREE),
        SPLIT,
        replace(SPLIT, words=(), obstacle="recorded"),
        NextStep(Aim.SEPARATE, changes=(PROMPT,), obstacle="unwritable"),
    )

    mine, english = (told(article, *steps, language=one) for one in (language, "en"))

    assert len(mine.splitlines()) == len(english.splitlines())
    commands = [line for line in mine.splitlines() if line.startswith("python")]
    assert commands == [line for line in english.splitlines() if line.startswith("python")]
    assert len(commands) == 6
    assert "39" in mine
    assert "25 %" in mine
