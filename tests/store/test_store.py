"""A run folder: rows come back as they were written, and other versions are refused."""

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import DamagedRunError, RunError
from harness.records import Passage, Question, Response, Score, Verdict
from harness.store import Run, finished_runs
from tests.written import article

PASSAGE = Passage("d#1.1", "d", 1, "text", "四月最多，共十二例。", 0.81)
RESPONSE = Response("q1", 0, "何月？", "四月", "text", "四月。", (PASSAGE,), 4, 6)


def verdict(judge: str = "overlap", question: str = "q1", check: str = "passage_useful") -> Verdict:
    return Verdict(judge, question, 0, check, 0, label=1)


def score(judge: str | None = "overlap", metric: str = "faithfulness", value: float = 1.0) -> Score:
    return Score("q1", 0, metric, value, 2, "ok", judge)


def test_responses_come_back_as_they_were(tmp_path: Path) -> None:
    """Texts, lists and absent values survive the file."""
    awkward = replace(
        RESPONSE, question_id="q2", response=None, passages=(), error="the endpoint is away"
    )
    texts = ("", "a\nb", "甲,乙 '丙'")
    many = tuple(replace(PASSAGE, id=f"d#1.{n}", text=text) for n, text in enumerate(texts))
    rows = [RESPONSE, awkward, replace(RESPONSE, question_id="q3", passages=many)]

    Run(tmp_path).write_responses(rows)

    assert Run(tmp_path).responses() == rows


def test_files_without_the_columns_added_since_are_read(tmp_path: Path) -> None:
    """A run that was collected before thinking was kept opens, with no thinking in it."""
    run = Run(tmp_path)
    run.write_responses([replace(RESPONSE, thinking="27?", model="other")])
    path = run.table("responses")
    pq.write_table(pq.read_table(path).drop_columns(["thinking", "model"]), path)
    (tmp_path / "SHA256SUMS").unlink()

    assert run.responses() == [RESPONSE]


def test_other_tools_find_the_four_names(tmp_path: Path) -> None:
    """pandas and pyarrow read the columns that RAG evaluators agree on, as real lists."""
    Run(tmp_path).write_responses([RESPONSE])
    path = tmp_path / "responses.parquet"

    frame = pd.read_parquet(path)
    table = pq.read_table(path)

    assert list(frame.columns[:4]) == ["user_input", "retrieved_contexts", "response", "reference"]
    assert table.schema.field("retrieved_contexts").type == pa.list_(pa.string())
    assert table["retrieved_contexts"].to_pylist() == [["四月最多，共十二例。"]]
    assert table["k_returned"].to_pylist() == [1]


def test_a_passage_must_be_text(tmp_path: Path) -> None:
    """A system that hands back null for a passage is refused, not judged on an empty one."""
    broken = replace(RESPONSE, passages=(replace(PASSAGE, text=None),))  # type: ignore[arg-type]

    with pytest.raises(RunError, match=r"passage 'd#1.1' has no text"):
        Run(tmp_path).write_responses([broken])


def test_na_is_null_never_nan(tmp_path: Path) -> None:
    """A score that is NA is an absent value in the file."""
    Run(tmp_path).write_evaluation([], [replace(score(), value=None)], {})

    column = pq.read_table(tmp_path / "scores.parquet")["value"]

    assert column.null_count == 1


def test_evaluations_are_logged_with_the_answers(tmp_path: Path) -> None:
    """A line an evaluation, in any writing; new answers take theirs along."""
    run = Run(tmp_path)
    assert run.evaluations() == []

    for judge in ("overlap", "燈\u2028塔"):
        run.log_evaluation({"judge": judge})

    assert run.evaluations() == [{"judge": "overlap"}, {"judge": "燈\u2028塔"}]
    run.replace({}, [RESPONSE], {})
    assert run.evaluations() == []


def test_a_folder_without_run_json_is_no_run(tmp_path: Path) -> None:
    """What was not finished is never reported."""
    run = Run(tmp_path / "ctx_k9")
    run.write_responses([RESPONSE])

    assert finished_runs(tmp_path) == []
    with pytest.raises(RunError, match="not a finished run"):
        run.facts()

    run.finish({"name": "ctx_k9"})
    assert finished_runs(tmp_path) == [run]
    assert run.facts()["name"] == "ctx_k9"


def test_a_whole_new_run_has_nothing_of_the_old(tmp_path: Path) -> None:
    """Labels, scores and captions of earlier answers are no part of it."""
    run = Run(tmp_path)
    run.write_evaluation([verdict()], [score()], {"overlap": {}})
    run.write_text("captions.jsonl", "{}\n")
    run.finish({})

    run.replace({"counts": 1}, [RESPONSE], {"questions.jsonl": b""})

    assert run.facts()["counts"] == 1
    assert (run.scores(), run.verdicts(), run.captions()) == ([], [], [])
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"SHA256SUMS", "questions.jsonl", "responses.parquet", "run.json"}


def test_unchanged_answers_keep_labels_and_scores(tmp_path: Path) -> None:
    """Of all judges, with their settings and the log; those of other answers are dropped."""
    run = Run(tmp_path)
    labels = [verdict(judge, question) for judge in ("a", "b") for question in ("q1", "q2")]
    scores = [replace(score(judge), question_id=q) for judge in ("a", "b") for q in ("q1", "q2")]
    run.write_evaluation(labels, scores, {"a": {"seed": 1}, "b": {}})
    run.log_evaluation({"judge": "a"})

    run.replace({}, [RESPONSE], {}, unchanged={("q1", 0)})

    assert run.verdicts() == [labels[0], labels[2]]
    assert run.scores() == [scores[0], scores[2]]
    assert (run.judges(), run.evaluations()) == ({"a": {"seed": 1}, "b": {}}, [{"judge": "a"}])


def test_a_run_set_aside_is_a_copy_that_is_not_listed(tmp_path: Path) -> None:
    """`again=true` copies the old run to a free name; it stays in place until the new one."""
    run = Run(tmp_path / "ctx_k9")
    run.write_responses([RESPONSE])
    run.finish({})

    assert [run.set_aside().name for _ in range(2)] == ["ctx_k9-1", "ctx_k9-2"]
    assert finished_runs(tmp_path) == [run]
    assert run.responses() == [RESPONSE]


def test_files_of_another_version_are_refused_and_left(tmp_path: Path) -> None:
    """An older table is an error that names the remedy; its bytes stay."""
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"score": [1.0]}), path)
    before = path.read_bytes()

    with pytest.raises(RunError, match="another version of the harness"):
        Run(tmp_path).scores()
    assert path.read_bytes() == before

    (tmp_path / "run.json").write_text(json.dumps({"version_of_files": 0}))
    with pytest.raises(RunError, match="another version"):
        Run(tmp_path).facts()


def test_run_json_holds_no_nan(tmp_path: Path) -> None:
    """NaN is not JSON: a strict reader must be able to read every file."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        Run(tmp_path).finish({"seconds": float("nan")})


def test_names_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    """A run called 2024-05-01 or 01 keeps its name and its ids."""
    for name in ("1", "01", "2024-05-01", "true"):
        run = Run(tmp_path / name)
        run.write_responses([replace(RESPONSE, question_id=name)])
        run.finish({"name": name})

    for run in finished_runs(tmp_path):
        assert run.facts()["name"] == run.name
        assert run.responses()[0].question_id == run.name


def test_rows_without_and_with_errors_are_read_together(tmp_path: Path) -> None:
    """A run whose errors are all null and whose lists are empty has the types of any other run."""
    import pyarrow.dataset as ds

    questions = article(tmp_path, questions=1, variants=("text_k4",))[0]
    full = questions.responses()
    bare = [replace(row, passages=()) for row in full]
    failed = [replace(row, response=None, error="down") for row in full]
    for name, rows in (("bare", bare), ("failed", failed)):
        Run(tmp_path / name).write_responses(rows)

    files = [str(tmp_path / name / "responses.parquet") for name in ("bare", "failed")]
    table = ds.dataset(files).to_table()

    assert table["error"].to_pylist() == [None, "down"]
    assert [len(ids) for ids in table["retrieved_context_ids"].to_pylist()] == [0, 4]


@pytest.mark.parametrize("texts", [["甲", "乙"], [], [""], ["a\nb"]])
def test_lists_of_texts_come_back_as_lists(tmp_path: Path, texts: list[str]) -> None:
    """A list is read back as a list, also an empty one, and NA as NA."""
    passages = tuple(Passage(f"d#1.{n}", "d", 1, "text", text) for n, text in enumerate(texts))
    rows = [
        Response("q1", 0, "ask", "reference", "text", "an answer", passages),
        Response("q2", 0, "ask", "reference", "text", None, error="down"),
    ]
    Run(tmp_path).write_responses(rows)

    assert Run(tmp_path).responses() == rows
    found = pq.read_table(tmp_path / "responses.parquet").to_pylist()
    assert [row["retrieved_contexts"] for row in found] == [texts, []]
    assert [row["response"] for row in found] == ["an answer", None]
    json.dumps(found)


def test_nan_and_infinity_are_not_stored(tmp_path: Path) -> None:
    """NaN and infinity are refused where a score is stored."""
    run = Run(tmp_path)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            run.write_evaluation([], [score(value=value)], {})
        assert not (tmp_path / "scores.parquet").exists()


def test_half_a_character_costs_one_row_its_own_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A lone surrogate is replaced in its own answer, with a warning; the others are unchanged."""
    questions = [Question(f"q{n}", f"ask {n}", "reference", "text") for n in range(1, 9)]
    rows = [Response(q.id, 0, "ask", "reference", "text", f"answer {q.id}") for q in questions]
    rows[4] = replace(rows[4], response="ok\ud83d")
    Run(tmp_path).write_responses(rows)

    found = Run(tmp_path).responses()
    assert found[4].response == "ok\ufffd"
    assert found[:4] + found[5:] == rows[:4] + rows[5:]
    [record] = caplog.records
    assert "q5" in record.getMessage()


def evaluated(folder: Path) -> Run:
    """Return a finished run with labels, scores, a log and a caption."""
    run = Run(folder)
    run.replace(
        {"overrides": ["study=mine", "variant=ctx_k9"]},
        [RESPONSE],
        {"questions.jsonl": b'{"id": "q1"}\n', "captions.jsonl": b'{"figure": "d#1.f1"}\n'},
    )
    run.write_evaluation([verdict()], [score()], {"overlap": {"rules": 1}})
    run.log_evaluation({"judge": "overlap"})
    return run


def content(run: Run) -> list[object]:
    """Return all that is read of a run."""
    rows = (run.responses(), run.verdicts(), run.scores(), run.captions(), run.evaluations())
    return [run.facts(), run.judges(), run.file("questions.jsonl"), *rows]


@pytest.mark.parametrize("at", range(3))
def test_a_change_that_was_interrupted_is_whole_or_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Labels and scores are of one evaluation, wherever between their files a crash comes.

    The files of the change are written first (0, 1), then the list of hashes (2): until then the
    old evaluation counts.
    """
    from harness.store import run as module

    run = evaluated(tmp_path)
    labels, scores = [verdict(check="claims_response")], [score(value=0.5)]
    write_whole, written = module.write_whole, []

    def crash(path: Path, text: bytes) -> None:
        written.append(path)
        if len(written) > at:
            raise KeyboardInterrupt
        write_whole(path, text)

    monkeypatch.setattr(module, "write_whole", crash)
    with pytest.raises(KeyboardInterrupt):
        run.write_evaluation(labels, scores, {})
    assert (run.verdicts(), run.scores()) == ([verdict()], [score()])


def test_a_change_is_complete_once_its_hashes_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash before the files are in their places is completed by whoever writes next."""
    run = evaluated(tmp_path)
    labels, scores = [verdict(check="claims_response")], [score(value=0.5)]

    with monkeypatch.context() as context:
        context.setattr(Run, "settle", lambda _: None)
        run.write_evaluation(labels, scores, {})

    assert (run.verdicts(), run.scores()) == (labels, scores)
    with run.locked():
        pass
    assert (run.verdicts(), run.scores()) == (labels, scores)
    assert not list(tmp_path.glob(".*.new"))


def test_every_flipped_bit_is_named_or_harmless(tmp_path: Path) -> None:
    """One bit in any file of a run, its hashes included: an error names it, or all reads alike."""
    run = evaluated(tmp_path / "ctx_k9")
    before, turns = content(run), random.Random(11)
    for file in sorted(path for path in run.path.rglob("*") if path.is_file()):
        whole = file.read_bytes()
        for at in sorted(turns.sample(range(len(whole) * 8), 40)):
            broken = bytearray(whole)
            broken[at // 8] ^= 1 << at % 8
            file.write_bytes(broken)
            error = run.damage()
            if error is None:
                assert content(run) == before
            else:
                assert str(run.path) in str(error)
                assert "\n" not in str(error)
                assert "again=true" in str(error)
        file.write_bytes(whole)


@pytest.mark.parametrize("name", ["captions.jsonl", "questions.jsonl", "evaluations.jsonl"])
def test_half_a_line_is_named(tmp_path: Path, name: str) -> None:
    """A file that was cut off is an error, with and without recorded hashes."""
    run = evaluated(tmp_path / "ctx_k9")
    (run.path / name).write_bytes((run.path / name).read_bytes()[:-6])

    assert f"{name} is damaged" in str(run.damage())
    (run.path / "SHA256SUMS").unlink()
    assert f"{name} has a line that is not JSON" in str(run.damage())


def test_a_damaged_answer_is_collected_again(tmp_path: Path) -> None:
    """The error gives the command that made the run, with `again=true`."""
    run = evaluated(tmp_path / "ctx_k9")
    run.table("responses").write_bytes(b"PAR1")

    with pytest.raises(DamagedRunError, match=r"responses.parquet is damaged") as raised:
        run.responses()

    command = "python -m harness.collect study=mine variant=ctx_k9 again=true"
    assert str(raised.value).endswith(command)


def test_a_run_without_hashes_opens_as_before(tmp_path: Path) -> None:
    """Folders of an earlier version are read, and get their hashes with the next change."""
    run = evaluated(tmp_path / "ctx_k9")
    before = content(run)
    (run.path / "SHA256SUMS").unlink()

    assert run.damage() is None
    assert content(run) == before
    run.log_evaluation({"judge": "other"})
    run.table("responses").write_bytes(b"PAR1")
    assert "responses.parquet is damaged" in str(run.damage())


def test_sha256sum_reads_the_hashes(tmp_path: Path) -> None:
    """`sha256sum -c SHA256SUMS` checks a run without this program."""
    run = evaluated(tmp_path)
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()

    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((run.path / name).read_bytes()).hexdigest() == digest
    assert lines[-1].endswith("run.json")
    assert len(lines) == 7


@pytest.mark.parametrize("name", ["responses.parquet", "questions.jsonl"])
def test_a_missing_file_of_a_run_without_hashes(name: str, tmp_path: Path) -> None:
    """A run that was written before there were hashes is damaged where its answers are gone."""
    run = Run(tmp_path / "a")
    run.replace({"name": "a", "overrides": ["variant=a"]}, [RESPONSE], {"questions.jsonl": b"{}\n"})
    (run.path / "SHA256SUMS").unlink()
    assert run.damage() is None

    (run.path / name).unlink()

    assert f"{name} is missing; collect the run again: python -m harness.collect variant=a" in str(
        run.damage()
    )


def test_a_renamed_run_is_no_copy(tmp_path: Path) -> None:
    """A run whose folder was renamed is to be renamed back; a copy is to be moved away."""
    run, copy = Run(tmp_path / "a"), Run(tmp_path / "b")
    run.replace({"name": "a"}, [RESPONSE], {"questions.jsonl": b"{}\n"})
    run.path.rename(copy.path)

    assert f"rename it back: mv {copy.path} {run.path}" in str(copy.damage())

    run.replace({"name": "a"}, [RESPONSE], {"questions.jsonl": b"{}\n"})
    assert "is a copy of the run a" in str(copy.damage())
