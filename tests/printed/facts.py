"""A study read from its files alone: Parquet, JSON and people's grades, joined with pandas."""

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RIGHT = "right"
UNTESTED = {"seconds", "passages_returned", "retrieval_seconds", "generation_seconds"}


@dataclass(frozen=True)
class Metric:
    """What is known of a metric beforehand."""

    title: str
    layer: str
    higher_is_better: bool | None = True
    bounded: bool = True


METRICS = {
    RIGHT: Metric("share right", "overall"),
    "context_precision": Metric("context precision", "retrieval"),
    "context_recall": Metric("context recall", "retrieval"),
    "faithfulness": Metric("faithfulness", "generation"),
    "answer_relevancy": Metric("answer relevancy", "generation"),
    "answer_match": Metric("answer match", "overall"),
    "hallucination": Metric("hallucination", "generation", False),
    "seconds": Metric("seconds", "cost", False, False),
    "input_tokens": Metric("input tokens", "cost", False, False),
    "passages_returned": Metric("passages returned", "cost", None, False),
    "gold_recall": Metric("gold recall", "retrieval"),
    "gold_precision": Metric("gold precision", "retrieval"),
    "gold_mrr": Metric("gold MRR", "retrieval"),
    "gold_ndcg": Metric("gold nDCG", "retrieval"),
}
BY_TITLE = {metric.title: name for name, metric in METRICS.items()}


def natural(name: str) -> list[object]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Contrast:
    """Two runs that differ in one factor, and its values."""

    left: str
    right: str
    factor: str
    values: tuple[str, str]


@dataclass(frozen=True)
class Facts:
    """Everything that a report rests on. Tables are (runs, questions), nan where NA."""

    folder: Path
    judge: str
    grades_file: Path

    @cached_property
    def said(self) -> dict[str, dict[str, Any]]:
        """Run -> its run.json."""
        files = sorted(self.folder.glob("*/run.json"))
        return {file.parent.name: json.loads(file.read_text("utf-8")) for file in files}

    @cached_property
    def runs(self) -> list[str]:
        return list(self.said)

    @cached_property
    def questions(self) -> dict[str, dict[str, Any]]:
        """Question id -> the question, in natural order."""
        found: dict[str, dict[str, Any]] = {}
        for run in self.runs:
            text = (self.folder / run / "questions.jsonl").read_text("utf-8")
            found |= {row["id"]: row for row in map(json.loads, text.splitlines())}
        return dict(sorted(found.items(), key=lambda item: natural(item[0])))

    @cache  # noqa: B019
    def table(self, name: str) -> pd.DataFrame:
        """Return one table of all runs, with the run as a column."""
        frames = []
        for run in self.runs:
            frame = pd.read_parquet(self.folder / run / f"{name}.parquet")
            frames.append(frame.assign(run=run))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def responses(self) -> pd.DataFrame:
        rows = self.table("responses")
        return rows.assign(failed=rows["response"].isna())

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The judge's scores and those that need none, and those by gold evidence."""
        rows = self.table("scores")
        rows = rows[rows["judge"].isna() | (rows["judge"] == self.judge)]
        return pd.concat([rows, self.gold], ignore_index=True) if len(self.gold) else rows

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that are scored, right and wrong not among them."""
        return [name for name in METRICS if name in set(self.scores["metric"])]

    @cached_property
    def measures(self) -> list[str]:
        """What is compared: right and wrong, and every metric."""
        return [RIGHT, *self.metrics] if self.right.notna().any(axis=None) else self.metrics

    def arranged(self, rows: pd.Series) -> pd.DataFrame:
        """Return values keyed by run and question as a table of all of them."""
        return rows.unstack().reindex(index=self.runs, columns=list(self.questions))

    @cache  # noqa: B019 - a study is read once a test run
    def values(self, measure: str) -> pd.DataFrame:
        """Return one measure's table: the mean over the repeats that were scored."""
        if measure == RIGHT:
            return self.right
        rows = self.scores[self.scores["metric"] == measure]
        return self.arranged(rows.groupby(["run", "question_id"])["value"].mean().round(12))

    @cache  # noqa: B019
    def units(self, metric: str) -> pd.DataFrame:
        """Return on how many claims or passages each score rests, the fewest of its repeats."""
        rows = self.scores[self.scores["metric"] == metric]
        return self.arranged(rows.groupby(["run", "question_id"])["units"].min().astype(float))

    @cache  # noqa: B019
    def binary(self, measure: str) -> bool:
        """Say whether each single score is 0 or 1."""
        rows = self.scores[self.scores["metric"] == measure]["value"].dropna()
        return measure == RIGHT or bool(rows.isin([0.0, 1.0]).all())

    @cache  # noqa: B019
    def missing(self, metric: str, run: str) -> Counter[str]:
        """Return why a metric is NA in a run: reason -> questions, the first repeat's reason."""
        rows = self.scores[(self.scores["metric"] == metric) & (self.scores["run"] == run)]
        reasons: Counter[str] = Counter()
        for question, value in self.values(metric).loc[run].items():
            if math.isnan(value):
                own = rows[rows["question_id"] == question].sort_values("repeat")
                reasons[own["status"].iloc[0] if len(own) else "not_asked"] += 1
        return reasons

    # ------------------------------------------------------------------ right and wrong

    @cached_property
    def people(self) -> dict[tuple[str, str], int | None]:
        """(question, hash of the answer) -> what the one grader said: 1, 0, or None (unclear)."""
        if not self.grades_file.exists():
            return {}
        rows = map(json.loads, self.grades_file.read_text("utf-8").splitlines())
        return {(row["question_id"], row["response_sha256"]): row["grade"] for row in rows}

    @cached_property
    def judged(self) -> pd.DataFrame:
        """Each answer with `right` and `origin`: a person's word, else the rule's; a failure is
        wrong."""
        matches = self.scores[self.scores["metric"] == "answer_match"]
        rule = matches.set_index(["run", "question_id", "repeat"])["value"].to_dict()
        found = []
        for row in self.responses.itertuples():
            key = row.run, row.question_id, row.repeat
            if row.failed:
                right, origin = 0.0, "error"
            elif (about := (row.question_id, sha256(row.response))) in self.people:
                right = math.nan if self.people[about] is None else float(self.people[about])
                origin = "" if math.isnan(right) else "grade"
            else:
                right, origin = rule.get(key, math.nan), "answer_match"
                origin = "" if math.isnan(right) else origin
            found.append((*key, right, origin))
        return pd.DataFrame(found, columns=["run", "question_id", "repeat", "right", "origin"])

    @cached_property
    def right(self) -> pd.DataFrame:
        """Right 1, wrong 0, a share over repeats."""
        return self.arranged(self.judged.groupby(["run", "question_id"])["right"].mean())

    @cached_property
    def origin(self) -> pd.DataFrame:
        """Who says so: people before `answer_match` before a failure."""
        order = ["", "error", "answer_match", "grade"]
        best = self.judged.groupby(["run", "question_id"])["origin"].agg(
            lambda names: max(names, key=order.index)
        )
        return self.arranged(best).fillna("")

    @cached_property
    def looked_at(self) -> pd.DataFrame:
        """Whether a person looked at every answer that a run gave to a question."""
        rows = self.responses[~self.responses["failed"]]
        texts = zip(rows["question_id"], map(sha256, rows["response"]), strict=True)
        known = pd.Series([about in self.people for about in texts], rows.index)
        whole = known.groupby([rows["run"], rows["question_id"]]).all()
        return self.arranged(whole).fillna(False).astype(bool)

    @cached_property
    def failures(self) -> pd.DataFrame:
        """Whether the system failed on a question, in any repeat."""
        return self.arranged(self.responses.groupby(["run", "question_id"])["failed"].any())

    @cached_property
    def asked(self) -> pd.DataFrame:
        """Whether a run was asked a question."""
        counts = self.responses.groupby(["run", "question_id"]).size()
        return self.arranged(counts).fillna(0) > 0

    def kinds_of_question(self) -> dict[str, list[str]]:
        """Return informative, always_right, always_wrong, partly_right, unknown -> questions."""
        found: dict[str, list[str]] = {
            name: []
            for name in ("informative", "always_right", "always_wrong", "partly_right", "unknown")
        }
        for question, column in self.right.items():
            known = column.dropna()
            if len(known) < 2:
                kind = "unknown"
            elif (known.min(), known.max()) == (0, 1):
                kind = "informative"
            elif known.min() == 1:
                kind = "always_right"
            else:
                kind = "partly_right" if known.max() else "always_wrong"
            found.setdefault(kind, []).append(str(question))
        return found

    # ------------------------------------------------------------------ factors

    def settings(self, run: str) -> dict[str, Any]:
        """Return a run's factors: choices, and leaves as (owner, value)."""
        factors = self.said[run]["factors"]
        off = set(factors["inactive"])

        def acts(name: str) -> bool:
            heads = [name[: at.start()] for at in re.finditer(r"\.", name)] + [name]
            return not off & set(heads)

        return {
            "choices": {k: v for k, v in factors["choices"].items() if acts(k)},
            "leaves": {k: v for k, v in factors["leaves"].items() if acts(k)},
        }

    @cache  # noqa: B019
    def differing(self, left: str, right: str) -> dict[str, tuple[Any, Any]]:
        """Return factor -> values, for all that differs: a whole choice is one factor."""
        one, other = self.settings(left), self.settings(right)
        off = set(self.said[left]["factors"]["inactive"]) | set(
            self.said[right]["factors"]["inactive"]
        )

        def changed(kind: str) -> dict[str, tuple[Any, Any]]:
            names = one[kind].keys() | other[kind].keys()
            names = {n for n in names if not any(n == o or n.startswith(f"{o}.") for o in off)}
            pairs = {n: (one[kind].get(n), other[kind].get(n)) for n in names}
            return {n: pair for n, pair in pairs.items() if pair[0] != pair[1]}

        groups = changed("choices")
        leaves = {
            name: pair
            for name, pair in changed("leaves").items()
            if not any(name.startswith(f"{group}.") for group in groups)
        }
        return groups | leaves

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Every pair of runs that differ in one factor; which is left does not matter here."""
        found = []
        for left, right in combinations(self.runs, 2):
            changes = self.differing(left, right)
            if len(changes) == 1:
                [(factor, values)] = changes.items()
                found.append(Contrast(left, right, factor, (str(values[0]), str(values[1]))))
        return found

    @cached_property
    def factor_values(self) -> set[str]:
        """Every value of a setting, as text: numbers that are names of settings, not results."""
        return {
            str(value)
            for run in self.runs
            for kind in self.settings(run).values()
            for value in kind.values()
        }

    # ------------------------------------------------------------------ passages

    @cached_property
    def passages(self) -> dict[tuple[str, str], tuple[tuple[str, ...], ...] | None]:
        """(run, question) -> the texts that each repeat was given; None where one failed."""
        found = {}
        for key, rows in self.responses.groupby(["run", "question_id"]):
            lists = tuple(tuple(p["text"] for p in own) for own in rows["passages"])
            known = not rows["failed"].any() and all(lists)
            found[key] = (lists[:1] if len(set(lists)) == 1 else lists) if known else None
        return found

    def passage_change(self, left: str, right: str, question: str) -> str:
        """Return what became of a question's passages: same, reordered, changed, unknown."""
        one, other = self.passages.get((left, question)), self.passages.get((right, question))
        if one is None or other is None:
            return "unknown"
        if one == other:
            return "same"
        alike = [sorted(texts) for texts in one] == [sorted(texts) for texts in other]
        return "reordered" if alike else "changed"

    @cache  # noqa: B019
    def passage_changes(self, left: str, right: str) -> Counter[str]:
        """Return what became of the passages: kind -> questions that both were asked."""
        both = self.asked.loc[left] & self.asked.loc[right]
        return Counter(self.passage_change(left, right, str(q)) for q in both.index[both])

    @cached_property
    def texts(self) -> dict[tuple[str, str], tuple[str, ...] | None]:
        """(run, question) -> what was answered; None where a repeat failed."""
        found = {}
        for key, rows in self.responses.groupby(["run", "question_id"]):
            texts = tuple(rows["response"])
            found[key] = (
                None if rows["failed"].any() else texts[:1] if len(set(texts)) == 1 else texts
            )
        return found

    # ------------------------------------------------------------------ gold evidence

    @cached_property
    def gold(self) -> pd.DataFrame:
        """Recall, precision, reciprocal rank and nDCG by the evidence that the test set names."""
        if not any(question.get("evidence") for question in self.questions.values()):
            return pd.DataFrame()
        rows = []
        for row in self.responses.itertuples():
            places = self.places(row.question_id)
            status = "not_answered" if places else "no_evidence"
            found = rank_scores(row, places) if places and not row.failed else None
            for name in ("gold_recall", "gold_precision", "gold_mrr", "gold_ndcg"):
                value = found[name] if found else math.nan
                told = "ok" if found else status
                rows.append((row.run, row.question_id, row.repeat, name, value, len(places), told))
        columns = ["run", "question_id", "repeat", "metric", "value", "units", "status"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.assign(units=frame["units"].where(frame["units"] > 0), judge=None)

    def places(self, question: str) -> list[dict[str, Any]]:
        """Return the places of a question's evidence, each once."""
        found = self.questions[question].get("evidence", [])
        return [place for at, place in enumerate(found) if place not in found[:at]]

    @cached_property
    def first_useful(self) -> dict[str, dict[str, int | None]]:
        """Run -> question -> rank of the first passage that holds evidence, first repeat."""
        found: dict[str, dict[str, int | None]] = {run: {} for run in self.runs}
        for row in self.responses[self.responses["repeat"] == 0].itertuples():
            places = self.places(row.question_id)
            if places and not row.failed:
                ranks = [
                    n for n, p in enumerate(row.passages, 1) if any(holds(p, x) for x in places)
                ]
                found[row.run][row.question_id] = min(ranks, default=None)
        return found

    @cached_property
    def evidence_retrieved(self) -> dict[tuple[str, str], bool]:
        """(run, question) -> whether any repeat that did not fail got some of its evidence."""
        found: dict[tuple[str, str], bool] = {}
        for row in self.responses.itertuples():
            places = self.places(row.question_id)
            if places and not row.failed:
                held = any(holds(passage, place) for passage in row.passages for place in places)
                key = row.run, row.question_id
                found[key] = found.get(key, False) or held
        return found


def rank_scores(row: Any, places: list[dict[str, Any]]) -> dict[str, float]:
    """Return a ranked list's scores; a place takes the first free rank from its passage's on."""
    passages = list(row.passages)[: int(row.k_requested)]
    held = [[at for at, place in enumerate(places) if holds(p, place)] for p in passages]
    ranks: dict[int, int] = {}
    for rank, found in enumerate(held, 1):
        for place in found:
            if place not in ranks:
                ranks[place] = max(rank, max(ranks.values(), default=0) + 1)
    gains = list(ranks.values())
    ideal = sum(1 / math.log2(n + 1) for n in range(1, len(places) + 1))
    return {
        "gold_recall": len(gains) / len(places),
        "gold_precision": sum(1 for found in held if found) / max(1, len(held)),
        "gold_mrr": 1 / min(gains) if gains else 0.0,
        "gold_ndcg": sum(1 / math.log2(n + 1) for n in gains) / ideal,
    }


def holds(passage: dict[str, Any], place: dict[str, Any]) -> bool:
    """Say whether a passage holds a place of evidence: half of its quote's trigrams, or its id."""
    if bare(passage["document"]) != bare(place["document"]):
        return False
    if passage["page"] is not None and passage["page"] != place["page"]:
        return False
    if place.get("figure"):
        return str(passage["id"]) == place["figure"]
    wanted = trigrams(place["quote"])
    return len(wanted & trigrams(passage["text"])) * 2 >= len(wanted)


def bare(document: str) -> str:
    return document.removesuffix(".pdf")


def trigrams(text: str) -> set[str]:
    even = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    return {even[at : at + 3] for at in range(len(even) - 2)}


def deltas(left: pd.Series, right: pd.Series) -> pd.Series:
    """Return right less left, by the questions that both have scored."""
    return (right - left).dropna()


def as_array(series: pd.Series) -> np.ndarray:
    return series.to_numpy(dtype=float)
