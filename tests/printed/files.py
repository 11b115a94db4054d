"""The CSV tables, compared with the same numbers to the last digit."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from tests.printed import statistics as s
from tests.printed.expected import Difference, Expected, Number, corners_of
from tests.printed.facts import METRICS, as_array


def same(cell: Any, value: Number) -> bool:
    """Say whether a cell holds a number; an empty one holds none."""
    if value is None or math.isnan(value):
        return bool(pd.isna(cell))
    return not pd.isna(cell) and math.isclose(float(cell), value, rel_tol=1e-9, abs_tol=1e-9)


def check_row(row: dict[str, Any], expected: dict[str, Number]) -> None:
    """Raise where a cell of a row is another number than it should be."""
    for column, value in expected.items():
        assert same(row[column], value), f"{column} of {row}: worked out {value}"


def right_wrong(row: dict[str, Any], found: Expected) -> None:
    check_row(row, {"right": found.facts.right.loc[row["run"], row["question"]]})


def means(row: dict[str, Any], found: Expected) -> None:
    metric, run = row["metric"], row["run"]
    mean, interval, n, of = found.mean_of(metric, run)
    common = found.common(metric)
    over = as_array(found.facts.values(metric).loc[run, common])
    told = found.corrected(metric, run) if row["layer"] in ("generation", "overall") else None
    check_row(row, {"mean": mean, "scored": n, "asked": of, "common": s.mean(over)})
    check_row(row, {"low": interval[0], "high": interval[1]})
    names = ("corrected", "corrected_low", "corrected_high")
    check_row(row, dict(zip(names, told or (None, None, None), strict=True)))
    if METRICS[metric].bounded:
        low, high = found.bounds_of(metric, run)
        ends = (high, low) if METRICS[metric].higher_is_better is False else (low, high)
        check_row(row, {"worst": ends[0], "best": ends[1]})
    assert json.loads(row["statuses"]) == dict(found.facts.missing(metric, run))
    assert json.loads(row["common_questions"]) == common


def trust(row: dict[str, Any], found: Expected) -> None:
    told = found.trust[row["metric"]]
    assert row["verdict"] == told.within.verdict.replace(" ", "_")
    check_row(
        row,
        {
            **{"mean_right": s.mean(told.good), "mean_wrong": s.mean(told.bad), "gap": told.gap},
            **{"right": len(told.good), "wrong": len(told.bad), "questions": told.questions},
            "mixed": told.mixed,
            **{"auc": told.auc, "within": told.within.share, "within_p": told.within.p},
            **{"within_pairs": told.within.pairs, "within_questions": told.within.questions},
            **{"low": told.interval[0], "high": told.interval[1]},
        },
    )


def contrasts(row: dict[str, Any], found: Expected) -> None:
    left, right = row["left"], row["right"]
    told = found.difference(left, right, row["metric"])
    difference(row, told)
    changes = found.facts.passage_changes(left, right)
    check_row(row, {kind: changes[kind] for kind in ("same", "reordered", "changed", "unknown")})
    assert row["attribution"] == found.attribution(left, right)
    if not pd.isna(row["mcnemar_p"]):
        assert told.whole
        p, changed = s.mcnemar_p(as_array(told.paired)), int(told.paired.astype(bool).sum())
        floor = min(1.0, 2.0 ** (1 - changed))
        check_row(row, {"mcnemar_p": p, "mcnemar_floor": floor, "discordant": changed})


def effects(row: dict[str, Any], found: Expected) -> None:
    change = row["factor"], str(row["left_value"]), str(row["right_value"])
    difference(row, found.effect(change, row["metric"]))
    assert row["acts_on"] == found.acts_on(change)
    assert list(map(tuple, json.loads(row["contrasts"]))) == found.pairs_by_change[change]


def difference(row: dict[str, Any], told: Difference) -> None:
    sides, claim = told.sides, told.claim
    won, ties, lost = (len(told.questions(sign)) for sign in (1, 0, -1))
    check_row(
        row,
        {
            **{"mean": told.change, "questions": len(told.paired)},
            **{"left_mean": s.mean(as_array(sides.left[told.paired.index]))},
            **{"right_mean": s.mean(as_array(sides.right[told.paired.index]))},
            **{"wins": won, "ties": ties, "losses": lost, "standard_error": told.error},
            **{"low": told.interval[0], "high": told.interval[1]},
            **{"p": told.p, "p_floor": told.floor, "p_adjusted": claim.adjusted, "q": claim.q},
            **{"detectable": told.detectable, "questions_needed": told.needed},
            **{"worst": told.bounds[0], "best": told.bounds[1]},
            "flips_with_missing": told.hangs,
        },
    )
    assert (row["family"], row["verdict"]) == (claim.family, told.verdict), row
    assert json.loads(row["won"]) == told.questions(1)
    assert json.loads(row["lost"]) == told.questions(-1)
    dropped = ("dropped_left", "dropped_right", "dropped_both")
    assert tuple(len(json.loads(row[name])) for name in dropped) == told.dropped


def curves(row: dict[str, Any], found: Expected, rows: pd.DataFrame) -> None:
    runs = rows[(rows["factor"] == row["factor"]) & (rows["metric"] == row["metric"])]["run"]
    told, n = found.sweep(list(runs), row["metric"])
    mean = told[list(runs).index(row["run"])]
    value = found.facts.said[row["run"]]["factors"]["leaves"][row["factor"]]
    check_row(row, {"value": value, "mean": mean, "questions": n})


def interactions(row: dict[str, Any], found: Expected) -> None:
    corners = json.loads(row["corners"])
    if row["status"] == "missing_run":
        assert None in corners
        return
    sides = [f"{row[f]} {row[f'{f}_left_value']} -> {row[f'{f}_right_value']}" for f in PAIR]
    assert corners == corners_of(found, *sides)
    effect = found.square(corners, row["metric"])
    low, high = found.square_interval(row["metric"], effect)
    array = as_array(effect)
    check_row(row, {"mean": s.mean(array), "questions": len(array), "p": s.sign_flip_p(array)})
    check_row(row, {"low": low, "high": high})


PAIR = ("first", "second")


def counterfactuals(row: dict[str, Any], found: Expected) -> None:
    if row["status"] != "ok":
        assert pd.isna(row["total"])
        return
    corners = [row[name] for name in ("left", "left_on_right", "right_on_left", "right")]
    names = ("total", "retrieval", "generation", "questions")
    check_row(row, dict(zip(names, found.split(corners, row["metric"]), strict=True)))


def corrected(row: dict[str, Any], found: Expected) -> None:
    """A change of a factor: equal answers, and the difference where all others are graded.

    Its interval is then that of right and wrong over all questions.
    """
    pairs, facts = json.loads(row["contrasts"]), found.facts
    failed = facts.origin == "error"
    deltas, asked, changed, known = [], [], [], []
    for left, right in pairs:
        both = facts.asked.loc[left] & facts.asked.loc[right]
        answers = [[facts.texts.get((run, q)) for q in both.index] for run in (left, right)]
        same = pd.Series(
            [one is not None and one == other for one, other in zip(*answers, strict=True)],
            both.index,
        )
        moved = both & ~same & ~(failed.loc[left] & failed.loc[right])
        sides = [facts.looked_at.loc[run] | failed.loc[run] for run in (left, right)]
        difference = facts.right.loc[right] - facts.right.loc[left]
        deltas.append(difference.where(moved, 0.0))
        asked.append(both)
        changed.append(moved)
        known.append(sides[0] & sides[1] | ~moved)
    total, moved = sum(asked), sum(changed) > 0
    questions = int((total > 0).sum())
    check_row(row, {"questions": questions, "changed": int(moved.sum())})
    values = (sum(deltas) / total)[total > 0]
    if not all(each.all() for each in known) or not moved.any():
        assert row["status"] == "ok" or pd.isna(row["mean"])
        return
    scored = values[values.notna()]
    if len(scored) == len(values):
        array = as_array(scored)
        gained, lost = array[array > 0].sum(), -array[array < 0].sum()
        low, high = s.gains_less_losses(gained, lost, len(array))
        mean = float(array.mean())
        check_row(row, {"mean": mean, "low": min(low, mean), "high": max(high, mean)})


FILES: dict[str, Callable[[dict[str, Any], Expected], None]] = {
    "right_wrong.csv": right_wrong,
    "means.csv": means,
    "trust.csv": trust,
    "effects.csv": effects,
    "contrasts.csv": contrasts,
    "interactions.csv": interactions,
    "counterfactuals.csv": counterfactuals,
    "corrected.csv": corrected,
}


def check_files(folder: Path, found: Expected) -> int:
    """Check every row of every table; return how many there are."""
    seen = 0
    for name, check in FILES.items():
        for row in table(folder / name).to_dict("records"):
            check(row, found)  # type: ignore[arg-type]
            seen += 1
    sweeps = table(folder / "curves.csv")
    for row in sweeps.to_dict("records"):
        curves(row, found, sweeps)  # type: ignore[arg-type]
        seen += 1
    return seen


def table(file: Path) -> pd.DataFrame:
    """Return a table as a spreadsheet's user reads it."""
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")
    return pd.read_csv(file)
