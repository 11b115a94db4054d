"""The brief report: complete, aligned and readable without colours."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
from rich.cells import cell_len

from harness.analysis import Analysis, MetricFacts, RunFacts
from harness.analysis.results import Conclusion, TestFamily
from harness.judge import JudgeAccuracy
from harness.records import Layer
from harness.render import LANGUAGES, StudyFacts, terminal

Study = Callable[..., Analysis]
Runs = Callable[..., list[RunFacts]]
Printed = Callable[..., str]

each_language = pytest.mark.parametrize("language", LANGUAGES)
FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
RELEVANCY = MetricFacts("answer_relevancy", Layer.GENERATION)
PRECISION = MetricFacts("context_precision", Layer.RETRIEVAL)
SECONDS = MetricFacts("retrieval_seconds", Layer.COST, higher_is_better=False, bounded=False)
TOKENS = MetricFacts("input_tokens", Layer.COST, higher_is_better=False, bounded=False)


def block(text: str, start: str) -> list[str]:
    """Return the lines from the one that starts so to the next empty one."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(start))
    return lines[first : lines.index("", first)]


def one_line(text: str) -> str:
    return " ".join(text.split())


@each_language
def test_lines_fit(article: Analysis, facts: StudyFacts, printed: Printed, language: str) -> None:
    """No line is wider than the console in any script, and rich has cut none."""
    for width in (80, 100):
        shown = printed(terminal(article, facts, language, width), width=1000)

        assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= width
        assert "…" not in shown


@each_language
def test_marks_stand_under_their_question(
    article: Analysis, facts: StudyFacts, printed: Printed, language: str
) -> None:
    """Every mark begins in the column in which its question's name begins."""
    lines = printed(terminal(article, facts, language)).splitlines()
    head = next(i for i, line in enumerate(lines) if " q1  q2" in line)
    at = cell_len(lines[head][: lines[head].index("q1")])

    for line in lines[head + 2 : head + 8]:
        first = min(line.index(mark) for mark in "✓✗" if mark in line)
        assert cell_len(line[:first]) == at


@each_language
def test_nothing_is_none(
    article: Analysis, facts: StudyFacts, printed: Printed, language: str
) -> None:
    """What is undefined is NA."""
    shown = printed(terminal(article, facts, language))

    assert "None" not in shown
    assert "nan" not in shown


def test_many_questions_fold(study: Study, runs: Runs, facts: StudyFacts, printed: Printed) -> None:
    """Of more than twenty questions the informative ones stay, the others are counted."""
    grades = {"k1": [1] * 30, "k2": [1] * 15 + [0] * 3 + [1] * 12}
    shown = printed(terminal(study(runs(1, 2), grades=grades), facts))

    assert block(shown, "run ")[0].split() == ["run", "right", "q16", "q17", "q18"]
    assert (
        "3 of 30 questions are shown, informative ones only; right in every run 27, wrong in "
        "every run 0," in shown
    )


def test_wide_tables_are_split(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """Questions with long names take several tables, each of which names the runs."""
    ids = [f"a-rather-long-question-{n}" for n in range(8)]
    grades = {"k1": [1] * 8, "k2": [0] * 8}
    shown = printed(terminal(study(runs(1, 2), grades=grades, questions=ids), facts), width=1000)

    assert sum(line.startswith("k1 ") for line in block(shown, "run ")) == 3
    assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= 100


def test_metric_that_is_na_throughout_is_a_line(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """A metric that the judge cannot do has its reason in words and no column of NA."""
    none = {"k1": [None, None], "k2": [None, None]}
    some = {"k1": [0.5, 1.0], "k2": [0.5, 0.0]}
    found = study(
        runs(1, 2), {FAITHFULNESS: some, RELEVANCY: none}, status="not_supported_by_judge"
    )
    shown = printed(terminal(found, facts))

    assert "answer relevancy: NA in every run (not supported by this judge)." in shown
    assert block(shown, "run ")[0].split() == ["run", "faithfulness"]
    assert "difference of NA" not in shown


def test_missing_scores_are_told_with_the_common_questions(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """Means over different questions come with those over the questions all runs share."""
    scores = {"k1": [0.9, None, None, 0.9], "k2": [0.9, 0.5, 0.5, 0.9]}
    shown = one_line(printed(terminal(study(runs(1, 2), {FAITHFULNESS: scores}), facts)))

    assert "k1 0.900 (2/4)" in shown
    assert "k2 0.700 (4/4)" in shown
    assert (
        "faithfulness: 2 of 8 scores are NA (no claims in the answer). Over the 2 questions that "
        "every run has scored (q1, q4): k1 0.900, k2 0.900." in shown
    )
    assert "faithfulness: better" not in shown


def test_costs_are_one_line(study: Study, runs: Runs, facts: StudyFacts, printed: Printed) -> None:
    """What a change costs is a line under its contrast, on both sides."""
    tokens = {"k1": [100, 300], "k2": [400, 600]}
    shown = printed(terminal(study(runs(1, 2), {TOKENS: tokens}), facts))

    assert "costs: input tokens 200 -> 500" in shown


def test_k9_of_six_passages_is_saturated(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """With six passages k = 9 retrieves everything: its recall of 1.0 is marked as empty."""
    recall = {"k4": [0.5, 1.0], "k9": [1.0, 1.0]}
    found = study(
        runs(4, 9),
        {MetricFacts("context_recall", Layer.RETRIEVAL): recall},
        passages={"k4": (4, 6), "k9": (6, 6)},
    )
    shown = printed(terminal(found, facts))

    assert block(shown, "run ")[2].split() == ["k4", "4", "of", "6", "0.750", "(2/2)"]
    assert block(shown, "run ")[3].split() == ["k9", "*6", "of", "6", "*1.000", "(2/2)"]
    said = (
        "k9 requested 9 passages but got fewer, sometimes only 6, from an index of 6 (2 questions)."
    )
    assert said in one_line(shown).replace("- ", "")


def test_sweep_is_in_number_order(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """k = 2, 4, 9, 10, 16, never 10 before 2, and q2 before q10."""
    ks = (10, 16, 2, 4, 9)
    grades = {f"k{k}": [1] * 12 for k in ks}
    found = study(runs(*ks), grades=grades, questions=[f"q{n}" for n in range(12, 0, -1)])
    shown = printed(terminal(found, facts))
    curve = shown[shown.index("Sweeps") :].splitlines()

    assert [line.split()[0] for line in curve[5:10]] == ["2", "4", "9", "10", "16"]
    assert block(shown, "run ")[0].split()[2:] == [f"q{n}" for n in range(1, 13)]


def test_confounded_pair_has_its_command(study: Study, facts: StudyFacts, printed: Printed) -> None:
    """A pair that no run separates comes with the line that would, unbroken."""
    pair = [
        RunFacts("a", "a", {"prompt": "default"}, {"top_k": 4}),
        RunFacts("b", "b", {"prompt": "strict"}, {"top_k": 9}),
    ]
    named = replace(facts, overrides=("study=measles",))
    shown = printed(terminal(study(pair, grades={"a": [1, 0], "b": [1, 1]}), named))

    assert "1 further run gives each of these changes" in shown
    assert "\n  python -m harness.collect study=measles variant=a prompt=strict\n" in shown
    assert "No two runs differ in exactly one factor, so there is nothing to compare." in shown


def test_identical_answers_had_no_effect_to_show(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """Where every answer is the same the report says that no effect was possible."""
    found = study(runs(1, 2), grades={"k1": [1, 0], "k2": [1, 0]})
    contrast = replace(
        found.contrasts[0], attribution=type(found.contrasts[0].attribution)("no_effect_possible")
    )
    shown = printed(terminal(replace(found, contrasts=(contrast,)), facts))

    assert "no effect was possible: all answers are identical" in shown


def test_baselines_are_called_so(study: Study, runs: Runs, printed: Printed) -> None:
    """A judge and a generator without a language model are never taken for one."""
    noted = [replace(run, notes=("ignores_prompt",)) for run in runs(1, 2)]
    found = JudgeAccuracy("entailment", "RAGTruth", "en", 400, 0.71, 0.66, 0.75, 0.6, 0.7)
    agreement = asdict(found)
    facts = StudyFacts(
        "demo",
        judge="overlap",
        judge_is_model=False,
        agreement=(agreement,),
        generators={"k1": "extractive", "k2": "extractive"},
    )
    shown = one_line(printed(terminal(study(noted, grades={"k1": [1], "k2": [0]}), facts)))

    assert "Judge: overlap, which is not a language model: it compares characters" in shown
    assert "Agreement, entailment (en; RAGTruth): 71 % of 400 labels [66 %, 75 %]" in shown
    assert "Answers by: extractive." in shown
    assert "Every run: no language model answers here." in shown
    assert "ignores every prompt" in shown


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "does not enforce the format of replies: 3 of 9 do not follow it"),
        ("ja", "返答9件のうち3件が形式に従っていません"),
        ("zh_hant", "9 則回覆中有 3 則不符合"),
    ],
)
def test_how_replies_were_held_to_their_format(
    article: Analysis, facts: StudyFacts, printed: Printed, language: str, said: str
) -> None:
    """An endpoint that ignores the schema is named beside the judge, and so are weaker formats."""
    formats = {"json_schema": 4, "json_object": 3, "prose": 2, "ignored": 3}

    def shown(formats: dict[str, int]) -> str:
        known = replace(facts, reply_formats=formats)
        return printed(terminal(article, known, language, width=200), width=200)

    assert said in shown(formats)
    plain, mentioned = shown({"json_schema": 9}), shown(formats)
    assert mentioned.count("\n") == plain.count("\n") + 3
    assert plain == shown({})


def test_agreement_is_told_in_the_study_s_language(
    article: Analysis, facts: StudyFacts, printed: Printed
) -> None:
    """What was measured as zh is Traditional and Simplified; the rest of it is in report.md."""

    def told(language: str, *measured: str) -> list[str]:
        rows = tuple(
            asdict(JudgeAccuracy("useful", "L", one, 9, 0.7, 0.6, 0.8, 0.5, 0.7))
            for one in measured
        )
        known = replace(facts, agreement=rows, language=language)
        shown = printed(terminal(article, known, width=200), width=200).splitlines()
        first = next(at for at, line in enumerate(shown) if line.startswith("- Judge:")) + 1
        lines = [line.strip() for line in shown[first : shown.index("", first)]]
        explained = "- In these measurements, entailment is whether"
        assert sum(line.startswith(explained) for line in lines) == any(
            line.startswith("- Agreement,") for line in lines
        )
        return [line for line in lines if not line.startswith(explained)]

    line = (
        "- Agreement, useful (zh; L): 70 % of 9 labels [60 %, 80 %]; "
        "more common label 50 %; AUC 0.700."
    )
    more = "- {} of its agreement with people in report.md."
    assert told("zh_hant", "zh", "zh", "zh") == [line] * 3
    assert told("zh_hans", "en", "zh", "ja") == [line, more.format("2 more measurements")]
    assert told("zh_hant", "zh", "zh", "zh", "zh") == [
        line,
        line,
        more.format("2 more measurements"),
    ]
    assert told("zh_hant", "zh_hans", "zh_hant", "zh") == [
        line.replace("zh", "zh_hant"),
        line,
        more.format("1 more measurement"),
    ]
    assert told("zh_hant", "zh", "zh", "zh", "en")[-1] == more.format("2 more measurements")
    assert told("ja", "en") == [
        "- Its agreement with people has not been measured in this language; 1 measurement in "
        "others in report.md."
    ]
    assert told("", "zh", "zh", "en", "ja") == [
        line,
        line,
        more.format("2 more measurements"),
    ]
    assert told("ja") == ["- How well this judge agrees with people has not been measured."]


def test_times_are_told_without_a_claim(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """Twelve questions all slower: 0.31 and 1.2 milliseconds stay apart, and chance is not asked.

    The report's legend says why.
    """
    times = {"k1": [0.00031] * 12, "k2": [0.0012 + n / 1e6 for n in range(12)]}
    shown = one_line(printed(terminal(study(runs(1, 2), {SECONDS: times}), facts)))

    assert "costs: retrieval seconds 0.00031 -> 0.0012 " in shown
    assert "beyond chance, adj." not in shown
    assert "Seconds and passages returned are shown but not tested" in shown


def test_clustered_questions_say_so(article: Analysis, facts: StudyFacts, printed: Printed) -> None:
    """Where documents were drawn, intervals and p rest on them; the report says on how many."""
    said = "count together in intervals and p: 3 clusters of 8 questions."

    assert said in printed(terminal(replace(article, clusters=3), facts))
    assert said not in printed(terminal(article, facts))


def test_a_view_says_that_it_is_one(article: Analysis, facts: StudyFacts, printed: Printed) -> None:
    """A report narrowed to a factor says so, and that p is corrected for all contrasts."""
    narrowed = replace(article, factor="chat", contrasts=())
    shown = printed(terminal(narrowed, facts))

    assert "Only a part of the contrasts is shown (factor=chat)" in shown
    assert "No contrast matches this view (factor=chat)." in shown


def test_errors_of_the_system_are_named(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """A question that the system failed on is marked, counted as wrong and mentioned."""
    found = study(runs(1, 2), grades={"k1": [1] * 10, "k2": [1] * 6 + [0] * 4})
    row = found.outcomes.rows[1]
    failed = replace(row, origins=(*row.origins[:8], "error", "error"), errors=2)
    outcomes = replace(found.outcomes, rows=(found.outcomes.rows[0], failed))
    shown = printed(terminal(replace(found, outcomes=outcomes), facts))

    assert block(shown, "run ")[3].split() == ["k2", "6", "of", "10", *"✓✓✓✓✓✓✗✗!!"]
    assert "k2: the system failed on 2 of 10 questions." in shown


def test_names_are_no_markup_and_no_control_codes(
    study: Study, facts: StudyFacts, printed: Printed
) -> None:
    """Markup and escape codes in a name are shown, not acted on."""
    name = "[red]x[/red]\x1b[31m\u202eabc"
    found = study(
        [RunFacts(name, "x"), RunFacts("y", "y", leaves={"k": 1})],
        grades={
            name: [1, 0],
            "y": [0, 1],
        },
    )
    shown = printed(terminal(found, facts))

    assert "[red]x[/red]\ufffd[31m\ufffdabc" in shown
    assert "\x1b" not in shown


def test_findings_and_what_next_end_the_page(
    article: Analysis, facts: StudyFacts, printed: Printed
) -> None:
    """At most twelve findings, the others counted, then what to do next."""
    shown = printed(terminal(article, facts)).rstrip().splitlines()
    next_ = shown.index("What next")
    found = shown[shown.index("Findings") : next_]

    assert sum(line.startswith("- ") for line in found) <= 12
    assert found[-2].endswith(" more in report.md.")
    assert not [line for line in shown[next_ + 2 :] if line.startswith("===")]


def test_interval_keeps_the_sign_that_decides(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """An interval from -0.0004 is shown as -0.000, so that zero is seen to lie in it."""
    found = study(runs(1, 2), {FAITHFULNESS: {"k1": [0.0, 0.5], "k2": [0.5, 0.6]}})
    row = replace(found.contrasts[0].differences[0], low=-0.0004, high=0.31)
    contrast = replace(found.contrasts[0], differences=(row,))
    shown = printed(terminal(replace(found, contrasts=(contrast,)), facts))

    assert "[-0.000, +0.310]" in shown


def test_scores_of_two_judges_are_refused(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """A metric that other prompts scored on either side is not compared, and it is said why."""
    pair = [
        replace(run, scored_by={"faithfulness": hash_})
        for run, hash_ in zip(runs(1, 2), ("h1", "h2"), strict=True)
    ]
    scores = {"k1": [0.0, 0.5, 0.2], "k2": [0.5, 0.6, 0.3]}
    shown = one_line(printed(terminal(study(pair, {FAITHFULNESS: scores}), facts)))

    assert "not compared: faithfulness" in shown
    assert "was scored by another judge or another prompt on the two sides" in shown


def test_many_contrasts_are_a_row_each(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """After the tenth contrast right and wrong are enough, and it is said how to see more."""
    ks = (1, 2, 3, 4, 5, 6)
    grades = {f"k{k}": [int(k > n) for n in range(6)] for k in ks}
    shown = printed(terminal(study(runs(*ks), grades=grades), facts))
    rest = block(shown, "Further contrasts")

    assert rest[1] == "5 more; factor=... or baseline=... shows them in full."
    assert [line[:5] for line in rest[-5:]] == ["top_k"] * 5
    assert rest[-1].split() == [
        *("top_k", "5", "->", "6", "k5", "->", "k6", "+0.167", "1.0", "+q6"),
    ]


def test_many_metrics_share_their_lines(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """With many metrics those that no test sets apart are named, and gaps are counted in a line."""
    scores = {"k1": [0.5, None, 0.1], "k2": [0.6, 0.5, 0.2]}
    metrics = {MetricFacts(f"m{n}", Layer.OVERALL): scores for n in range(1, 10)}
    shown = one_line(printed(terminal(study(runs(1, 2), metrics), facts)))

    names = ", ".join(f"m{n}" for n in range(1, 10))
    assert f"no evidence of a difference: {names}" in shown
    assert "NA scores of 6 each: m1 1, m2 1," in shown
    assert "(no claims in the answer). Means over the questions that every run has" in shown


def test_no_common_question(study: Study, runs: Runs, facts: StudyFacts, printed: Printed) -> None:
    """Where no question is scored in every run, the means are said to rest on different ones."""
    scores = {"k1": [0.5, None], "k2": [None, 0.5]}
    shown = one_line(printed(terminal(study(runs(1, 2), {FAITHFULNESS: scores}), facts)))

    assert "No question is scored in every run, so these means rest on different" in shown


def test_run_without_any_score(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """A mean of nothing is NA with 0 of n, not 0."""
    scores = {"k1": [0.5, 0.7], "k2": [None, None]}
    shown = printed(terminal(study(runs(1, 2), {FAITHFULNESS: scores}), facts))

    assert block(shown, "run ")[3].split() == ["k2", "NA", "(0/2)"]


def test_no_grades_at_all(study: Study, runs: Runs, facts: StudyFacts, printed: Printed) -> None:
    """Without grades there is no grid of dots, but the way to get one."""
    scores = {"k1": [0.5, 0.7], "k2": [0.5, 0.6]}
    shown = printed(terminal(study(runs(1, 2), {FAITHFULNESS: scores}), facts))

    assert "not known for any answer; add `answers` to the test set, or human grades." in shown
    assert "⋅" not in shown


def test_some_grades(study: Study, runs: Runs, facts: StudyFacts, printed: Printed) -> None:
    """An answer without a grade is a dot, and the total is out of those known."""
    grades = {"k1": [1, None, 0], "k2": [0, None, 0]}
    shown = printed(terminal(study(runs(1, 2), grades=grades), facts))

    assert block(shown, "run ")[2].split() == ["k1", "1", "of", "2", *"✓⋅✗"]
    assert "not known for 2 of all 6 answers" in shown
    assert "Right or wrong is known in fewer than two runs: q2." in shown


def test_repeats_are_a_share(study: Study, runs: Runs, facts: StudyFacts, printed: Printed) -> None:
    """An answer that is right in half of its repeats is neither a tick nor a cross."""
    found = study(runs(1, 2), grades={"k1": [1, 0], "k2": [0, 0]})
    row = replace(found.outcomes.rows[0], cells=(0.5, 0.0), right=0.5)
    outcomes = replace(found.outcomes, rows=(row, found.outcomes.rows[1]), informative=())
    shown = printed(terminal(replace(found, outcomes=outcomes), facts))

    assert block(shown, "run ")[2].split() == ["k1", "0.50", "of", "2", "0.50", "✗"]
    assert "No question is informative: each is answered alike by every run" in shown


def test_several_generators(study: Study, runs: Runs, printed: Printed) -> None:
    """Generators are named run by run where they differ; a note without words is shown as it is."""
    facts = StudyFacts("x", generators={"k1": "llama", "k2": "qwen", "k3": "qwen"})
    first, *rest = runs(1, 2, 3)
    grades = {"k1": [1], "k2": [1], "k3": [1]}
    shown = printed(
        terminal(study([replace(first, notes=("by hand",)), *rest], grades=grades), facts)
    )

    assert "- Answers by: llama (k1), qwen (k2, k3)." in shown
    assert "- k1: by hand." in shown
    assert "- Judge: none; only metrics that need no judge are shown." in shown


def test_verdicts_stand_beside_their_metric(
    article: Analysis, facts: StudyFacts, printed: Printed
) -> None:
    """Better and worse are words; a declared test says so."""
    contrast = article.contrasts[-1]
    rows = tuple(
        replace(row, verdict=Conclusion.WORSE, family=TestFamily.PRIMARY)
        if row.metric == "faithfulness"
        else row
        for row in contrast.differences
    )
    family = replace(article.family, primary=1, declared=True)
    found = replace(article, contrasts=(replace(contrast, differences=rows),), family=family)
    shown = one_line(printed(terminal(found, facts)))

    assert "faithfulness: worse (primary) -0.267" in shown
    assert "The primary tests (1) were declared before collecting" in shown


def test_data_that_contradict_themselves_come_first(
    study: Study, runs: Runs, facts: StudyFacts, printed: Printed
) -> None:
    """Equal passages with unequal retrieval scores come first among the findings."""
    found = study(runs(1, 2), {PRECISION: {"k1": [0.5, 0.7], "k2": [0.5, 0.6]}})
    last = printed(terminal(found, facts)).split("Findings")[1].splitlines()

    assert last[2] == "Fix this first: the data are inconsistent"
    assert "context precision differs on q2;" in one_line(" ".join(last[3:6]))


def test_costs_are_described(facts: StudyFacts, printed: Printed, study: Study, runs: Runs) -> None:
    """A cost that changed on every one of many questions is said, and not tested."""
    tokens = {"k1": [100.0 + n for n in range(12)], "k2": [200.0 + n * n for n in range(12)]}
    shown = printed(terminal(study(runs(1, 2), {TOKENS: tokens}), facts))

    assert "costs: input tokens 106 -> 242\n" in shown


def test_long_names_are_cut(study: Study, facts: StudyFacts, printed: Printed) -> None:
    """A name of 300 characters does not push a table off the page."""
    name = "長" * 300
    found = study(
        [RunFacts(name, "x"), RunFacts("y", "y", leaves={"k": 1})],
        grades={
            name: [1, 0],
            "y": [0, 1],
        },
    )
    shown = printed(terminal(found, facts), width=1000)

    assert block(shown, "run ")[2].startswith("長" * 18 + "...")
    assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= 100
