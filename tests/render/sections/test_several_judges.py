"""What several judges say, in words and tables."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len

from harness.analysis import Analysis
from harness.analysis.findings import Finding
from harness.analysis.results import CheckAgreement, FindingByJudge, Judges, Reading
from harness.render import StudyFacts, markdown, terminal, words
from harness.render.blocks import Paragraph, Table
from harness.render.sections.several_judges import several_judges

Printed = Callable[..., str]

MATCHED = CheckAgreement(
    first="overlap",
    second="llama3.1",
    check="passage_useful",
    first_labelled=9,
    second_labelled=12,
    n=9,
    questions=3,
    agreed=7,
    shares={0: (5 / 9, 5 / 9), 1: (4 / 9, 4 / 9)},
    kappa=0.55,
    low=-0.406,
    high=1.0,
    undefined=None,
)
ENTAILED = replace(
    MATCHED,
    check="response_in_context",
    shares={-1: (0.0, 1 / 9), 0: (4 / 9, 3 / 9), 1: (5 / 9, 5 / 9)},
)
ALIKE = replace(
    MATCHED,
    check="reverse_question",
    agreed=9,
    shares={0: (1.0, 1.0)},
    kappa=None,
    low=None,
    high=None,
    undefined="one_label",
)
APART = replace(
    ALIKE,
    check="reference_in_response",
    n=0,
    questions=0,
    agreed=0,
    shares={},
    undefined="other_claims",
)
UNABLE = replace(APART, check="mine", undefined="not_supported_by_judge", lacking="overlap")

PROMPT = {
    "names": {"left_value": "default", "right_value": "strict"},
    "factor": "prompt",
    "left": "ctx_k9",
    "right": "ctx_k9_strict",
    "metric": "faithfulness",
}
BETTER = FindingByJudge(
    Finding("better", **PROMPT),  # type: ignore[arg-type]
    (
        Reading("overlap", True, "better", 0.25),
        Reading("llama3.1", False, "no_evidence", 0.031),
    ),
)
TRUSTED = FindingByJudge(
    Finding("metric_trusted", metric="precision"),
    (Reading("overlap", True, "trusted", 0.8), Reading("llama3.1", True, "trusted", 0.9)),
)
DEEPER = FindingByJudge(
    Finding("deeper_rank", {"k": 4}, run="ctx_k9"),
    (Reading("overlap", False, "", None), Reading("llama3.1", True, "", None)),
)
FOUND = Judges(
    names=("overlap", "llama3.1", "third"),
    agreements=(MATCHED, ENTAILED, ALIKE, APART, UNABLE),
    compared=("overlap", "llama3.1"),
    runs=("ctx_k9", "ctx_k9_strict"),
    questions=("q1", "q2", "q3"),
    metrics=("faithfulness", "precision"),
    of_runs=6,
    of_questions=8,
    uncommon=("answer_relevancy",),
    findings=(BETTER, TRUSTED, DEEPER),
    free=13,
)


def table(analysis: Analysis, found: Judges, at: int, brief: bool = False) -> list[list[str]]:
    """Return the section's tables as texts."""
    section = several_judges(replace(analysis, judges=found), words("en"), brief)
    assert section is not None
    tables = [block for block in section.blocks if isinstance(block, Table)]
    return [[cell.text for cell in row] for row in tables[at].rows]


def test_one_judge_has_no_section(article: Analysis) -> None:
    """Where but one has judged nothing is said of several."""
    assert several_judges(article, words("en"), brief=True) is None


def test_agreement_by_check(article: Analysis) -> None:
    """A row a check: what was matched, how much is alike, kappa with its base rates, or why not.

    That a label was not given follows from how often the others were.
    """
    assert table(article, FOUND, 0) == [
        ["usefulness of each passage", "9 of 9/12", "3", "78 %", "0.550", "[-0.406, 1.000]",
         "useful 44 %/44 %"],
        ["answer's claims in all passages together", "9 of 9/12", "3", "78 %", "0.550",
         "[-0.406, 1.000]", "entailed 56 %/56 %, contradicted 0 %/11 %"],
        ["whether the answer evades", "9 of 9/12", "3", "100 %", "NA", "NA",
         "no 100 %/100 %; both gave one label only"],
        ["reference's claims in the answer", "0 of 9/12", "0", "NA", "NA", "NA",
         "the two judges extracted different claims"],
        ["mine", "0 of 9/12", "0", "NA", "NA", "NA", "overlap: not supported by this judge"],
    ]  # fmt: skip


def test_findings_by_judge(article: Analysis) -> None:
    """Each finding has what each judge's scores say, and the judges under which it holds."""
    change = "prompt default -> strict (ctx_k9 against ctx_k9_strict)"

    assert table(article, FOUND, 1) == [
        [f"faithfulness: {change}", "better +0.250", "no evidence +0.031", "overlap only"],
        ["precision: whether right answers score above wrong ones to the same question",
         "trusted, 0.800", "trusted, 0.900", "every judge"],
        ["ctx_k9: first useful passage below rank 4", "no", "yes", "llama3.1 only"],
    ]  # fmt: skip


def test_what_is_compared_is_said(article: Analysis, facts: StudyFacts) -> None:
    """The common part, who and what is left out, and what is not counted."""
    text = markdown(replace(article, judges=FOUND), facts)

    for said in (
        "This report uses the scores of overlap. The same answers were also judged by llama3.1, "
        "third.",
        "Compared over what each judge has scored: 2 of 6 runs, 3 of 8 questions, 2 metrics that "
        "rest on a judge.",
        "Compared by their labels only, because they scored fewer than two of the runs: third.",
        "Left out because not every judge has scored them in full: text_k4, text_k9, caption_k4, "
        "ctx_k4, answer relevancy.",
        "1 of 3 findings that rest on a judge hold under every judge (overlap, llama3.1), 2 under "
        "some only.",
        "13 findings do not rest on a judge (right and wrong, named evidence, passages, costs): "
        "the same under every judge, and not counted here.",
    ):
        assert said in text


def test_nothing_to_compare_is_said(article: Analysis, facts: StudyFacts) -> None:
    """No common runs, and no finding at all, are two things."""
    none = replace(FOUND, findings=())
    apart = replace(none, compared=())

    assert "No finding rests on a judge" in markdown(replace(article, judges=none), facts)
    text = markdown(replace(article, judges=apart), facts)
    assert "The findings cannot be compared" in text
    assert "No finding rests on a judge" not in text


def test_in_brief_the_rest_is_counted(article: Analysis) -> None:
    """The terminal shows ten findings; report.md all of them."""
    many = replace(FOUND, findings=(BETTER,) * 12)

    assert len(table(article, many, 1, brief=True)) == 10
    assert len(table(article, many, 1)) == 12


def test_in_brief_the_chosen_judge_is_in_every_pair(article: Analysis) -> None:
    """How far the others agree among themselves is in report.md, and is counted here."""
    other = replace(MATCHED, first="llama3.1", second="third")
    analysis = replace(article, judges=replace(FOUND, agreements=(MATCHED, other)))

    brief, full = (several_judges(analysis, words("en"), brief=brief) for brief in (True, False))

    assert brief is not None
    assert full is not None
    assert [sum(isinstance(b, Table) for b in one.blocks) for one in (brief, full)] == [2, 3]
    assert Paragraph("1 more in report.md.") in brief.blocks


@pytest.mark.parametrize("language", ["en", "ja", "zh_hant"])
def test_terminal_keeps_its_width(
    article: Analysis, facts: StudyFacts, printed: Printed, language: str
) -> None:
    """In every language the section fits 100 columns, between trust and contrasts."""
    text = printed(terminal(replace(article, judges=FOUND), facts, language), 100)
    titles = [words(language).get("headings", key) for key in ("trust", "judges", "contrasts")]

    lines = text.split("\n")
    assert max(map(cell_len, lines)) <= 100
    places = [lines.index(title) for title in titles]
    assert places == sorted(places)
    assert "None" not in text[text.index(titles[1]) : text.index(titles[2])]
