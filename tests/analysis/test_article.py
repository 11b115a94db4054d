"""The article replayed: what its author learned by measuring, the analysis says by itself."""

import json
from collections import Counter

import pytest

from harness.analysis import KINDS, Analysis, Finding, Options, analyse, as_json
from harness.analysis.results import ActsOn, Attribution, Conclusion, TestFamily
from harness.analysis.study_table import StudyTable

MEANS = {
    "text_k4": (0.382, 0.740, 0.396, 0.332),
    "text_k9": (0.415, 0.850, 0.405, 0.513),
    "caption_k4": (0.434, 0.743, 0.271, 0.404),
    "ctx_k4": (0.497, 0.743, 0.562, 0.401),
    "ctx_k9": (0.477, 0.845, 0.687, 0.525),
    "ctx_k9_strict": (0.477, 0.845, 0.420, 0.430),
}


@pytest.fixture(scope="module")
def analysis(article: StudyTable) -> Analysis:
    return analyse(article)


def of_kind(analysis: Analysis, kind: str, **about: str) -> list[Finding]:
    return [
        finding
        for finding in analysis.findings
        if finding.kind == kind and all(getattr(finding, k) == v for k, v in about.items())
    ]


def test_totals(analysis: Analysis) -> None:
    """The six variants answer 4, 5, 5, 5, 7 and 5 of 8 questions, by human grade."""
    assert [row.right for row in analysis.outcomes.rows] == [4, 5, 5, 5, 7, 5]
    assert {row.known for row in analysis.outcomes.rows} == {8}
    assert analysis.outcomes.origins == {"grade": 48}


def test_informative_questions(analysis: Analysis) -> None:
    """Only q1, q2, q5 and q7 ever change: 4 of 8 questions carry all the information."""
    assert analysis.outcomes.informative == ("q1", "q2", "q5", "q7")
    assert analysis.outcomes.always_right == ("q3", "q4", "q8")
    assert analysis.outcomes.always_wrong == ("q6",)
    [finding] = of_kind(analysis, "informative")
    assert finding.numbers == {"informative": 4, "questions": 8}


def test_published_means(analysis: Analysis) -> None:
    """Each published mean comes out to three digits, with 9 + 1 of 192 cells missing."""
    for run, expected in MEANS.items():
        cells = [next(c for c in row.cells if c.run == run) for row in analysis.means]
        assert [c.mean for c in cells] == pytest.approx(expected, abs=5.1e-4), run
    missing = {row.metric: sum(c.asked - c.scored for c in row.cells) for row in analysis.means}
    assert missing == {
        "context_precision": 0,
        "context_recall": 9,
        "faithfulness": 1,
        "answer_relevancy": 0,
    }


def test_seven_of_fifteen_pairs_are_fair(analysis: Analysis) -> None:
    """top_k twice, index.contents four times, prompt once; the other eight are confounded."""
    assert Counter(contrast.factor for contrast in analysis.contrasts) == {
        "top_k": 2,
        "index.contents": 4,
        "prompt": 1,
    }
    assert len(analysis.confounded) == 8
    assert not any(pair.missing for pair in analysis.confounded)


def test_strict_prompt_loses_by_generation_alone(analysis: Analysis) -> None:
    """The strict prompt loses q1 and q2 over equal passages; a coin would do so half the time."""
    [contrast] = [c for c in analysis.contrasts if c.factor == "prompt"]
    right = contrast.difference("right")
    assert right is not None
    assert (right.won, right.lost) == ((), ("q1", "q2"))
    assert right.mcnemar is not None
    assert (right.mcnemar.p, right.mcnemar.floor, right.mcnemar.discordant) == (0.5, 0.5, 2)
    assert right.verdict is Conclusion.NO_EVIDENCE

    assert contrast.attribution is Attribution.GENERATION
    assert contrast.passages.same == 8
    for metric in ("context_precision", "context_recall"):
        row = contrast.difference(metric)
        assert row is not None
        assert row.verdict is Conclusion.IDENTICAL_BY_CONSTRUCTION
        assert row.mean == 0.0
    [finding] = of_kind(analysis, "generation_by_construction")
    assert finding.groups == {"gained": (), "lost": ("q1", "q2")}
    assert not of_kind(analysis, "retrieval_scores_differ")


def test_no_factor_is_credited(analysis: Analysis) -> None:
    """top_k turned q1 and q5 right, and captions q2, in every contrast, as chance would do: six
    questions turned under all changes together, and by chance 7.3."""
    assert not of_kind(analysis, "credit")
    [top_k] = of_kind(analysis, "turned_in_every_contrast", factor="top_k")
    assert top_k.questions == ("q1", "q5")
    assert top_k.names == {"left_value": "4", "right_value": "9", "direction": "won"}
    assert top_k.numbers == pytest.approx(
        {"contrasts": 2, "expected": 4 / 15, "p": 0.022, "p_adjusted": 0.088}
    )
    [captions] = of_kind(analysis, "turned_in_every_contrast", factor="index.contents")
    assert (captions.names["right_value"], captions.questions) == ("ctx", ("q2",))
    assert sum(len(credit.questions) for credit in analysis.credits) == 6
    assert sum(credit.expected for credit in analysis.credits) == pytest.approx(7.3, abs=0.05)


def test_nothing_is_beyond_chance(analysis: Analysis) -> None:
    """At most three questions differ in a contrast, so no test can pass, and none does."""
    assert all(
        contrast.difference("right").mcnemar.discordant <= 3  # type: ignore[union-attr]
        for contrast in analysis.contrasts
    )
    [impossible] = of_kind(analysis, "nothing_can_be_significant")
    # three answers changed at most: 2 / 2**3
    assert impossible.numbers == {"primary": 5, "smallest_p": 0.25, "alpha": 0.05}
    [chance] = of_kind(analysis, "nothing_beyond_chance")
    assert chance.numbers == {"primary": 5, "smallest_adjusted": 0.875}


def test_a_change_is_the_mean_of_its_contrasts(analysis: Analysis) -> None:
    """top_k 4 -> 9 turned q1 and q5 right in both pairs, and q7 wrong in one of two."""
    top_k, *index, prompt = analysis.effects

    assert top_k.contrasts == (("text_k4", "text_k9"), ("ctx_k4", "ctx_k9"))
    right = top_k.difference("right")
    assert right is not None
    assert (right.mean, right.won, right.lost) == (1.5 / 8, ("q1", "q5"), ("q7",))
    assert (right.p, right.family) == (0.5, TestFamily.PRIMARY)
    changes = [(one.change.left, one.change.right) for one in index]
    assert changes == [("text", "caption"), ("text", "ctx"), ("caption", "ctx")]
    assert [one.acts_on for one in analysis.effects] == [ActsOn.RETRIEVAL] * 4 + [ActsOn.GENERATION]
    assert prompt.claims == ()


def test_captions_depend_on_top_k(analysis: Analysis) -> None:
    """ctx gains 2 of 8 over text at k = 9 and 1 of 8 at k = 4: +0.125 more."""
    [finding] = of_kind(analysis, "interaction")
    assert finding.numbers["mean"] == pytest.approx(0.125)
    assert finding.factor == "top_k"
    assert finding.names["second_factor"] == "index.contents"
    assert (finding.names["second_left_value"], finding.names["second_right_value"]) == (
        "text",
        "ctx",
    )


def test_missing_corners_are_named(analysis: Analysis) -> None:
    """Whether strict would also lose at k = 4 needs one more variant, ready to paste."""
    words = [f.groups["words"] for f in of_kind(analysis, "missing_corner")]

    assert ("variant=ctx_k4 prompt=strict",) in words
    assert ("variant=caption_k4 variant.top_k=9",) in words


def test_retrieval_is_saturated(analysis: Analysis) -> None:
    """At k = 9 everything is retrieved, and text_k9 asks for passages that do not exist."""
    saturated = of_kind(analysis, "saturated")
    assert {f.run for f in saturated} == {"text_k9", "ctx_k9", "ctx_k9_strict"}
    assert {f.numbers["share"] for f in saturated} == {1.0}
    [short] = of_kind(analysis, "k_not_reached")
    assert (short.run, short.numbers["k_requested"], short.numbers["k_returned"]) == (
        "text_k9",
        9,
        6,
    )


def test_a_smaller_k_would_have_missed_q1(analysis: Analysis) -> None:
    """The first useful passage of ctx_k9 has rank 8: k = 4 would miss it."""
    [finding] = of_kind(analysis, "deeper_rank")
    assert (finding.run, finding.questions) == ("ctx_k9", ("q1",))
    assert finding.numbers == {"k": 4, "k_returned": 9}
    assert [facts.first_useful for facts in analysis.retrieval] == [(8,)]


def test_one_cell_is_not_a_finding(analysis: Analysis) -> None:
    """q1 under ctx_k9 is right, yet faithfulness is 0.0 on two claims."""
    [finding] = of_kind(analysis, "one_cell")
    assert (finding.run, finding.metric, finding.questions) == ("ctx_k9", "faithfulness", ("q1",))
    assert finding.numbers == {"value": 0.0, "units": 2}


def test_what_may_be_believed(analysis: Analysis) -> None:
    """Context precision and context recall cannot tell right answers from wrong ones here."""
    untrusted = of_kind(analysis, "metric_not_trusted")
    assert [f.metric for f in untrusted] == ["context_precision", "context_recall"]
    trusted = of_kind(analysis, "metric_trusted")
    assert [f.metric for f in trusted] == ["faithfulness", "answer_relevancy"]
    gaps = [f.numbers["gap"] for f in (*untrusted, *trusted)]
    assert gaps == pytest.approx([-0.005, -0.036, 0.441, 0.408], abs=1.1e-3)


def test_findings_carry_what_their_kind_promises(analysis: Analysis) -> None:
    """Whoever words a finding may rely on `KINDS`."""
    for finding in analysis.findings:
        kind = KINDS[finding.kind]
        assert finding.severity is kind.severity
        assert tuple(finding.numbers) == kind.numbers, finding.kind
        assert tuple(finding.names) == kind.names, finding.kind
        assert tuple(finding.groups) == kind.groups, finding.kind
        for field in ("factor", "left", "right", "run", "metric"):
            assert (getattr(finding, field) is not None) == (field in kind.about), finding.kind


def test_findings_are_plain_json(analysis: Analysis) -> None:
    """findings.json holds no NaN, and the strongest severity comes first."""
    rows = as_json(analysis.findings)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    order = [finding.severity for finding in analysis.findings]
    assert order == sorted(order, key=["error", "warning", "finding", "change", "note"].index)


def test_view_narrows_but_the_family_stays(analysis: Analysis, article: StudyTable) -> None:
    """A baseline and a factor choose what is shown; each adjusted p stays the whole study's."""
    seen = analyse(article, Options(baseline="text_k9", factor="top_k"))

    assert [(c.left, c.right) for c in seen.contrasts] == [("text_k9", "text_k4")]
    assert seen.family == analysis.family
    turned = seen.contrasts[0].difference("right")
    assert turned is not None
    assert (turned.won, turned.lost) == (("q7",), ("q1", "q5"))
    assert all("text_k9" in (f.left, f.right) for f in seen.findings if f.left)
    assert {f.factor for f in seen.findings} == {None, "top_k"}
    assert all("text_k9" in (pair.left, pair.right) for pair in seen.confounded)


def test_a_view_shows_no_finding_of_what_is_filtered_out(article: StudyTable) -> None:
    """Of text_k4 -> text_k9 alone: no change of another factor, no rank, warning or interaction of
    another run."""
    seen = analyse(article, Options(baseline="text_k4", factor="top_k"))

    assert [(c.left, c.right) for c in seen.contrasts] == [("text_k4", "text_k9")]
    assert {f.run for f in seen.findings} <= {None, "text_k4", "text_k9"}
    [turned] = [f for f in seen.findings if f.kind == "turned_in_every_contrast"]
    assert (turned.questions, turned.numbers["contrasts"]) == (("q1", "q5"), 2)
    assert {credit.change.factor for credit in seen.credits} == {"top_k"}
    assert all("text_k4" in one.corners for one in seen.interactions)
    whole = analyse(article)
    assert {f.run for f in whole.findings} > {f.run for f in seen.findings}
