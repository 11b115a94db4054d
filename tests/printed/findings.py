"""The numbers and questions of findings.json, worked out again."""

import math
from collections.abc import Callable
from typing import Any

from scipy.stats import binomtest

from tests.printed import statistics as s
from tests.printed.expected import Difference, Expected, Number, corners_of
from tests.printed.facts import RIGHT, as_array

Finding = dict[str, Any]
Numbers = dict[str, Number]


def row_of(finding: Finding, found: Expected) -> Difference:
    """Return the difference that a finding is about, having checked its factor and values."""
    left, right = finding["contrast"]["left"], finding["contrast"]["right"]
    [(factor, values)] = found.facts.differing(left, right).items()
    names = finding["names"]
    assert (finding["factor"], names["left_value"], names["right_value"]) == (
        factor,
        *map(str, values),
    )
    return found.difference(left, right, finding["metric"] or RIGHT)


def of_change(finding: Finding, found: Expected) -> Numbers:
    """The verdict on a change of a factor, over all its pairs of runs."""
    names = finding["names"]
    change = finding["factor"], names["left_value"], names["right_value"]
    row = found.effect(change, finding["metric"])
    won, ties, lost = (row.questions(sign) for sign in (1, 0, -1))
    assert finding["contrast"] is None
    assert finding["kind"] == row.verdict
    assert (finding["groups"]["won"], finding["groups"]["lost"]) == (won, lost)
    return {
        **{"mean": row.change, "low": row.interval[0], "high": row.interval[1]},
        **{"p": row.p, "p_adjusted": row.claim.adjusted, "q": row.claim.q},
        **{"questions": len(row.paired), "wins": len(won), "ties": len(ties)},
        "losses": len(lost),
    }


def turned(finding: Finding, found: Expected) -> tuple[list[str], list[str]]:
    """Return which answers turned right and wrong: in every repeat."""
    one, other = (found.facts.right.loc[run] for run in finding["contrast"].values())
    return tuple(  # type: ignore[return-value]
        [str(q) for q in one.index if (one[q], other[q]) == way] for way in ((0, 1), (1, 0))
    )


def answers_changed(finding: Finding, found: Expected) -> Numbers:
    """Which answers turned, of how many, and McNemar's exact p where each question is 0 or 1."""
    row = row_of(finding, found)
    won, ties, lost = (row.questions(sign) for sign in (1, 0, -1))
    gained, gone = turned(finding, found)
    partly = [q for q in (*won, *lost) if q not in (*gained, *gone)]
    assert finding["groups"] == {"gained": gained, "lost": gone, "partly": partly}
    changed = len(won) + len(lost)
    return {
        **{"mean": row.change, "gained": len(gained), "lost": len(gone), "ties": len(ties)},
        **{"discordant": changed, "questions": len(row.paired)},
        "p": s.mcnemar_p(as_array(row.paired)) if row.whole else row.p,
        "p_floor": 2.0 ** (1 - changed) if row.whole else row.floor,
    }


def credit(finding: Finding, found: Expected) -> Numbers:
    """How many contrasts make a change, which questions turned in every one, and by chance."""
    names = finding["names"]
    lines = {
        (change, way): found.turned_by(change, way)
        for change, pairs in found.pairs_by_change.items()
        for way in ("won", "lost")
        if len(pairs) > 1
    }
    adjusted = dict(zip(lines, s.holm([line.p for line in lines.values()]), strict=True))
    values = names["left_value"], names["right_value"]
    own = ((finding["factor"], *values), names["direction"])
    assert finding["questions"] == lines[own].questions
    assert finding["kind"] == ("credit" if adjusted[own] <= s.ALPHA else "turned_in_every_contrast")
    return {
        "contrasts": len(found.pairs_by_change[own[0]]),
        "expected": lines[own].expected,
        "p": lines[own].p,
        "p_adjusted": adjusted[own],
    }


def by_construction(finding: Finding, found: Expected) -> Numbers:
    left, right = finding["contrast"].values()
    assert row_of(finding, found)
    gained, lost = turned(finding, found)
    assert finding["groups"] == {"gained": gained, "lost": lost}
    assert found.attribution(left, right) == "generation"
    return {"same": found.facts.passage_changes(left, right)["same"]}


def repeats_identical(finding: Finding, found: Expected) -> Numbers:
    rows = found.facts.responses
    texts = rows[rows["run"] == finding["run"]].groupby("question_id")["response"]
    assert (texts.nunique(dropna=False) == 1).all()
    return {"repeats": int(texts.size().max()), "questions": int((texts.size() > 1).sum())}


def no_effect(finding: Finding, found: Expected) -> Numbers:
    left, right = finding["contrast"].values()
    assert found.attribution(left, right) == "no_effect_possible"
    return {"questions": found.facts.passage_changes(left, right).total()}


def interaction(finding: Finding, found: Expected) -> Numbers:
    n = finding["names"]
    corners = corners_of(
        found,
        f"{finding['factor']} {n['left_value']} -> {n['right_value']}",
        f"{n['second_factor']} {n['second_left_value']} -> {n['second_right_value']}",
    )
    effect = found.square(corners, finding["metric"])
    low, high = found.square_interval(finding["metric"], effect)
    array = as_array(effect)
    p, floor = s.sign_flip_p(array), s.least_p(len(array))
    mean = s.mean(array)
    return {"mean": mean, "low": low, "high": high, "questions": len(array), "p": p,
            "p_floor": floor}  # fmt: skip


def informative(finding: Finding, found: Expected) -> Numbers:
    kinds = found.facts.kinds_of_question()
    assert finding["questions"] == kinds["informative"]
    known = sum(len(questions) for kind, questions in kinds.items() if kind != "unknown")
    return {"informative": len(kinds["informative"]), "questions": known}


def always(finding: Finding, found: Expected) -> Numbers:
    assert finding["questions"] == found.facts.kinds_of_question()[finding["kind"]]
    return {"runs": len(found.facts.runs)}


def against_right(finding: Finding, found: Expected) -> Numbers:
    """A metric against right and wrong."""
    trust = found.trust[finding["metric"]]
    assert finding["names"]["graded_by"] == found.graded_by
    numbers: Numbers = {
        **{"auc": trust.auc, "low": trust.interval[0], "high": trust.interval[1]},
        **{"within": trust.within.share, "within_p": trust.within.p},
        **{"within_pairs": trust.within.pairs, "within_questions": trust.within.questions},
        **{"gap": trust.gap, "right": len(trust.good), "wrong": len(trust.bad)},
        "questions": trust.questions,
    }
    return {name: numbers[name] for name in finding["numbers"]}


def deeper_rank(finding: Finding, found: Expected) -> Numbers:
    """Questions whose first useful passage is below a rank that other runs retrieve."""
    run, k = finding["run"], finding["numbers"]["k"]
    first = found.facts.first_useful[run]
    assert finding["questions"] == [q for q, rank in first.items() if rank and rank > k]
    assert k in set(found.facts.responses["k_requested"])
    return {"k": k, "k_returned": len(found.hits(run))}


def saturated(finding: Finding, found: Expected) -> Numbers:
    return dict(
        zip(("k_returned", "corpus_size", "share"), found.returned(finding["run"]), strict=True)
    )


def k_not_reached(finding: Finding, found: Expected) -> Numbers:
    rows = found.facts.responses
    own = rows[(rows["run"] == finding["run"]) & ~rows["failed"]]
    short = own[own["k_returned"] < own["k_requested"]]
    return {
        "k_requested": own["k_requested"].max(),
        "k_returned": float(short["k_returned"].min()),
        "corpus_size": own["corpus_size"].max(),
        "questions": short["question_id"].nunique(),
    }


def system_errors(finding: Finding, found: Expected) -> Numbers:
    failed = found.facts.failures.loc[finding["run"]].fillna(value=False)
    assert finding["questions"] == list(failed.index[failed])
    return {"errors": int(failed.sum()), "asked": asked(finding, found)}


def asked(finding: Finding, found: Expected) -> int:
    return int(found.facts.asked.loc[finding["run"]].sum())


def partial_run(finding: Finding, found: Expected) -> Numbers:
    return {"asked": asked(finding, found), "questions": len(found.facts.questions)}


def missing_scores(finding: Finding, found: Expected) -> Numbers:
    status = finding["names"]["status"]
    missing = [found.facts.missing(finding["metric"], run)[status] for run in found.facts.runs]
    return {"missing": sum(missing), "cells": int(found.facts.asked.sum(axis=None))}


def not_at_random(finding: Finding, found: Expected) -> Numbers:
    row = row_of(finding, found)
    one, other, both = row.dropped
    same = [found.difference(c.left, c.right, row.measure) for c in found.facts.contrasts]
    others = sum(each.hangs == row.hangs for each in same if tilted(each)) - 1
    return {
        **{"left_missing": one + both, "right_missing": other + both},
        **{"compared": len(row.paired), "mean": row.change},
        **{"worst": row.bounds[0], "best": row.bounds[1]},
        **{"flips": int(row.hangs), "others": others},
    }


def tilted(row: Difference) -> bool:
    """Say whether NA cells fall unevenly, or the sign depends on enough of them."""
    one, other, _ = row.dropped
    uneven = one + other
    if not uneven or not len(row.paired):
        return False
    if row.verdict in ("no_effect_possible", "identical_by_construction"):
        return False
    hangs = row.hangs and uneven >= 0.1 * (uneven + len(row.paired))
    return bool(binomtest(one, uneven).pvalue <= 0.05 or hangs)


def quantised(finding: Finding, found: Expected) -> Numbers:
    """Scores that rest on at most three claims or passages; the least of the runs' medians."""
    values, units = (
        found.facts.values(finding["metric"]),
        found.facts.units(finding["metric"]),
    )
    units = units.where(values.notna())
    return {
        "coarse": int((units <= 3).sum(axis=None)),
        "cells": int(values.notna().sum(axis=None)),
        "units": float(units.median(axis=1).min()),
    }


def one_cell(finding: Finding, found: Expected) -> Numbers:
    metric, run, [question] = finding["metric"], finding["run"], finding["questions"]
    assert found.facts.right.loc[run, question] == 1
    value = found.facts.values(metric).loc[run, question]
    return {"value": value, "units": found.facts.units(metric).loc[run, question]}


def refused(finding: Finding, found: Expected) -> Numbers:
    return {"refused": len(finding["questions"])}


def answered_unanswerable(finding: Finding, found: Expected) -> Numbers:
    without = [q for q, row in found.facts.questions.items() if not row.get("answerable", True)]
    return {"answered": len(finding["questions"]), "unanswerable": len(without)}


def refusals(finding: Finding, found: Expected) -> Numbers:
    """How many of the refused questions have an answer in the corpus."""
    rows = found.facts.questions
    wrong = [q for q in finding["questions"] if rows[q].get("answerable", True)]
    assert finding["groups"]["wrong"] == wrong
    return {
        "correct_count": len(finding["questions"]) - len(wrong),
        "wrong_count": len(wrong),
    }


def mean_without_refusals(finding: Finding, found: Expected) -> Numbers:
    scores = found.facts.values(finding["metric"]).loc[finding["run"]].dropna()
    kept = scores.drop(finding["questions"])
    return {
        "mean": float(scores.mean()),
        "scored": len(scores),
        "without": float(kept.mean()) if len(kept) else None,
        "scored_without": len(kept),
    }


def refusals_recognised(finding: Finding, found: Expected) -> Numbers:
    return {"decided": int(found.facts.responses["response"].notna().sum()), "judged": 0}


def suspect_verdicts(finding: Finding, found: Expected) -> Numbers:
    """Claims that are word for word in a passage of the answer and are not entailed."""
    run, texts = finding["run"], found.facts.responses
    rows = found.facts.table("verdicts")
    rows = rows[(rows["run"] == run) & rows["label"].isin([0, -1])]
    count = 0
    for row in rows.itertuples():
        own = texts[(texts["run"] == run) & (texts["question_id"] == row.question_id)]
        passages = [p["text"] for p in own[own["repeat"] == row.repeat]["passages"].iloc[0]]
        count += any(row.text in text for text in passages)
    return {"verbatim": count, "duplicates": 0, "reasons": 0, "references": 0}


def nothing_beyond(finding: Finding, found: Expected) -> Numbers:
    rows = found.primaries
    assert not {"better", "worse"} & {found.effect(*key).verdict for key in found.claims}
    smallest = min(row.claim.adjusted for row in rows if row.claim.adjusted is not None)
    return {"primary": len(rows), "smallest_adjusted": smallest}


def nothing_possible(finding: Finding, found: Expected) -> Numbers:
    """The least p that any primary test could reach: with the questions that changed, one way."""
    changed = [int(row.paired.astype(bool).sum()) for row in found.primaries]
    smallest = min(1.0, 2.0 ** (1 - max(changed)))
    assert smallest > s.ALPHA
    return {"primary": len(changed), "smallest_p": smallest, "alpha": s.ALPHA}


def without_numbers(finding: Finding, found: Expected) -> Numbers:
    """Its only number is how many runs are missing; its words name them."""
    words = finding["groups"].get("words", [])
    return {"missing": len(words)} if "missing" in finding["numbers"] else {}


VERDICTS = ("better", "worse", "suggested", "cannot_tell")
"""What is found of a change of a factor."""

FINDINGS: dict[str, Callable[[Finding, Expected], Numbers]] = {
    **dict.fromkeys(VERDICTS, of_change),
    "answers_changed": answers_changed,
    **dict.fromkeys(("credit", "turned_in_every_contrast"), credit),
    "repeats_identical": repeats_identical,
    "generation_by_construction": by_construction,
    "no_effect_possible": no_effect,
    "interaction": interaction,
    "informative": informative,
    **dict.fromkeys(("always_right", "always_wrong"), always),
    **dict.fromkeys(("metric_trusted", "metric_not_trusted", "too_few_grades"), against_right),
    "deeper_rank": deeper_rank,
    "saturated": saturated,
    "k_not_reached": k_not_reached,
    "system_errors": system_errors,
    "partial_run": partial_run,
    "missing_scores": missing_scores,
    "missing_not_at_random": not_at_random,
    "quantised": quantised,
    "one_cell": one_cell,
    "refused_despite_evidence": refused,
    "answered_unanswerable": answered_unanswerable,
    "refusals": refusals,
    "mean_without_refusals": mean_without_refusals,
    "refusals_recognised": refusals_recognised,
    "suspect_verdicts": suspect_verdicts,
    "nothing_beyond_chance": nothing_beyond,
    "nothing_can_be_significant": nothing_possible,
    **dict.fromkeys(("missing_corner", "judge_of_same_family", "facts_left_out"), without_numbers),
}
"""Kind -> what works out its numbers."""


def check_finding(finding: Finding, found: Expected) -> int:
    """Raise where a finding holds another number than the files give; return how many it holds."""
    expected = FINDINGS[finding["kind"]](finding, found)
    assert set(finding["numbers"]) == set(expected), finding
    for name, value in finding["numbers"].items():
        other = expected[name]
        if value is None or other is None:
            assert value is None, (finding, name, other)
            assert other is None or math.isnan(other), (finding, name, other)
        else:
            assert math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9), (finding, name, other)
    return len(expected)
