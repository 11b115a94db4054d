"""The words follow the numbers."""

from dataclasses import replace

import pytest

from harness.analysis.findings import Finding
from harness.render import sentence, words

EN = words("en")


def changed(gained: str, lost: str, p: float | None, floor: float | None) -> Finding:
    return Finding(
        "answers_changed",
        {
            "p": p,
            "p_floor": floor,
            "discordant": len(f"{gained} {lost}".split()),
            "questions": 8,
        },
        {"left_value": "4", "right_value": "9"},
        {"gained": tuple(gained.split()), "lost": tuple(lost.split())},
        factor="top_k",
        left="ctx_k4",
        right="ctx_k9",
    )


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (
            changed("q1", "", 1.0, 1.0),
            "q1 turned right; 1 of 8 questions changed, McNemar p = 1.0, the least that 1 change "
            "can give, so this is consistent with chance.",
        ),
        (
            changed("q1 q5", "q7", 1.0, 0.25),
            "q1, q5 turned right and q7 turned wrong; 3 of 8 questions changed, McNemar p = 1.0, "
            "so this is consistent with chance.",
        ),
        (
            changed("", "q1 q2 q3 q4 q5 q6", 0.03125, 0.03125),
            "q1, q2, q3, q4, q5, q6 turned wrong; 6 of 8 questions changed, McNemar p = 0.031 "
            "before the correction for all tests.",
        ),
        (changed("q1", "", None, None), "q1 turned right; 1 of 8 questions changed."),
    ],
)
def test_answers_changed(finding: Finding, expected: str) -> None:
    """Chance is named as such unless p says otherwise, and p is never claimed as corrected."""
    assert sentence(finding, EN) == f"top_k 4 -> 9 (ctx_k4 against ctx_k9): {expected}"


def test_level_is_the_analysis_own() -> None:
    """What counts as chance depends on the level that was asked for."""
    finding = changed("q1 q2 q3 q4 q5 q6", "", 0.03125, 0.03125)

    assert "consistent with chance" in sentence(finding, EN, alpha=0.01)


def test_versions_are_before_and_after() -> None:
    """A contrast of versions reads as a repair, with the questions that got worse."""
    finding = replace(
        changed("q1", "q2", 1.0, 0.5),
        factor="version",
        names={"left_value": "none", "right_value": "w48"},
        left="ctx",
        right="ctx-w48",
    )

    assert sentence(finding, EN).startswith(
        "none -> w48 (before: ctx, after: ctx-w48): q1 turned right and q2 turned wrong;"
    )


def test_better_never_stands_on_a_mean_alone() -> None:
    """A claim carries its interval, its questions and its corrected p."""
    numbers = {
        **{"mean": 0.25, "low": 0.1, "high": 0.4, "p": 0.0001, "p_floor": 0.0001},
        **{"p_adjusted": 0.0028, "questions": 50, "wins": 20, "ties": 28, "losses": 2},
    }
    finding = Finding(
        "better",
        numbers,
        {"left_value": "default", "right_value": "strict"},
        {"won": ("q1",), "lost": ("q2",)},
        factor="prompt",
        left="a",
        right="b",
        metric="faithfulness",
    )

    assert sentence(finding, EN) == (
        "prompt default -> strict (a against b): faithfulness is better by +0.250 (95 % interval "
        "+0.100 to +0.400; 50 questions, 20 better, 28 equal, 2 worse; p < 0.001, after "
        "correction 0.003)."
    )


def better(factor: str, won: tuple[str, ...], lost: tuple[str, ...]) -> Finding:
    numbers = {
        **{"mean": 0.5, "low": 0.25, "high": 0.75, "p": 0.0001, "p_floor": 0.0001},
        **{"p_adjusted": 0.001, "questions": 12, "wins": 11, "ties": 0, "losses": 1},
    }
    return Finding(
        "better",
        numbers,
        {"left_value": "none", "right_value": "w48"},
        {"won": won, "lost": lost},
        factor=factor,
        left="ctx",
        right="ctx-w48",
        metric="faithfulness",
    )


def test_a_version_says_what_was_won_and_lost() -> None:
    """The finding on a new version names its questions; for other contrasts the table does."""
    said = sentence(better("version", ("q1", "q2"), ("q3",)), EN)

    assert said.startswith("none -> w48 (before: ctx, after: ctx-w48): faithfulness is better by ")
    assert said.endswith("after correction 0.001). Better: q1, q2. Worse: q3.")
    assert sentence(better("version", ("q1",), ()), EN).endswith("). Better: q1.")
    assert sentence(better("top_k", ("q1",), ("q3",)), EN).endswith("after correction 0.001).")
    assert sentence(better("version", ("q1",), ("q3",)), words("zh_hant")).endswith(
        "）。變好的題目：q1。變差的題目：q3。"
    )


def agreement(**about: object) -> Finding:
    numbers: dict[str, float | int | None] = {
        **{"n": 9, "first_labelled": 9, "second_labelled": 12, "questions": 3, "agreed": 7},
        **{"share": 7 / 9, "kappa": 0.55, "low": -0.4, "high": 1.0},
    }
    names = {"first": "A", "second": "B", "check": "passage_useful"}
    for name, value in about.items():
        if isinstance(value, str):
            names[name] = value
        else:
            numbers[name] = value  # type: ignore[assignment]
    return Finding("judges_agreement", numbers, names)


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (
            agreement(),
            "the same label on 7 of 9 that can be matched (78 %; 3 questions); Cohen's kappa 0.550 "
            "(95 % interval over questions -0.400 to 1.000).",
        ),
        (
            agreement(low=None, high=None),
            "the same label on 7 of 9 that can be matched (78 %; 3 questions); Cohen's kappa "
            "0.550, with no interval from so little.",
        ),
        (
            agreement(kappa=None, low=None, high=None, unmatched="one_label"),
            "the same label on 7 of 9 that can be matched (78 %; 3 questions); Cohen's kappa is NA "
            "(both gave one label only).",
        ),
        (
            agreement(kappa=0.0, low=None, high=None, unmatched="one_constant"),
            "the same label on 7 of 9 that can be matched (78 %; 3 questions); one judge gave one "
            "label only, so kappa is 0.",
        ),
        (
            agreement(n=0, kappa=None, low=None, high=None, unmatched="other_claims"),
            "no label can be matched (the two judges extracted different claims), so nothing says "
            "whether they agree.",
        ),
        (
            agreement(
                n=0, kappa=None, low=None, high=None, lacking="B", status="not_supported_by_judge"
            ),
            "no label can be matched (B: not supported by this judge), so nothing says whether "
            "they agree.",
        ),
    ],
)
def test_judges_agreement(finding: Finding, expected: str) -> None:
    """Kappa has its interval, and where it is NA the reason; it is never given as 0."""
    assert sentence(finding, EN) == f"A and B, usefulness of each passage: {expected}"


def test_statuses_and_graders_are_words() -> None:
    """A sentence holds words instead of our codes."""
    missing = Finding(
        "missing_scores",
        {"missing": 9, "cells": 48},
        {"status": "judge_unparsable"},
        metric="context_recall",
    )

    assert sentence(missing, EN) == (
        "context recall: 9 of 48 scores are NA (judge's reply unreadable)."
    )
    assert sentence(missing, words("zh_hant")) == (
        "上下文召回率：48 個分數中有 9 個是 NA（評審的回覆無法解讀）。"
    )
    assert sentence(missing, words("ja")) == (
        "コンテキスト再現率：スコア48件中9件がNAです（判定者の返答を読み取れない）。"
    )


def test_a_warning_that_stands_for_others_counts_them() -> None:
    """One contrast is named, and the others that say the same are counted where there are any."""

    def told(others: int) -> str:
        names = {"left_value": "4", "right_value": "9"}
        finding = Finding(
            "judged_differently",
            {"others": others},
            names,
            factor="top_k",
            left="a",
            right="b",
            metric="faithfulness",
        )
        return sentence(finding, words("en"))

    assert told(0).endswith("evaluate both runs alike.")
    assert told(1).endswith("alike. The same holds in 1 more contrast.")
    assert told(2).endswith("alike. The same holds in 2 more contrasts.")


@pytest.mark.parametrize("language", ["en", "ja", "zh_hant"])
def test_a_deeper_rank_names_no_setting(language: str) -> None:
    """A system of one's own may have no top_k: the sentence counts passages."""
    found = Finding(
        "deeper_rank",
        {"k": 2, "k_returned": 3},
        {"source": "gold"},
        run="mine",
        questions=("q1",),
    )

    assert "top_k" not in sentence(found, words(language))
    assert sentence(found, EN).endswith("; the first 2 passages alone would have missed it.")


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (
            Finding(
                "missing_scores",
                {"missing": 1, "cells": 78},
                {"status": "no_claims"},
                metric="faithfulness",
            ),
            "faithfulness: 1 of 78 scores is NA (no claims in the answer).",
        ),
        (
            Finding("quantised", {"coarse": 1, "cells": 1, "units": 2}, metric="faithfulness"),
            "faithfulness: 1 of 1 score rests on at most 3 units (median 2), so only a few values "
            "are possible.",
        ),
        (
            Finding("partial_run", {"asked": 1, "questions": 8}, run="k4"),
            "k4: only 1 of 8 questions was asked, and only that one is compared.",
        ),
        (
            Finding(
                "k_not_reached",
                {"k_requested": 9, "k_returned": 7, "corpus_size": 7, "questions": 1},
                run="k9",
            ),
            "k9 requested 9 passages but got fewer, sometimes only 7, from an index of 7 "
            "(1 question).",
        ),
        (
            Finding("always_right", {"runs": 6}, questions=("q6",)),
            "q6 right in all of 6 runs: these questions do not tell the runs apart.",
        ),
    ],
)
def test_sentences_agree_with_their_numbers(finding: Finding, expected: str) -> None:
    """One is singular, in the noun and in the verb."""
    assert sentence(finding, EN) == expected


def test_metrics_in_the_plural_fit_the_verb() -> None:
    """'input tokens changed', not 'input tokens changes'."""
    found = Finding(
        "suggested",
        {"mean": 12.0, "low": 8.0, "high": 16.0, "questions": 8, "p": 0.01, "q": 0.02},
        {"left_value": "4", "right_value": "9"},
        factor="top_k",
        left="k4",
        right="k9",
        metric="input_tokens",
    )

    assert "input tokens changed by +12" in sentence(found, EN)
