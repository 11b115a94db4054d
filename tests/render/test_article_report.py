"""The article's study as its reader sees it in a terminal: what its author had to find out."""

from collections.abc import Callable

from harness.analysis import Analysis
from harness.render import StudyFacts, terminal

SENTENCES = (
    "Right and wrong: 48 of 48 answers by people.",
    "run right q1 q2 q3 q4 q5 q6 q7 q8",
    "text_k4 4 of 8 ✗ ✗ ✓ ✓ ✗ ✗ ✓ ✓",
    "text_k9 5 of 8 ✓ ✗ ✓ ✓ ✓ ✗ ✗ ✓",
    "caption_k4 5 of 8 ✗ ✓ ✓ ✓ ✗ ✗ ✓ ✓",
    "ctx_k4 5 of 8 ✗ ✓ ✓ ✓ ✗ ✗ ✓ ✓",
    "ctx_k9 7 of 8 ✓ ✓ ✓ ✓ ✓ ✗ ✓ ✓",
    "ctx_k9_strict 5 of 8 ✗ ✗ ✓ ✓ ✓ ✗ ✓ ✓",
    "4 of 8 questions are informative (right in some runs, wrong in others): q1, q2, q5, q7.",
    "ctx_k9 *9 of 9 *0.477 (8/8) *0.845 (7/8) 0.687 (8/8) 0.525 (8/8)",
    "* saturated: at least 80 % of the index comes back",
    "context precision 0.445 0.450 -0.005 31/17",
    "context recall 0.783 0.819 -0.036 25/14",
    "faithfulness 0.617 0.176 +0.441 30/17",
    "answer relevancy 0.579 0.171 +0.408 31/17",
    "Not trusted here: context precision, context recall.",
    "adj. p: corrected for all 15 tests that may be claimed (step-down minP), compared with 0.05.",
    "prompt: default -> strict (ctx_k9 -> ctx_k9_strict) same passages for every question: any "
    "change is generation, by construction",
    "q1, q2 turned wrong; 2 of 8 questions changed, McNemar p = 0.5, the least that 2 changes can "
    "give, so this is consistent with chance.",
    "identical by construction, as the passages are the same: context precision, context recall",
    "8 pairs differ in more than one factor and are not contrasts; existing runs separate all of "
    "them.",
    "What changed, not beyond chance - q1, q5 turned right in each of the 2 contrasts of top_k 4 "
    "-> 9; by chance 0.267 such questions are expected (p = 0.022, after correction 0.088).",
    "q2 turned right in each of the 2 contrasts of index.contents text -> ctx; by chance",
    "differs by +0.125 between index.contents text and ctx",
    "No change of a factor is better or worse beyond chance",
)


def test_the_terminal_says_what_was_learnt(
    article: Analysis, facts: StudyFacts, printed: Callable[..., str]
) -> None:
    """Grid, means, trust, contrasts, credit and interaction are there with their numbers."""
    shown = " ".join(printed(terminal(article, facts)).split())

    assert [sentence for sentence in SENTENCES if sentence not in shown] == []
