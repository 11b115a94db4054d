"""The opening: what a reader who has seen nothing else can tell from it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import Analysis, Expectation, MetricFacts, Options, Primary, RunFacts
from harness.analysis.results import Conclusion, Leader
from harness.records import Layer
from harness.render import StudyFacts, terminal, words
from harness.render.blocks import Command, Paragraph, Table
from harness.render.sections.answer import answer

Study, Printed = Callable[..., Analysis], Callable[..., str]
EN = words("en")
FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
TOKENS = MetricFacts("input_tokens", Layer.COST, higher_is_better=False, bounded=False)


def said(found: Analysis, facts: StudyFacts) -> str:
    """Return the paragraphs of the opening."""
    blocks = answer(found, facts, EN, brief=True).blocks
    return " ".join(block.text for block in blocks if isinstance(block, Paragraph))


def rows(found: Analysis, facts: StudyFacts) -> list[dict[str, str]]:
    """Return the rows of the opening's table, by title of the column."""
    [table] = [b for b in answer(found, facts, EN, brief=True).blocks if isinstance(b, Table)]
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, (c.text for c in row), strict=True)) for row in table.rows]


@pytest.mark.parametrize("language", ["en", "ja", "zh_hant"])
def test_the_answer_is_on_the_first_screen(
    article: Analysis, facts: StudyFacts, printed: Printed, language: str
) -> None:
    """Question, answer, a row for each of five changes, and limits, in 24 lines of 100 columns."""
    shown = printed(terminal(article, facts, language)).splitlines()

    end = next(at for at, line in enumerate(shown[2:], 2) if line.startswith("==="))
    assert end - 2 <= 24
    for row in ("top_k 4 -> 9", "text -> caption", "text -> ctx", "default -> strict"):
        assert any(row in line for line in shown[:24])


def test_nothing_beyond_chance_is_an_answer(article: Analysis, facts: StudyFacts) -> None:
    """The word no comes first, then which run leads and how often chance does that."""
    shown = said(article, facts)
    assert "ctx_k9 has the most right answers, 7 of 8; even if all 6 runs were equally" in shown
    assert shown.startswith(
        "Which change helped? No change is shown to make more answers right (5 were tested). So "
        "few answers changed that this study could not have shown anything. Questions turned in "
        "every pair of a change: "
    )


def test_what_helps_and_what_harms(study: Study, facts: StudyFacts) -> None:
    """Twelve answers turned right by the prompt: it is named, with its gain and its cost."""
    runs = [
        RunFacts("a", "a", {"prompt": "default"}, {"prompt.text": "x"}),
        RunFacts("b", "b", {"prompt": "strict"}, {"prompt.text": "y"}),
    ]
    tokens = {TOKENS: {"a": [100.0] * 12, "b": [150.0] * 12}}
    found = study(runs, tokens, grades={"a": [0] * 12, "b": [1] * 12})

    assert "More answers right, beyond chance: prompt default -> strict (+1.000)." in said(
        found, facts
    )
    assert "No change is shown" not in said(found, facts)
    [row] = rows(found, facts)
    assert (row["right"], row["verdict"], row["tokens"]) == ("+1.000", "better", "+50 %")


def test_a_cost_hides_no_bottom_line(study: Study, facts: StudyFacts) -> None:
    """Input tokens differ on every question and nothing else does: the answer is still no."""
    runs = [RunFacts(f"k{k}", f"k{k}", leaves={"top_k": k}) for k in (4, 9)]
    tokens = {TOKENS: {"k4": [100.0] * 12, "k9": [200.0] * 12}}
    grades = {"k4": [1, 0] * 6, "k9": [1, 0] * 6}

    assert "No change is shown to make more answers right (1 was tested)." in said(
        study(runs, tokens, grades=grades), facts
    )


def test_without_grades_the_answer_says_so(study: Study, facts: StudyFacts) -> None:
    """Scores alone do not tell whether an answer became right."""
    runs = [RunFacts(f"k{k}", f"k{k}", leaves={"top_k": k}) for k in (4, 9)]

    shown = said(study(runs, {FAITHFULNESS: {"k4": [0.5] * 3, "k9": [0.6] * 3}}), facts)

    assert "Whether answers became right is not known" in shown


def test_one_run_and_two_that_differ_in_two_factors(study: Study, facts: StudyFacts) -> None:
    """Without a pair to compare there is no change to judge, and the reason is given."""
    one, other = (
        RunFacts(name, name, leaves={"top_k": k, "chunk": k}) for name, k in (("a", 4), ("b", 9))
    )

    assert "There is one run" in said(study([one], grades={"a": [1]}), facts)
    both = study([one, other], grades={"a": [1], "b": [0]})
    assert "No two runs differ in one factor alone" in said(both, facts)


def test_equal_runs_have_no_leader(article: Analysis, facts: StudyFacts) -> None:
    """A tie of all is no lead, and a tie of some names them."""
    tie = Leader(("a", "b"), 3.0, 8, 2, 1.0)
    assert "All 2 runs have equally many right answers, 3 of 8." in said(
        replace(article, leader=tie), facts
    )
    some = replace(tie, compared=3, chance=0.62)
    assert "a, b have the most right answers, 3 of 8; even if all 3 runs were equally good" in said(
        replace(article, leader=some), facts
    )


def test_many_changes_are_counted(study: Study, facts: StudyFacts) -> None:
    """A sweep of five values has ten changes: six have a row, the others are counted."""
    runs = [RunFacts(f"k{k}", f"k{k}", leaves={"top_k": k}) for k in range(1, 6)]

    found = study(runs, grades={run.name: [1, 0, 1] for run in runs})

    assert len(rows(found, facts)) == 6
    assert "4 more changes below." in said(found, facts)


def test_what_was_not_shown_to_act(article: Analysis, facts: StudyFacts) -> None:
    """Equal answers have no effect, equal passages the same evidence; the trusted are counted."""
    [*_, last] = article.effects
    differences = tuple(
        replace(row, verdict=Conclusion.NO_EFFECT_POSSIBLE)
        if row.metric == "right"
        else replace(row, verdict=Conclusion.WORSE)
        if row.metric == "faithfulness"
        else replace(row, metric="gold_ndcg", verdict=Conclusion.IDENTICAL_BY_CONSTRUCTION)
        if row.metric == "context_recall"
        else row
        for row in last.differences
    )
    found = replace(article, effects=(replace(last, differences=differences),))

    [row] = rows(found, facts)
    assert (row["verdict"], row["evidence found (nDCG)"], row["trusted quality"]) == (
        "no effect", "the same", "worse",
    )  # fmt: skip


def test_a_declared_metric_is_claimed_by_its_name(study: Study, facts: StudyFacts) -> None:
    """Beside right answers, whatever is claimed is said."""
    runs = [RunFacts(f"k{k}", f"k{k}", leaves={"top_k": k}) for k in (4, 9)]
    scores = {FAITHFULNESS: {"k4": [0.9] * 12, "k9": [0.1] * 12}}
    options = Options(primary=(Primary("top_k", "faithfulness"),))

    shown = said(study(runs, scores, options=options), facts)

    assert "Worse faithfulness beyond chance: top_k 4 -> 9 (-0.800)." in shown


def test_what_was_expected_is_answered(study: Study, facts: StudyFacts) -> None:
    """The study wrote down that top_k would help; it did not show, and no run tests the prompt."""
    runs = [RunFacts(f"k{k}", f"k{k}", leaves={"top_k": k}) for k in (4, 9)]
    options = Options(expect=(Expectation("top_k"), Expectation("prompt")))

    shown = said(study(runs, grades={"k4": [1, 0], "k9": [0, 1]}, options=options), facts)

    assert "Expected of top_k 4 -> 9: share right better; that is not shown." in shown
    assert "Expected of prompt: share right better; no pair of complete runs tests it." in shown


def test_the_opening_ends_with_what_to_do_next(article: Analysis, facts: StudyFacts) -> None:
    """The first step of the last block, with its command."""
    blocks = answer(article, facts, EN, brief=True).blocks

    assert said(article, facts).count("Next: ") == 1
    [command] = [block.text for block in blocks if isinstance(block, Command)] or [""]
    assert article.next_steps[0].words == () or command.startswith("python -m harness.collect")
    assert "Next: " not in said(replace(article, next_steps=()), facts)
