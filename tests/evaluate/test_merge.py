"""Merging an evaluation into a run: what is kept, replaced, dropped or refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import RunError
from harness.evaluate.merge import change_since_labelled, merge_verdicts, write_evaluation
from harness.records import Score, Status, Verdict
from harness.store import Run


def verdict(judge: str = "overlap", question: str = "q1", check: str = "passage_useful") -> Verdict:
    return Verdict(judge, question, 0, check, 0, label=1)


def score(judge: str | None = "overlap", metric: str = "faithfulness", value: float = 1.0) -> Score:
    return Score("q1", 0, metric, value, 2, "ok", judge)


def test_equal_labels_are_not_written_again(tmp_path: Path) -> None:
    """An evaluation without anything new does not write the files."""
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


def test_the_same_judge_adds_another_metric(tmp_path: Path) -> None:
    """Evaluating another metric keeps the first; evaluating it again replaces it."""
    run = Run(tmp_path)
    write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score()])
    write_evaluation(run, "overlap", {"rules": 1}, [], [score(metric="recall")])
    write_evaluation(run, "overlap", {"rules": 1}, [], [score(value=0.5)])

    assert run.verdicts() == [verdict()]
    assert run.scores() == [score(metric="recall"), score(value=0.5)]


def test_a_second_judge_adds_rows(tmp_path: Path) -> None:
    """A second judge's rows are added; scores that need no judge are stored once."""
    run = Run(tmp_path)
    free = score(None, "answer_match")
    write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score(), free])
    write_evaluation(run, "llama", {"model": "llama"}, [verdict("llama")], [score("llama"), free])

    assert run.verdicts() == [verdict(), verdict("llama")]
    assert run.scores("llama") == [score("llama"), free]
    assert run.judges() == {"overlap": {"rules": 1}, "llama": {"model": "llama"}}


class TestAChangedJudge:
    """Labels made under different settings are never mixed under one name."""

    def test_is_refused(self, tmp_path: Path) -> None:
        """Nothing is overwritten, and the error names what differs."""
        run = Run(tmp_path)
        write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score()])

        with pytest.raises(RunError, match=r"'overlap' labelled it .*: rules 1, now 2$"):
            write_evaluation(run, "overlap", {"rules": 2}, [], [score(metric="recall")])

        assert run.verdicts() == [verdict()]
        assert run.scores() == [score()]

    def test_is_replaced_with_again(self, tmp_path: Path) -> None:
        """With `again` only the scores that need no judge are kept."""
        run = Run(tmp_path)
        write_evaluation(run, "overlap", {"rules": 1}, [verdict()], [score(), score(None, "free")])
        write_evaluation(run, "overlap", {"rules": 2}, [], [score(metric="recall")], again=True)

        assert run.verdicts() == []
        assert run.scores() == [score(metric="recall"), score(None, "free")]
        assert run.judges() == {"overlap": {"rules": 2}}

    def test_a_reworded_check_costs_its_own_labels(self, tmp_path: Path) -> None:
        """A reworded custom check loses its own labels only."""
        run = Run(tmp_path)
        first = {"rules": 1, "own": {"polite": {"question": "Polite?"}}}
        rows = [verdict(), verdict(check="polite")]
        write_evaluation(run, "overlap", first, rows, [score(), score(metric="polite")])
        second = {"rules": 1, "own": {"polite": {"question": "Kind?"}, "brief": {}}}
        changed = change_since_labelled(run, "overlap", second)

        assert changed.settings == ('polite.question "Polite?", now "Kind?"',)
        write_evaluation(run, "overlap", second, [], [score(metric="brief")], again=True)

        assert run.verdicts() == [verdict()]
        assert run.scores() == [score(), score(metric="brief")]

    def test_settings_that_brought_no_label_do_not_count(self, tmp_path: Path) -> None:
        """After a wrong address the right one is no other judge; a single label makes it one."""
        run = Run(tmp_path)
        wrong, right = ({"chat": {"base_url": url}} for url in ("http://a/v1", "http://b/v1"))
        lost = replace(verdict("j"), label=None, error="judge_failed")
        not_asked = replace(verdict("j", question="q2"), label=None, error="no_passages")
        write_evaluation(run, "j", wrong, [lost, not_asked], [score("j")])

        assert change_since_labelled(run, "j", right).settings == ()
        write_evaluation(run, "j", right, [verdict("j")], [score("j")])
        assert run.judges()["j"] == right
        assert run.verdicts() == [not_asked, verdict("j")]
        assert change_since_labelled(run, "j", wrong).itself

    def test_many_changes_are_counted(self, tmp_path: Path) -> None:
        """Four settings are named, without values as long as a hash; the others are counted."""
        run = Run(tmp_path)
        before = {"prompts": dict.fromkeys("abcdef", "0" * 64)}
        write_evaluation(run, "j", before, [verdict("j")], [])
        changed = change_since_labelled(run, "j", {"prompts": dict.fromkeys("abcdef", "1" * 64)})

        assert str(changed) == "prompts.a; prompts.b; prompts.c; prompts.d; and 2 more"


class TestMergedVerdicts:
    """Lost labels never replace existing ones, and labels on different claims are never mixed."""

    @staticmethod
    def rows(check: str, *texts: str, error: str | None = None) -> list[Verdict]:
        """Return a row for each text, or the one row of a failed check."""
        if error:
            return [Verdict("j", "q1", 0, check, -1, error=error)]
        return [Verdict("j", "q1", 0, check, n, text=text) for n, text in enumerate(texts)]

    @pytest.mark.parametrize("error", ["budget", "judge_failed", "judge_unparsable"])
    def test_na_does_not_replace(self, error: str) -> None:
        """A lost label leaves the earlier rows; a label, also `no_passages`, replaces them."""
        before = self.rows("passage_useful", "a")
        for now in (
            self.rows("passage_useful", error="no_passages"),
            [replace(before[0], text="b")],
        ):
            assert merge_verdicts(before, now) == now
        assert merge_verdicts(before, self.rows("passage_useful", error=error)) == before
        assert merge_verdicts([], self.rows("passage_useful", error=error))[0].error == error

    def test_the_rows_with_more_labels_are_kept(self) -> None:
        """Two labels of three are kept against one, and replaced by three."""
        three = self.rows("passage_useful", "a", "b", "c")
        two = [*three[:2], replace(three[2], error="budget")]
        one = [three[0], *(replace(row, error="budget") for row in three[1:])]

        assert merge_verdicts(two, one) == two
        assert merge_verdicts(two, three) == three

    def test_a_lost_row_keeps_its_earlier_label(self) -> None:
        """Row by row: as many labels are lost as are new, and all of them are kept."""
        rows = [replace(row, label=1) for row in self.rows("response_in_context", "a", "b")]
        lost = [replace(row, label=None, error="judge_incomplete") for row in rows]

        assert merge_verdicts([rows[0], lost[1]], [lost[0], rows[1]]) == rows
        assert merge_verdicts([lost[0], rows[1]], lost) == [lost[0], rows[1]]
        other = replace(lost[0], text="x")
        assert merge_verdicts([rows[0], lost[1]], [other, rows[1]]) == [other, rows[1]]

    def test_a_similarity_does_not_give_way_to_a_zero_vector(self) -> None:
        """A damaged vector loses the similarity; a failed judge loses the label besides."""
        whole = Verdict("j", "q1", 0, "reverse_question", 0, text="a?", label=0, similarity=0.9)
        zero = replace(whole, text="b?", similarity=None, error="zero_vector")
        failed = replace(whole, text=None, label=None, similarity=None, error="judge_failed")

        assert merge_verdicts([whole], [zero]) == [whole]
        assert merge_verdicts([whole], [failed]) == [whole]
        assert merge_verdicts([zero], [failed]) == [zero]
        assert merge_verdicts([zero], [whole]) == [whole]

    def test_claims_that_differ(self) -> None:
        """New claims replace the old ones with all labels on them, or not at all."""
        old = [*self.rows("claims_response", "a"), *self.rows("response_in_context", "a")]
        claims = self.rows("claims_response", "x", "y")
        whole = [*claims, *self.rows("response_in_context", "x", "y")]
        broken = [*claims, *self.rows("response_in_context", error="budget")]
        beside = [*claims, *self.rows("response_in_reference", "x", "y")]

        assert merge_verdicts(old, whole) == whole
        assert merge_verdicts(old, broken) == old
        (kept, withheld) = merge_verdicts(old, beside)
        assert kept == old[0]
        assert (withheld.check, withheld.error) == ("response_in_reference", "judge_incomplete")

    def test_scores_follow(self, tmp_path: Path) -> None:
        """Scores are computed from the merged rows, not from the new ones."""
        run = Run(tmp_path)
        write_evaluation(run, "j", {}, self.rows("passage_useful", "a"), [score("j")])
        seen: list[list[Verdict]] = []

        def scores(merged: Sequence[Verdict]) -> list[Score]:
            seen.append(list(merged))
            return [score("j", value=0.25)]

        write_evaluation(run, "j", {}, self.rows("passage_useful", error="budget"), scores)

        assert seen == [self.rows("passage_useful", "a")] == [run.verdicts()]
        assert run.scores() == [score("j", value=0.25)]


def test_custom_checks_of_two_evaluations_are_merged(tmp_path: Path) -> None:
    """Two simultaneous evaluations, each with a custom check, both record its wording."""
    run = Run(tmp_path)
    one, two = ({"rules": 1, "own": {name: {"question": name}}} for name in ("kind", "brief"))
    write_evaluation(run, "j", one, [verdict("j", check="kind")], [])
    write_evaluation(run, "j", two, [verdict("j", check="brief")], [])

    assert set(run.judges()["j"]["own"]) == {"kind", "brief"}
    with pytest.raises(RunError, match=r"kind\.question"):
        write_evaluation(run, "j", {"rules": 1, "own": {"kind": {"question": "other"}}}, [], [])


def test_a_zero_vector_never_replaces_a_similarity() -> None:
    """A similarity that there is stays where the embedder gives none now."""
    before = replace(verdict(check="reverse_question"), similarity=0.8)
    now = replace(before, similarity=None, error=Status.ZERO_VECTOR)

    assert merge_verdicts([before], [now]) == [before]
    assert merge_verdicts([now], [before]) == [before]
