"""What holds for the sections of every report, however they are printed."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Group

from harness.analysis import Analysis, MetricFacts, RunFacts
from harness.analysis.findings import Finding
from harness.analysis.results import (
    Counterfactual,
    Prospect,
    RetrievalFacts,
    Split,
    Suspect,
    Transition,
)
from harness.records import Layer
from harness.render import LANGUAGES, StudyFacts, report_sections, words
from harness.render.blocks import Heading, Items, Paragraph, Table
from harness.render.sections.metric_trust import suspects
from harness.render.terminal import section as lines_of

Study = Callable[..., Analysis]
Runs = Callable[..., list[RunFacts]]
Printed = Callable[..., str]


def filled(article: Analysis) -> Analysis:
    """Return an analysis in which every section has something to show."""
    transition = Transition(True, True, True, False, ("q1", "q2"))
    contrasts = (*article.contrasts[:-1], replace(article.contrasts[-1], transitions=(transition,)))
    return replace(
        article,
        contrasts=contrasts,
        repeats=(("ctx_k4", "ctx_k9-top_k-4"),),
        findings=(
            *article.findings,
            *(
                Finding(
                    "not_comparable",
                    names={"reason": reason},
                    groups={"runs": ("ctx_k4",), "others": (other,)},
                )
                for other, reason in (("old", "corpus"), ("other", "testset"))
            ),
        ),
        retrieval=(RetrievalFacts("ctx_k9", ("q1", "q2"), (8, None), (0.0, 0.5), "gold"),),
        suspects=(
            Suspect("ctx_k9", "q1", 0, "response_in_context", 0, -1, "verbatim_not_entailed", "x"),
        )
        * 60,
    )


@pytest.mark.parametrize("brief", [True, False])
def test_sections_are_the_same_in_every_language(article: Analysis, brief: bool) -> None:
    """A language changes words, never what is shown: keys, tables and numbers of rows agree."""

    def shape(language: str) -> list[object]:
        sections = report_sections(filled(article), StudyFacts("measles"), words(language), brief)
        return [
            (
                section.key,
                [
                    (type(block).__name__, len(block.rows) if isinstance(block, Table) else 0)
                    for block in section.blocks
                ],
            )
            for section in sections
        ]

    assert all(shape(language) == shape("en") for language in LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("brief", [True, False])
def test_no_key_stands_for_a_word(article: Analysis, language: str, brief: bool) -> None:
    """Every heading and column is a word of the language, not the key that it is found under."""
    voice = words(language)
    known = {str(text) for table in voice.texts.values() for text in table.values()}
    ours = {*article.questions, *(run.name for run in article.runs), "top_k"}
    for section in report_sections(filled(article), StudyFacts("measles"), voice, brief)[1:]:
        assert section.title in known
        for block in section.blocks:
            if isinstance(block, Table):
                for column in block.columns:
                    assert column.title.lstrip("~") in known | ours


def test_full_report_holds_what_is_rare(article: Analysis) -> None:
    """The full report has ranks, transitions, doubtful verdicts, repeats, incomparable runs."""
    sections = report_sections(filled(article), StudyFacts("measles"), words("en", 40))
    texts = [
        block.text
        for section in sections
        for block in section.blocks
        if isinstance(block, Paragraph | Heading)
    ]
    cells = [
        cell.text
        for section in sections
        for block in section.blocks
        if isinstance(block, Table)
        for row in block.rows
        for cell in row
    ]

    assert "q1 8, q2 none" in cells
    assert "k = 1: 0.000, k = 2: 0.500" in cells
    assert "verbatim in a passage, yet labelled not entailed" in cells
    assert "10 more." in texts
    assert (
        "Evidence retrieved and answer right, left -> right: evidence and right -> evidence and "
        "wrong: q1, q2." in texts
    )
    assert (
        "ctx_k4 and ctx_k9-top_k-4 have the same configuration: they are repeats, not a contrast."
        in texts
    )
    assert "Not compared, because the corpora differ: ctx_k4 with old." in texts
    assert "Not compared, because the test sets differ: ctx_k4 with other." in texts


def test_sections_without_content_are_left_out(article: Analysis) -> None:
    """A section that would be empty is left out."""
    bare = replace(article, trust=(), curves=(), retrieval=(), suspects=(), interactions=())
    bare = replace(bare, counterfactuals=())
    keys = [section.key for section in report_sections(bare, StudyFacts("measles"), words("en"))]

    assert keys == [
        *("study", "findings", "right_wrong", "means", "contrasts", "pairs", "reading"),
    ]


def test_brief_findings_are_varied(article: Analysis) -> None:
    """Ten warnings of one kind do not push out the one of another."""
    findings = [f for f in article.findings if f.kind == "nothing_beyond_chance"]
    others = [
        replace(f, run=f"run{n}", numbers={**f.numbers, "k_requested": 10 + n})
        for f in article.findings
        if f.kind == "k_not_reached"
        for n in range(30)
    ]
    found = report_sections(
        replace(article, findings=(*others, *findings)), StudyFacts("x"), words("en"), brief=True
    )[-1]
    (items,) = [block for block in found.blocks if isinstance(block, Items)]

    assert len(items.texts) == 12
    assert items.texts[-1].startswith("No contrast is beyond chance")
    assert isinstance(found.blocks[-1], Paragraph)
    assert found.blocks[-1].text == "19 more in report.md."


def test_rows_fit_their_columns() -> None:
    """A table whose row has another length than its head cannot be made."""
    with pytest.raises(AssertionError):
        Table((), ((words("en"),),))  # type: ignore[arg-type]


def texts(article: Analysis, key: str, brief: bool = False) -> str:
    """Return all that one section says, cell by cell."""
    section = next(
        part
        for part in report_sections(article, StudyFacts("x"), words("en"), brief)
        if part.key == key
    )
    told = []
    for block in section.blocks:
        if isinstance(block, Table):
            told += [" | ".join(cell.text for cell in row) for row in block.rows]
        elif isinstance(block, Items):
            told += block.texts
        else:
            told.append(block.text)
    return "\n".join(told)


def test_nothing_found(article: Analysis) -> None:
    """A report without findings says so."""
    assert texts(replace(article, findings=()), "findings") == "Nothing to report."


def test_thousands_of_findings(article: Analysis) -> None:
    """The full report stops at two hundred sentences and names the file that has the others."""
    (finding,) = [f for f in article.findings if f.kind == "nothing_beyond_chance"]
    many = tuple(replace(finding, numbers={**finding.numbers, "tests": n}) for n in range(203))

    assert texts(replace(article, findings=many), "findings").endswith(
        "\n3 more rows in findings.csv."
    )


def test_several_reasons_are_counted(article: Analysis) -> None:
    """Where scores are NA for more than one reason, each has its number, the commonest first."""
    metric = article.means[2]
    cell = replace(metric.cells[0], scored=5, statuses={"no_claims": 1, "judge_failed": 2})
    means = (replace(metric, bounded=False, cells=(cell, *metric.cells[1:])),)
    shown = texts(replace(article, means=means), "means")

    assert "judge did not answer: 2, no claims in the answer: 1" in shown


def test_bounds_of_an_unbounded_metric_are_na(article: Analysis) -> None:
    """A metric without a worst value has no bounds."""
    metric = article.means[2]
    cell = replace(metric.cells[0], scored=7, worst=None, best=None, statuses={})
    means = (replace(metric, bounded=False, cells=(cell, *metric.cells[1:])),)
    shown = texts(replace(article, means=means), "means")

    assert "faithfulness | text_k4 | 7 of 8 | not asked | 0.396 | NA | " in shown


def test_means_corrected_by_grades(article: Analysis) -> None:
    """Where grades correct a judge's mean, both are shown side by side."""
    metric = article.means[2]
    cell = replace(metric.cells[0], corrected=0.5, corrected_low=0.05, corrected_high=0.95)
    means = (replace(metric, cells=(cell, *metric.cells[1:])),)
    shown = texts(replace(article, means=means), "means")

    assert "faithfulness | text_k4 | 0.396 | 0.500 | [0.050, 0.950]" in shown


def test_differences_corrected_by_grades(article: Analysis) -> None:
    """Each change of a factor has its difference, what is equal, and what more grades could do."""
    rows = (
        replace(
            article.corrected[0], mean=-0.25, low=-0.5, high=0.125, changed=5, graded=3, metric=None
        ),
        replace(article.corrected[1], mean=None, low=None, high=None, changed=2, metric=None),
        replace(article.corrected[2], prospect=Prospect.GRADES, needed=1),
    )
    rows = (rows[0], replace(rows[1], prospect=Prospect.EQUAL, graded=0), rows[2])
    shown = texts(replace(article, corrected=rows), "means")

    assert "top_k 4 -> 9 | -0.250 | [-0.500, +0.125] | 5 of 8 | 3 | NA | " in shown
    assert "| NA | NA | 2 of 8 | 0 | NA | nothing can be learnt: equal on 6 of 8 question" in shown
    assert "1 more grade would decide it" in shown
    ungraded = tuple(replace(row, graded=0) for row in rows)
    assert "would decide it" not in texts(replace(article, corrected=ungraded), "means")


def test_more_missing_variants_than_fit(article: Analysis) -> None:
    """In brief five missing variants are offered; one that cannot be written has no command."""
    pair = article.confounded[0]
    open_ = replace(pair, missing=((),))
    found = replace(article, confounded=(open_,) * 7)

    shown = texts(found, "pairs", brief=True)
    assert shown.startswith(
        "7 pairs differ in more than one factor and are not contrasts; existing runs separate 0"
    )
    assert shown.count("no variant of one line would separate them.") == 5
    assert shown.endswith("\n2 more in report.md.")
    assert texts(found, "pairs").count("no variant of one line") == 7


def test_every_pair_is_a_contrast(article: Analysis) -> None:
    """Without confounded pairs that is what is said."""
    found = replace(article, confounded=())

    assert texts(found, "pairs") == "Every comparable pair of runs differs in one factor only."


def test_interactions_are_told_in_full(article: Analysis) -> None:
    """The captions' gain depends on top_k by +0.125, with its interval and question count."""
    row = texts(article, "interactions").splitlines()[0].split(" | ")

    assert row[:5] == [
        *("top_k 4 -> 9", "index.contents text -> ctx", "share right", "+0.125", "8"),
    ]


def test_retrieval_and_generation_are_split(article: Analysis) -> None:
    """The two parts of a difference are beside it; a pair not yet split has its commands."""
    split = Split("faithfulness", total=0.25, retrieval=0.3, generation=-0.05, questions=8)
    missing = ("variant=ctx_k9_strict", "passages_from=ctx_k4")
    pairs = (
        Counterfactual("a", "b", ("c", "d"), (), (split,)),
        *(Counterfactual("ctx_k4", "ctx_k9_strict", (None, None), (missing,), ()),) * 11,
    )
    shown = texts(replace(article, counterfactuals=pairs), "counterfactuals").splitlines()

    assert shown[0] == "a | b | faithfulness | +0.250 | +0.300 | -0.050 | 8"
    assert shown[2] == ("python -m harness.collect variant=ctx_k9_strict passages_from=ctx_k4")
    assert shown[-1] == "1 more."


def test_the_split_is_told_in_brief(article: Analysis) -> None:
    """In the terminal a pair has its first metric, and three pairs have their commands."""
    splits = tuple(Split(metric, 0.25, 0.3, -0.05, 8) for metric in ("right", "faithfulness"))
    missing = ("variant=ctx_k9_strict", "passages_from=ctx_k4")
    pairs = (
        Counterfactual("a", "b", ("c", "d"), (), splits),
        *(Counterfactual("ctx_k4", "ctx_k9_strict", (None, None), (missing,), ()),) * 4,
    )
    shown = texts(
        replace(article, counterfactuals=pairs), "counterfactuals", brief=True
    ).splitlines()

    assert shown[0] == "a | b | share right | +0.250 | +0.300 | -0.050 | 8"
    assert sum(line.startswith("python -m harness.collect") for line in shown) == 3
    assert shown[-1] == "1 more in report.md."
    assert len(shown) == 1 + 3 * 2 + 1


def test_times_have_no_statistics_in_full(study: Study, runs: Runs) -> None:
    """Their row says that it is not tested wherever a test would have given a number."""
    seconds = MetricFacts("seconds", Layer.COST, higher_is_better=False, bounded=False)
    found = study(runs(1, 2), {seconds: {"k1": [1.0, 2.0], "k2": [2.0, 3.0]}})

    [row] = [line for line in texts(found, "contrasts").splitlines() if line.startswith("seconds")]

    assert row.split(" | ") == [
        *("seconds", "+1", "0/0/2", "2", "0/0/0", "NA", "NA", "NA", "NA", "not tested"),
        *("NA (not tested)", "NA (not tested)", "-q1 -q2"),
    ]


def test_suspects_say_why_they_are_looked_at(article: Analysis, printed: Printed) -> None:
    """The reason has a heading of its own, and none of it is cut."""
    shown = suspects(filled(article), words("en"))
    assert shown is not None
    lines = printed(Group(*lines_of(shown, 80)), width=80).splitlines()

    assert lines[2].split() == ["run", "question", "check", "claim", "why", "check", "it"]
    assert "..." not in "".join(lines)
    told = " ".join(" ".join(line.split()) for line in lines[4:8])
    assert "verbatim in a passage, yet labelled not entailed" in told


def test_a_share_worked_out_from_scores_is_explained(article: Analysis) -> None:
    """Below the table of shares right that scores and grades imply stands how they are made."""
    first = article.means[0]
    cell = replace(first.cells[0], corrected=0.7, corrected_low=0.5, corrected_high=0.9)
    found = replace(article, means=(replace(first, cells=(cell, *first.cells[1:])), *article.means))
    sections = report_sections(found, StudyFacts("measles"), words("en"))
    [means] = [section for section in sections if section.key == "means"]
    titles = [block.text if isinstance(block, Heading) else "" for block in means.blocks]
    at = titles.index("Share right implied by scores and grades")

    said = means.blocks[at + 2]
    assert isinstance(said, Paragraph)
    assert said.text.startswith("Share of right answers over all questions of a run, estimated")
