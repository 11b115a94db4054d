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
from harness.render.sections.right_wrong import right_wrong
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
        *("study", "basis", "findings", "right_wrong", "means", "contrasts", "pairs", "reading"),
        "next",
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
    sections = report_sections(
        replace(article, findings=(*others, *findings)), StudyFacts("x"), words("en"), brief=True
    )
    (found,) = [section for section in sections if section.key == "findings"]
    (items,) = [block for block in found.blocks if isinstance(block, Items)]

    assert len(items.texts) == 12
    assert items.texts[-1].startswith("No change of a factor is better")
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


@pytest.mark.parametrize("brief", [True, False])
@pytest.mark.parametrize(
    ("language", "learnt", "changed"),
    [
        ("en", "What was learnt", "What changed, not beyond chance"),
        ("ja", "得られた結果", "変化したが、偶然の範囲を超えないもの"),
        ("zh_hant", "得知的結果", "有改變，但未超出偶然"),
    ],
)
def test_what_merely_changed_is_not_among_what_was_learnt(
    article: Analysis, brief: bool, language: str, learnt: str, changed: str
) -> None:
    """Results come first, then what chance changes as well, with that chance beside it."""
    section = next(
        part
        for part in report_sections(article, StudyFacts("x"), words(language), brief)
        if part.key == "findings"
    )
    titles = [block.text for block in section.blocks if isinstance(block, Heading)]
    lists = [block.texts for block in section.blocks if isinstance(block, Items)]

    assert titles[: 1 if brief else 2] == ([changed] if brief else [learnt, changed])
    naming = [
        at for at, texts in enumerate(lists) for text in texts if "q1" in text and "q5" in text
    ]
    assert titles.index(changed) in naming
    assert 0 not in naming or brief
    assert any("0.267" in text and "0.088" in text for text in lists[titles.index(changed)])


def test_questions_that_are_right_in_some_repeats_are_named(article: Analysis) -> None:
    """They are neither informative nor answered alike by every run."""
    grid = replace(article.outcomes, informative=(), partly_right=("q1", "q2"))

    shown = texts(replace(article, outcomes=grid), "right_wrong")

    assert "every repeat: q1, q2." in shown
    assert "No question is informative" not in shown


def test_nothing_found(article: Analysis) -> None:
    """A report without findings says so."""
    assert texts(replace(article, findings=()), "findings") == "Nothing to report."


def test_thousands_of_findings(article: Analysis) -> None:
    """The full report stops at two hundred sentences and names the file that has the others."""
    (finding,) = [f for f in article.findings if f.kind == "nothing_beyond_chance"]
    many = tuple(replace(finding, numbers={**finding.numbers, "primary": n}) for n in range(203))

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


def test_pairs_that_no_chain_separates_are_listed_in_full(article: Analysis) -> None:
    """In brief they are counted; in full each has its row, without a command."""
    pair = article.confounded[0]
    found = replace(article, confounded=(replace(pair, missing=((),)),) * 7)

    shown = texts(found, "pairs", brief=True)
    assert shown == (
        "7 pairs differ in more than one factor and are not contrasts; chains of existing runs "
        "separate 0 of them."
    )
    assert texts(found, "pairs").count(" | no chain of runs yet") == 7


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


def test_a_hundred_splits_are_listed(article: Analysis) -> None:
    """Of thousands of pairs the first hundred have their differences, the others are counted."""
    split = Split("faithfulness", total=0.25, retrieval=0.3, generation=-0.05, questions=8)
    pairs = (Counterfactual("a", "b", ("c", "d"), (), (split,)),) * 4_050
    shown = texts(replace(article, counterfactuals=pairs), "counterfactuals").splitlines()

    assert len(shown) == 101
    assert shown[-1] == "3950 more."


def test_a_large_grid_shows_informative_questions(article: Analysis) -> None:
    """A page with more cells than it can hold shows the first informative questions, and says so.

    Two runs of 6,000 questions are 12,000 cells; 10,000 of them are those of 5,000 questions.
    """
    names = tuple(f"q{at}" for at in range(6_000))
    rows = tuple(
        replace(
            article.outcomes.rows[0], run=run, cells=(value,) * 6_000, origins=("grade",) * 6_000
        )
        for run, value in (("a", 0.0), ("b", 1.0))
    )
    grid = replace(article.outcomes, questions=names, rows=rows, informative=names)

    section = right_wrong(replace(article, outcomes=grid), words("en"), False, {})

    table, _, folded, *_ = section.blocks
    assert isinstance(table, Table)
    assert isinstance(folded, Paragraph)
    assert len(table.rows) == 5_000
    assert folded.text.startswith("5000 of 6000 questions are shown, informative ones only")


def test_retrieval_and_generation_are_split(article: Analysis) -> None:
    """The two parts of a difference are beside it; in brief a pair has its first metric."""
    splits = tuple(Split(metric, 0.25, 0.3, -0.05, 8) for metric in ("right", "faithfulness"))
    pairs = (
        Counterfactual("a", "b", ("c", "d"), (), splits),
        Counterfactual("ctx_k4", "ctx_k9_strict", (None, None), (("variant=ctx_k4",),), ()),
    )
    found = replace(article, counterfactuals=pairs)

    first = "a | b | share right | +0.250 | +0.300 | -0.050 | 8"
    assert texts(found, "counterfactuals", brief=True) == first
    assert texts(found, "counterfactuals").splitlines() == [
        first,
        "a | b | faithfulness | +0.250 | +0.300 | -0.050 | 8",
    ]


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
