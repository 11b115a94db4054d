import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import RunError
from harness.evaluate.merge import changed_for, standing, write_evaluation
from harness.records import Passage, Response, Score, Verdict
from harness.store import Run, finished_runs

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


def test_an_all_null_column_keeps_its_type(tmp_path: Path) -> None:
    """Two runs can be read together though one of them has no error and no passage."""
    Run(tmp_path / "a").write_responses([replace(RESPONSE, passages=())])
    Run(tmp_path / "b").write_responses([replace(RESPONSE, error="x", response=None)])

    tables = [pq.read_table(tmp_path / name / "responses.parquet") for name in "ab"]

    assert tables[0].schema.equals(tables[1].schema)
    assert pa.concat_tables(tables).num_rows == 2


def test_half_an_emoji_does_not_cost_the_table(tmp_path: Path) -> None:
    """A lone surrogate is replaced in its own row; the others are untouched."""
    Run(tmp_path).write_responses([replace(RESPONSE, response="ok\ud83d"), RESPONSE])

    first, second = Run(tmp_path).responses()

    assert first.response == "ok\ufffd"
    assert second == RESPONSE


def test_a_passage_must_be_text(tmp_path: Path) -> None:
    """A system that hands back null for a passage is refused, not judged on an empty one."""
    broken = replace(RESPONSE, passages=(replace(PASSAGE, text=None),))  # type: ignore[arg-type]

    with pytest.raises(RunError, match=r"passage 'd#1.1' has no text"):
        Run(tmp_path).write_responses([broken])


def test_na_is_null_never_nan(tmp_path: Path) -> None:
    """A score that is NA is an absent value in the file."""
    write_evaluation(Run(tmp_path), "overlap", {}, [], [replace(score(), value=None)])

    column = pq.read_table(tmp_path / "scores.parquet")["value"]

    assert column.null_count == 1


def test_a_second_judge_adds_rows(tmp_path: Path) -> None:
    """Each judge's verdicts stay; scores that need no judge stand once."""
    run = Run(tmp_path)
    free = score(None, "answer_match")
    write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score(), free])
    write_evaluation(run, "llama", {"model": "llama"}, [verdict("llama")], [score("llama"), free])

    assert run.verdicts() == [verdict(), verdict("llama")]
    assert run.scores("llama") == [score("llama"), free]
    assert run.judges() == {"overlap": {"rules": 1}, "llama": {"model": "llama"}}


def test_what_is_said_again_is_not_written_again(tmp_path: Path) -> None:
    """An evaluation that brings nothing new leaves the files alone, one that does writes them."""
    run = Run(tmp_path)

    def written(value: float, rules: int = 1) -> list[int]:
        write_evaluation(
            run, "overlap", {"rules": rules}, [verdict()], [score(value=value)], again=True
        )
        return [run.table(name).stat().st_ino for name in ("verdicts", "scores")]

    first = written(0.5)
    assert written(0.5) == first

    write_evaluation(run, "llama", {}, [verdict("llama")], [score("llama", value=0.5)])
    first = [run.table(name).stat().st_ino for name in ("verdicts", "scores")]
    assert written(0.5) == first

    second = written(0.75)
    assert second != first
    assert written(0.75, rules=2) != second
    assert run.judges() == {"overlap": {"rules": 2}, "llama": {}}


def test_the_same_judge_adds_what_it_had_not_said(tmp_path: Path) -> None:
    """Evaluating another metric keeps the first; evaluating it again replaces it."""
    run = Run(tmp_path)
    write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score()])
    write_evaluation(run, "overlap", {"rules": 1}, [], [score(metric="recall")])
    write_evaluation(run, "overlap", {"rules": 1}, [], [score(value=0.5)])

    assert run.verdicts() == [verdict()]
    assert run.scores() == [score(metric="recall"), score(value=0.5)]


class TestAChangedJudge:
    """Labels of other rules or prompts under one name never stand in one table."""

    def test_is_refused(self, tmp_path: Path) -> None:
        """Nothing is written over, and the error names what differs."""
        run = Run(tmp_path)
        write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score()])

        with pytest.raises(RunError, match=r"'overlap' labelled it .*: rules 1, now 2$"):
            write_evaluation(run, "overlap", {"rules": 2}, [], [score(metric="recall")])

        assert run.verdicts() == [verdict()]
        assert run.scores() == [score()]

    def test_replaces_its_former_self_on_demand(self, tmp_path: Path) -> None:
        """With `again` nothing is kept of it, but what needed no judge."""
        run = Run(tmp_path)
        write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score(), score(None, "free")])
        write_evaluation(run, "overlap", {"rules": 2}, [], [score(metric="recall")], again=True)

        assert run.verdicts() == []
        assert run.scores() == [score(metric="recall"), score(None, "free")]
        assert run.judges() == {"overlap": {"rules": 2}}

    def test_a_reworded_check_costs_its_own_labels(self, tmp_path: Path) -> None:
        """Of the judge's other labels, and of checks that are new, nothing is touched."""
        run = Run(tmp_path)
        first = {"rules": 1, "own": {"polite": {"question": "Polite?"}}}
        rows = [verdict(), verdict(check="polite")]
        write_evaluation(run, "overlap", first, rows, [score(), score(metric="polite")])
        second = {"rules": 1, "own": {"polite": {"question": "Kind?"}, "brief": {}}}
        changed = changed_for(run, "overlap", second)

        assert changed.settings == ('polite.question "Polite?", now "Kind?"',)
        write_evaluation(run, "overlap", second, [], [score(metric="brief")], again=True)

        assert run.verdicts() == [verdict()]
        assert run.scores() == [score(), score(metric="brief")]

    def test_many_changes_are_counted(self, tmp_path: Path) -> None:
        """Four settings are named, without values as long as a hash; the others are counted."""
        run = Run(tmp_path)
        write_evaluation(run, "j", {"prompts": dict.fromkeys("abcdef", "0" * 64)}, [], [])
        changed = changed_for(run, "j", {"prompts": dict.fromkeys("abcdef", "1" * 64)})

        assert str(changed) == "prompts.a; prompts.b; prompts.c; prompts.d; and 2 more"


class TestWhatStands:
    """Rows that could not be had never replace rows that were read; claims are never mixed."""

    @staticmethod
    def rows(check: str, *texts: str, error: str | None = None) -> list[Verdict]:
        """Return a row a text, or the one of a check that failed."""
        if error:
            return [Verdict("j", "q1", 0, check, -1, error=error)]
        return [Verdict("j", "q1", 0, check, n, text=text) for n, text in enumerate(texts)]

    @pytest.mark.parametrize("error", ["budget", "judge_failed", "judge_unparsable"])
    def test_na_does_not_replace(self, error: str) -> None:
        """What failed leaves the former rows; what was read, `no_passages` too, replaces them."""
        before = self.rows("passage_useful", "a")
        for now in (
            self.rows("passage_useful", error="no_passages"),
            [replace(before[0], text="b")],
        ):
            assert standing(before, now) == now
        assert standing(before, self.rows("passage_useful", error=error)) == before
        assert standing([], self.rows("passage_useful", error=error))[0].error == error

    def test_of_a_check_the_more_whole_rows_stand(self) -> None:
        """Two labels of three stand against one, and give way to three."""
        three = self.rows("passage_useful", "a", "b", "c")
        two = [*three[:2], replace(three[2], error="budget")]
        one = [three[0], *(replace(row, error="budget") for row in three[1:])]

        assert standing(two, one) == two
        assert standing(two, three) == three

    def test_claims_that_differ(self) -> None:
        """New claims replace others with all labels on them, or else none of them."""
        old = [*self.rows("claims_response", "a"), *self.rows("response_in_context", "a")]
        claims = self.rows("claims_response", "x", "y")
        whole = [*claims, *self.rows("response_in_context", "x", "y")]
        broken = [*claims, *self.rows("response_in_context", error="budget")]
        beside = [*claims, *self.rows("response_in_reference", "x", "y")]

        assert standing(old, whole) == whole
        assert standing(old, broken) == old
        (kept, withheld) = standing(old, beside)
        assert kept == old[0]
        assert (withheld.check, withheld.error) == ("response_in_reference", "judge_incomplete")

    def test_scores_follow(self, tmp_path: Path) -> None:
        """Scores are worked out of the rows that stand, not of those that came."""
        run = Run(tmp_path)
        write_evaluation(run, "j", {}, self.rows("passage_useful", "a"), [score("j")])
        seen: list[list[Verdict]] = []

        def scores(stand: Sequence[Verdict]) -> list[Score]:
            seen.append(list(stand))
            return [score("j", value=0.25)]

        write_evaluation(run, "j", {}, self.rows("passage_useful", error="budget"), scores)

        assert seen == [self.rows("passage_useful", "a")] == [run.verdicts()]
        assert run.scores() == [score("j", value=0.25)]


def test_checks_of_ones_own_are_put_together(tmp_path: Path) -> None:
    """Two evaluations that began at once, each with a check of its own, both leave its wording."""
    run = Run(tmp_path)
    one, two = ({"rules": 1, "own": {name: {"question": name}}} for name in ("kind", "brief"))
    write_evaluation(run, "j", one, [], [])
    write_evaluation(run, "j", two, [], [])

    assert set(run.judges()["j"]["own"]) == {"kind", "brief"}
    with pytest.raises(RunError, match=r"kind\.question"):
        write_evaluation(run, "j", {"rules": 1, "own": {"kind": {"question": "other"}}}, [], [])


def test_evaluations_are_logged_with_the_answers(tmp_path: Path) -> None:
    """A line an evaluation, in any writing; answers that may change take theirs along."""
    run = Run(tmp_path)
    assert run.evaluations() == []

    for judge in ("overlap", "燈\u2028塔"):
        run.log_evaluation({"judge": judge})

    assert run.evaluations() == [{"judge": "overlap"}, {"judge": "燈\u2028塔"}]
    run.reopen()
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


def test_reopening_forgets_scores(tmp_path: Path) -> None:
    """When answers may change, what was said of them goes first."""
    run = Run(tmp_path)
    write_evaluation(run, "overlap", {}, [verdict()], [score()])
    run.finish({})

    run.reopen()

    assert not run.finished
    assert run.scores() == []
    assert run.verdicts() == []


def test_a_run_set_aside_is_kept_but_not_listed(tmp_path: Path) -> None:
    """`again=true` moves the old run to a free name beside the new one."""
    names = []
    for _ in range(2):
        run = Run(tmp_path / "ctx_k9")
        run.write_responses([RESPONSE])
        run.finish({})
        names.append(run.set_aside().name)

    assert names == ["ctx_k9-1", "ctx_k9-2"]
    assert finished_runs(tmp_path) == []


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
