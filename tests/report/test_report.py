"""Reporting, as a user does it: run folders on disk, one command, tables and findings."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.evaluate.merge import write_evaluation
from harness.questions import question_sha256
from harness.records import EvidencePlace, Response, Score, Status, Verdict
from tests.analysis.conftest import VARIANTS
from tests.article import JUDGE, QUESTIONS, Article
from tests.conftest import Command

PROMPT = {"factor": "prompt", "metric": "faithfulness"}


@pytest.fixture
def article(tmp_path: Path) -> Article:
    """The article's six runs with its 48 grades."""
    made = Article(tmp_path)
    for name in VARIANTS:
        made.write(name)
    made.grade()
    return made


def of_kind(article: Article, kind: str, **about: Any) -> list[dict[str, Any]]:
    return [
        finding
        for finding in article.findings
        if finding["kind"] == kind and all(finding[key] == about[key] for key in about)
    ]


def running(text: str) -> str:
    """Return the text without its line breaks, as a reader reads it."""
    return " ".join(text.split())


def rewrite(article: Article, name: str, **changed: Any) -> None:
    """Change what a run's `run.json` says."""
    run = article.run(name)
    run.finish(run.facts() | changed)


def test_the_report_is_printed_and_written(command: Command, article: Article) -> None:
    """The terminal shows it, and says where the tables, the page and the findings are."""
    done = command("report", *article.words)

    assert done.returncode == 0, done.stderr
    page = running(done.stdout)
    assert page.startswith("article ======= Which one change makes the answers")
    assert "6 runs, 8 questions, test set yearbook." in page
    folder = article.folder / "article/report"
    assert "article/report/report.md" in done.stdout
    assert {file.name for file in folder.iterdir()} >= {
        *("report.md", "index.html", "findings.json", "findings.csv", "means.csv"),
        *("contrasts.csv", "trust.csv", "right_wrong.csv", "curves.csv", "confounded.csv"),
        *("interactions.csv", "counterfactuals.csv", "suspects.csv"),
    }
    [turned] = of_kind(article, "turned_in_every_contrast", factor="top_k")
    assert (turned["questions"], turned["names"]["direction"]) == (["q1", "q5"], "won")
    assert turned["severity"] == "change"
    [strict] = of_kind(article, "generation_by_construction")
    assert strict["contrast"] == {"left": "ctx_k9", "right": "ctx_k9_strict"}
    assert strict["groups"] == {"gained": [], "lost": ["q1", "q2"]}


def test_who_graded_is_named(command: Command, article: Article) -> None:
    """Without grades.jsonl beside the test set, answers are neither right nor wrong."""
    assert "48 of 48 answers by people" in command("report", *article.words).stdout

    (article.folder / "grades.jsonl").unlink()

    assert "Right and wrong: not known for any answer" in command("report", *article.words).stdout


def test_a_format_that_the_judges_endpoint_ignores_is_named(
    command: Command, article: Article
) -> None:
    """An evaluation of all runs counts once, one of another judge not at all."""
    record = {"judge": "llama3.1", "ended": "2026-11-30T10:00:00+00:00", "calls": {}, "repairs": {}}
    formats = {"reply_formats": {"json_schema": 9, "ignored": 3}}
    for name in VARIANTS:
        for one in (record, record | formats, record | formats | {"judge": "other"}):
            article.run(name).log_evaluation(one)

    shown = " ".join(command("report", *article.words).stdout.split())

    assert "does not enforce the format of replies: 3 of 9 do not follow it." in shown


def test_grades_of_an_edited_question_are_left_out(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """q1's six grades were given by another reference: 42 of 48 answers stay graded."""
    file = article.folder / "grades.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for row in rows:
        if row["question_id"] == "q1":
            row["question_sha256"] = question_sha256(replace(QUESTIONS[0], reference="another"))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    done = command("report", *article.words)

    assert "42 of 42 answers by people" in done.stdout
    assert "6 grades no longer count: the question or its reference was edited since (q1)" in (
        caplog.text
    )


def test_a_partial_run_is_compared_on_what_it_was_asked(command: Command, article: Article) -> None:
    """Three questions of eight: said so, and no contrast rests on the other five."""
    article.write("ctx_k9_strict", QUESTIONS[:3])

    done = command("report", *article.words)

    assert done.returncode == 0, done.stderr
    [partial] = of_kind(article, "partial_run")
    assert (partial["run"], partial["numbers"]) == ("ctx_k9_strict", {"asked": 3, "questions": 8})
    contrasts = pd.read_csv(article.folder / "article/report/contrasts.csv")
    prompt = contrasts.query("factor == 'prompt' and metric == 'right'").iloc[0]
    assert (prompt["questions"], prompt["same"], prompt["losses"]) == (3, 3, 2)


def test_questions_and_limit_narrow_what_is_read(command: Command, article: Article) -> None:
    """As in every other stage."""
    done = command("report", *article.words, "limit=2")
    assert "6 runs, 2 questions" in done.stdout

    done = command("report", *article.words, "questions=[q1,q5]")
    [informative] = of_kind(article, "informative")
    assert informative["questions"] == ["q1", "q5"]


def test_a_run_without_scores_is_one_line(command: Command, article: Article) -> None:
    """The error names the run and the command that scores it."""
    for table in ("scores", "verdicts"):
        (article.run("ctx_k4").path / f"{table}.parquet").unlink()

    done = command("report", *article.words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "ctx_k4 has no scores of the judge 'llama3.1'" in done.stderr
    assert "study.name=article" in done.stderr
    assert done.stderr.endswith("'runs=[ctx_k4]'\n")


def test_another_judge_is_named(command: Command, article: Article) -> None:
    """Where others have scored the run, the reader learns who."""
    words = [word for word in article.words if not word.startswith("judge")]

    done = command("report", *words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "no scores of the judge 'overlap'" in done.stderr
    assert done.stderr.endswith("this run has llama3.1\n")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("baseline=text_k5", "unknown baseline 'text_k5' (did you mean 'text_k9'?)"),
        ("factor=topk", "unknown factor 'topk' (did you mean 'top_k'?); known: index.contents"),
        ("factor=chat", "unknown factor 'chat'"),
        ("runs=[ctx_k99]", "unknown run 'ctx_k99' (did you mean 'ctx_k9'?)"),
        ("language=jp", "unknown language 'jp'; known: en, ja, zh_hans, zh_hant"),
        ("cluster=documents", "unknown cluster 'documents' (did you mean 'document'?)"),
        ("cluster=document", "no question says which document its answer is in"),
        ("questions=[q9]", "unknown question 'q9'"),
        ("study.name=nothing", "has no finished run"),
    ],
)
def test_what_is_not_there_is_one_line(
    word: str, message: str, command: Command, article: Article
) -> None:
    """What was wrong, what was meant, what there is; exit code 1 and no traceback."""
    done = command("report", *article.words, word)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert message in done.stderr


def test_a_view_narrows_what_is_shown(command: Command, article: Article) -> None:
    """A baseline and a factor leave their contrasts; p is corrected for all all the same."""
    done = command("report", *article.words, "baseline=text_k9", "factor=top_k")

    assert "(baseline=text_k9 factor=top_k)" in done.stdout
    assert "top_k: 9 -> 4  (text_k9 -> text_k4)" in done.stdout
    assert "for all 15 tests" in running(done.stdout)
    view = article.folder / "article/report/text_k9-top_k/findings.json"
    findings = json.loads(view.read_text("utf-8"))
    assert "prompt" not in {finding["factor"] for finding in findings}
    assert not (article.folder / "article/report/findings.json").exists()


def test_other_test_sets_are_left_out(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """Runs over another test set than the newest run's are named, and not set beside it."""
    for name in ("text_k4", "text_k9"):
        rewrite(article, name, testset_fingerprint="older", ended="2025-12-01T00:00:00+00:00")

    done = command("report", *article.words)

    assert "4 runs, 8 questions" in done.stdout
    assert [record.getMessage().partition(" was")[0] for record in caplog.records] == [
        "text_k4 is left out: it",
        "text_k9 is left out: it",
    ]


def test_a_declared_test_is_a_family_of_its_own(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """Declared before collecting, it is corrected by itself: p = 0.125 of one test stays so."""
    article.primary.append(PROMPT)
    for name in VARIANTS:
        article.write(name)

    done = command("report", *article.words)

    assert "The primary tests (1) were declared before collecting" in running(done.stdout)
    contrasts = pd.read_csv(article.folder / "article/report/contrasts.csv")
    [row] = contrasts[contrasts["family"] == "primary"].to_dict("records")
    assert (row["factor"], row["metric"], row["p_adjusted"]) == ("prompt", "faithfulness", 0.125)
    assert not caplog.records


def test_a_test_declared_too_late_is_exploratory(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """One run of the contrast was collected before; the study's word now does not help."""
    article.primary.append(PROMPT)
    article.write("ctx_k9_strict")

    done = command("report", *article.words, "study.primary=[{factor:prompt,metric:faithfulness}]")

    assert done.returncode == 0, done.stderr
    assert "declared before collecting" not in running(done.stdout)
    [record] = caplog.records
    assert record.getMessage() == (
        "study.primary: faithfulness of prompt does not count: it was declared after ctx_k9 was "
        "collected (2026-01-01T00:00:00+00:00)"
    )


def test_a_declared_test_that_nobody_made_is_said(command: Command, article: Article) -> None:
    """No two runs differ in the factor alone."""
    command("report", *article.words, "study.primary=[{factor:embedder,metric:faithfulness}]")

    [finding] = of_kind(article, "primary_not_tested")
    assert (finding["factor"], finding["metric"]) == ("embedder", "faithfulness")


def with_evidence(article: Article) -> None:
    """Rewrite all runs with questions whose evidence is the sixth passage."""
    places = (EvidencePlace("chapter.pdf", 1, figure="text#5"),)
    questions = [replace(question, evidence=places) for question in QUESTIONS[:-1]]
    for name in VARIANTS:
        article.write(name, [*questions, replace(QUESTIONS[-1], answerable=False)])


def test_gold_evidence_gives_retrieval_metrics(command: Command, article: Article) -> None:
    """The sixth text passage is beyond k = 4: recall 0 against 1, at rank 6 of text_k9."""
    with_evidence(article)

    done = command("report", *article.words)

    assert "gold recall" in done.stdout
    means = pd.read_csv(article.folder / "article/report/means.csv")
    recall = means[means["metric"] == "gold_recall"].set_index("run")
    assert recall.loc["text_k4", "mean"] == 0.0
    assert (recall.loc["text_k9", "mean"], recall.loc["text_k9", "scored"]) == (1.0, 7)
    deeper = of_kind(article, "deeper_rank", run="text_k9")
    assert [(f["numbers"]["k"], f["names"]["source"]) for f in deeper] == [(4, "gold")]
    text = (article.folder / "article/report/report.md").read_text("utf-8")
    assert "q1 6, q2 6" in text
    assert "k = 5: 0.000, k = 6: 1.000" in text


def test_refusals_are_seen(command: Command, article: Article) -> None:
    """Refused although the evidence was there; and a refusal is no answer to the unanswerable."""
    with_evidence(article)
    rows = article.run("text_k9").responses()
    refused = [replace(row, response="The documents do not say.") for row in rows]
    article.run("text_k9").write_responses([refused[0], *rows[1:-1], refused[-1]])

    command("report", *article.words)

    [refusal] = of_kind(article, "refused_despite_evidence")
    assert (refusal["run"], refusal["questions"]) == ("text_k9", ["q1"])
    answered = {finding["run"] for finding in of_kind(article, "answered_unanswerable")}
    assert answered == {*VARIANTS} - {"text_k9"}


def test_clusters_of_questions(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """Seven questions of one document count as one, and the eighth as another: p is at least
    2 / 2 ** 2."""
    with_evidence(article)

    done = command("report", *article.words, "cluster=document")

    assert done.returncode == 0, done.stderr
    contrasts = pd.read_csv(article.folder / "article/report/contrasts.csv")
    assert contrasts["p_floor"].min() >= 0.5
    assert [r.getMessage() for r in caplog.records] == [
        "cluster=document: without evidence, so alone: q8"
    ]


def suspicious(article: Article, run: str) -> None:
    """Have the judge deny a claim that is verbatim in the third passage."""
    claim = "text passage 2"
    rows = [
        Verdict("llama3.1", "q2", 0, "claims_response", 0, text=claim),
        Verdict("llama3.1", "q2", 0, "response_in_context", 0, text=claim, label=0),
    ]
    write_evaluation(article.run(run), "llama3.1", JUDGE, rows, [])


def test_suspects_are_listed(command: Command, article: Article) -> None:
    """`suspects=true` prints only suspects; the CSV has all of them."""
    suspicious(article, "text_k4")

    done = command("report", *article.words, "suspects=true")

    assert "Verdicts to check" in done.stdout
    assert "verbatim in a passage" in done.stdout
    assert "Mean scores" not in done.stdout
    table = pd.read_csv(article.folder / "article/report/suspects.csv")
    assert table[["run", "question_id", "text"]].to_numpy().tolist() == [
        ["text_k4", "q2", "text passage 2"]
    ]


def test_no_suspects(command: Command, article: Article) -> None:
    """A judge that contradicts nothing is said so."""
    done = command("report", *article.words, "suspects=true")

    assert done.stdout.startswith("No verdict contradicts the text or another.")


def test_checks_of_ones_own_and_forgotten_metrics_are_compared(
    command: Command, article: Article
) -> None:
    """For a custom check higher is better; for an unknown metric neither direction is.

    A check that only one of two runs was judged by does not part their other metrics.
    """
    own = {"question": "Cited?", "inputs": ["response"], "labels": ["yes", "no"], "counts": "yes"}
    for name in ("ctx_k9", "ctx_k9_strict"):
        run = article.run(name)
        identity = JUDGE | {"own": {"cites": own}}
        scores = [
            Score(q.id, 0, metric, float(name == "ctx_k9"), 1, "ok", "llama3.1")
            for q in QUESTIONS
            for metric in ("cites", "vibes")
        ]
        known = [score for score in run.scores("llama3.1") if score.judge is not None]
        write_evaluation(run, "llama3.1", identity, [], [*known, *scores])

    done = command("report", *article.words)

    assert done.returncode == 0, done.stderr
    contrasts = pd.read_csv(article.folder / "article/report/contrasts.csv")
    prompt = contrasts[contrasts["factor"] == "prompt"].set_index("metric")
    assert (prompt.loc["cites", "mean"], prompt.loc["vibes", "mean"]) == (-1.0, -1.0)
    assert prompt.loc["cites", "losses"] == 8
    top_k = contrasts.query("left == 'ctx_k4' and right == 'ctx_k9'").set_index("metric")
    assert top_k.loc["faithfulness", "questions"] == 8
    assert not of_kind(article, "judged_differently", metric="faithfulness")


def test_a_failed_answer_is_no_refusal(command: Command, article: Article) -> None:
    """A row without a response is counted as an error of the system."""
    rows = article.run("text_k9").responses()
    failed = Response("q1", 0, rows[0].user_input, rows[0].reference, "text", None, error="down")
    article.run("text_k9").write_responses([failed, *rows[1:]])

    command("report", *article.words)

    [error] = of_kind(article, "system_errors")
    assert (error["run"], error["questions"]) == ("text_k9", ["q1"])


def useful(judge: str, *labels: int) -> list[Verdict]:
    """Return which passages of q1's answer a judge calls useful."""
    return [Verdict(judge, "q1", 0, "passage_useful", n, label=x) for n, x in enumerate(labels)]


def judge_again(article: Article, run: str, **identity: Any) -> None:
    """Have a second judge score the first seven questions as the first did, in three metrics."""
    scores = [
        replace(score, judge="second")
        for score in article.run(run).scores("llama3.1")
        if score.metric != "answer_relevancy" and score.question_id != "q8"
    ]
    said = {"judge": "overlap", **identity}
    write_evaluation(article.run(run), "second", said, useful("second", 1, 0, 0, 0), scores)


def test_judges_are_held_against_each_other(command: Command, article: Article) -> None:
    """The report uses the chosen judge; the other's labels and findings are compared with it.

    Of q1's four passages in ctx_k9 one is labelled apart: 3 of 4 alike, 1/2 by chance, kappa 1/2.
    """
    write_evaluation(
        article.run("ctx_k9"),
        "llama3.1",
        JUDGE,
        useful("llama3.1", 1, 1, 0, 0),
        article.run("ctx_k9").scores("llama3.1"),
    )
    for name in VARIANTS:
        judge_again(article, name)

    done = command("report", *article.words)

    assert done.returncode == 0, done.stderr
    page = running(done.stdout)
    assert (
        "This report uses the scores of llama3.1. The same answers were also judged by second."
        in page
    )
    assert "each judge has scored: 6 of 6 runs, 7 of 8 questions, 3 metrics" in page
    assert "Left out because not every judge has scored them in full: answer relevancy." in page
    [agreed] = of_kind(article, "judges_agreement")
    assert {name: agreed["numbers"][name] for name in ("n", "agreed", "kappa", "low")} == {
        "n": 4,
        "agreed": 3,
        "kappa": 0.5,
        "low": None,
    }
    assert of_kind(article, "under_some_judges") == []
    everywhere = of_kind(article, "under_every_judge", metric="faithfulness")
    assert [f["names"]["said"] for f in everywhere] == ["metric_trusted"]
    report = article.folder / "article/report"
    assert "## Several judges" in (report / "report.md").read_text("utf-8")
    assert 'id="judges"' in (report / "index.html").read_text("utf-8")


def test_the_other_judge_leads_when_it_is_chosen(command: Command, article: Article) -> None:
    """`judge.name=second` reports on its scores, and compares the first judge with them."""
    for name in VARIANTS:
        judge_again(article, name)

    page = running(command("report", *article.words, "judge.name=second").stdout)

    assert (
        "This report uses the scores of second. The same answers were also judged by llama3.1."
        in page
    )
    assert "faithfulness 0.617" not in page


def test_a_judge_whose_labels_never_came_is_left_out(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """A judge without any label is reported in a warning and changes nothing in the report."""
    before = running(command("report", *article.words).stdout)
    gone = Score("q1", 0, "faithfulness", None, None, Status.JUDGE_FAILED, "gone")
    write_evaluation(article.run("ctx_k9"), "gone", {"judge": "chat"}, [], [gone])

    assert running(command("report", *article.words).stdout) == before
    assert "the judge 'gone' is left out: it has no label on any of these runs" in caplog.text


def test_a_judge_that_found_nothing_to_score_was_there(
    command: Command, article: Article, caplog: pytest.LogCaptureFixture
) -> None:
    """A refusal makes no claims: that is what the judge found, and no failure."""
    refused = Score("q1", 0, "faithfulness", None, None, Status.NO_CLAIMS, "second")
    write_evaluation(article.run("ctx_k9"), "second", {"judge": "chat"}, [], [refused])

    page = running(command("report", *article.words).stdout)

    assert "also judged by second" in page
    assert "is left out" not in caplog.text


def test_one_judge_is_held_against_nobody(command: Command, article: Article) -> None:
    """Without a second judge no word is said of several."""
    page = command("report", *article.words).stdout

    assert "Several judges" not in page
    assert of_kind(article, "judges_agreement") == []
    assert of_kind(article, "under_every_judge") == []


def test_a_check_in_other_words_is_another_check(command: Command, article: Article) -> None:
    """Two judges were asked two questions under one name: their labels are not matched."""
    asked = {"question": "Cites?", "inputs": ["response"], "labels": ["a", "b"], "counts": "a"}
    for name in VARIANTS:
        for judge, question in (("llama3.1", "Cites?"), ("second", "Does it cite?")):
            run = article.run(name)
            known = [score for score in run.scores("llama3.1") if score.judge is not None]
            scores = [replace(score, judge=judge) for score in known]
            own = {"cites": {**asked, "question": question}}
            rows = [Verdict(judge, "q1", 0, "cites", 0, label=1), *useful(judge, 1, 0)]
            write_evaluation(run, judge, JUDGE | {"own": own}, rows, scores)

    done = command("report", *article.words)

    assert done.returncode == 0, done.stderr
    checks = {f["names"]["check"]: f["numbers"]["n"] for f in of_kind(article, "judges_agreement")}
    assert checks == {"passage_useful": 12, "cites": 0}


def test_a_command_to_paste_is_whole_and_names_no_judge(command: Command, article: Article) -> None:
    """It is longer than the line, neither cut nor wrapped, and collecting needs no judge."""
    setting = "judge.chat.base_url=http://127.0.0.1:8000/v1"
    done = command("report", *article.words, setting, "runs=[text_k4,ctx_k9_strict]")

    assert done.returncode == 0, done.stderr
    start = "  python -m harness.collect "
    commands = [line for line in done.stdout.splitlines() if line.startswith(start)]
    assert commands
    for line in commands:
        settings = dict(word.split("=", 1) for word in line.removeprefix(start).split())
        assert settings["root"] == str(article.folder)
        assert settings["variant"] in VARIANTS
        assert not [key for key in settings if "judge" in key]
    assert max(map(len, commands)) > 100
