"""Each sentence of report.md: what numbers its slots must hold.

A sentence is read by the template that it was made from (`harness/render/words/en.yaml`); what
stands in its slots must be what the files say. One that fits no template listed here, or names
something that nothing here works out, fails.
"""

from collections.abc import Callable

from tests.printed import statistics as s
from tests.printed.expected import Difference, Expected
from tests.printed.facts import BY_TITLE, RIGHT, Contrast, as_array
from tests.printed.printed import WORDS, Number, Said, agrees, read, tokens
from tests.printed.tables import corners_of, crossed_runs

Numbers = dict[str, Number]


def ends(interval: s.Interval) -> Numbers:
    return {"low": interval[0], "high": interval[1]}


def of_contrast(said: Said, found: Expected) -> tuple[Contrast, str, str]:
    """Return the contrast that a sentence is about, its left run and its right run.

    It names it, or stands below the heading that does.
    """
    named = said.texts.get("change")
    change = read(named, "line change") if named else read(said.texts["heading"], "line contrast")
    assert change is not None, said
    left, right = change.texts["left"], change.texts["right"]
    [(factor, values)] = found.facts.differing(left, right).items()
    told = (str(values[0]), str(values[1]))
    assert change.texts["factor"] == factor
    assert (change.texts["left_value"], change.texts["right_value"]) == told
    return Contrast(left, right, factor, told), left, right


def row_of(said: Said, found: Expected) -> Difference:
    _, left, right = of_contrast(said, found)
    return found.difference(left, right, BY_TITLE[said.texts.get("metric", "share right")])


def of_test(said: Said, found: Expected) -> Numbers:
    """A claim beyond chance, with everything that it rests on."""
    row = row_of(said, found)
    won, ties, lost = (len(row.questions(sign)) for sign in (1, 0, -1))
    return {
        **ends(row.interval),
        **{"mean": row.change, "p": row.p, "p_adjusted": row.adjusted},
        **{"questions": len(row.paired), "wins": won, "ties": ties, "losses": lost},
    }


def answers_changed(said: Said, found: Expected) -> Numbers:
    """Which answers turned, of how many, and McNemar's exact p."""
    return turned(said, row_of(said, found))


def turned(said: Said, row: Difference) -> Numbers:
    assert said.names("gained") == row.questions(1), said
    assert said.names("lost") == row.questions(-1), said
    p = s.mcnemar_p(as_array(row.paired)) if row.whole else row.p
    changed = len(row.questions(1)) + len(row.questions(-1))
    return {"discordant": changed, "questions": len(row.paired), "p": p}


def credit(said: Said, found: Expected) -> Numbers:
    """How many contrasts make a change, and which questions turned in every one of them.

    A contrast that makes it backwards counts, with what turned the other way.
    """
    values = said.texts["left_value"], said.texts["right_value"]
    sign = 1 if " won " in text_of(said) else -1
    turned = [
        row.questions(way)
        for way, made in ((sign, values), (-sign, values[::-1]))
        for row in found.alike(Contrast("", "", said.texts["factor"], made))
    ]
    always = [question for question in turned[0] if all(question in one for one in turned)]
    assert said.names("questions") == always, said
    return {"contrasts": len(turned)}


def text_of(said: Said) -> str:
    return said.texts["whole"]


def by_construction(said: Said, found: Expected) -> Numbers:
    _, left, right = of_contrast(said, found)
    row = found.difference(left, right, RIGHT)
    assert said.names("gained") == row.questions(1)
    assert said.names("lost") == row.questions(-1)
    return {"same": found.facts.passage_changes(left, right)["same"]}


def no_effect(said: Said, found: Expected) -> Numbers:
    _, left, right = of_contrast(said, found)
    assert found.attribution(left, right) == "no_effect_possible"
    return {"questions": found.facts.passage_changes(left, right).total()}


def interaction(said: Said, found: Expected) -> Numbers:
    t = said.texts
    corners = corners_of(
        found,
        f"{t['factor']} {t['left_value']} -> {t['right_value']}",
        f"{t['second_factor']} {t['second_left_value']} -> {t['second_right_value']}",
    )
    effect = found.square(corners, BY_TITLE[t["metric"]])
    array = as_array(effect)
    interval = ends(found.square_interval(RIGHT, effect))
    return {"mean": s.mean(array), **interval, "questions": len(array), "p": s.sign_flip_p(array)}


def informative(said: Said, found: Expected) -> Numbers:
    kinds = found.facts.kinds_of_question()
    assert said.names("questions") == kinds["informative"]
    known = sum(len(kinds[k]) for k in ("informative", "always_right", "always_wrong"))
    return {"informative": len(kinds["informative"]), "questions": known, "known": known}


def always(kind: str) -> Callable[[Said, Expected], Numbers]:
    def check(said: Said, found: Expected) -> Numbers:
        assert said.names("questions") == found.facts.kinds_of_question()[kind], said
        return {"runs": len(found.facts.runs)}

    return check


def believed(said: Said, found: Expected) -> Numbers:
    """A metric against right and wrong."""
    told = found.trust[BY_TITLE[said.texts["metric"]]]
    assert said.texts.get("graded_by", "graders") == WORDS["origins"][found.graded_by]
    return {
        **{"auc": told.auc, **ends(told.interval), "gap": told.gap},
        **{"right": len(told.good), "wrong": len(told.bad), "questions": told.questions},
    }


def deeper_rank(said: Said, found: Expected) -> Numbers:
    """Questions whose first useful passage stands below a rank; for each run that is named."""
    k = int(said.numbers["k"])
    depths = set()
    for run in said.names("run"):
        first = found.facts.first_useful[run]
        assert said.names("questions") == [q for q, rank in first.items() if rank and rank > k]
        depths.add(len(found.hits(run)))
    assert k in set(found.facts.responses["k_requested"])
    [depth] = depths
    return {"k": k, "k_returned": depth}


def saturated(said: Said, found: Expected) -> Numbers:
    """Passages returned of the index, alike in each run that is named."""
    [told] = {found.returned(run) for run in said.names("run")}
    return {"k_returned": told[0], "corpus_size": told[1], "share": 100 * told[2]}


def k_not_reached(said: Said, found: Expected) -> Numbers:
    rows = found.facts.responses
    told = set()
    for run in said.names("run"):
        own = rows[(rows["run"] == run) & ~rows["failed"]]
        short = own[own["k_returned"] < own["k_requested"]]
        fewest = float(short["k_returned"].min())
        told.add((own["k_requested"].max(), fewest, own["corpus_size"].max(),
                  short["question_id"].nunique()))  # fmt: skip
    [numbers] = told
    return dict(
        zip(("k_requested", "k_returned", "corpus_size", "questions"), numbers, strict=True)
    )


def system_errors(said: Said, found: Expected) -> Numbers:
    [run] = said.names("run")
    failed = found.facts.failures.loc[run]
    asked = found.facts.asked.loc[run]
    if "questions" in said.texts:
        assert said.names("questions") == list(failed.index[failed.fillna(value=False)])
    return {"errors": int(failed.sum()), "asked": int(asked.sum())}


def partial_run(said: Said, found: Expected) -> Numbers:
    [run] = said.names("run")
    return {"asked": int(found.facts.asked.loc[run].sum()), "questions": len(found.facts.questions)}


def missing_scores(said: Said, found: Expected) -> Numbers:
    metric = BY_TITLE[said.texts["metric"]]
    status = next(k for k, v in WORDS["statuses"].items() if v == said.texts["status"])
    missing = [found.facts.missing(metric, run)[status] for run in found.facts.runs]
    return {"missing": sum(missing), "cells": int(found.facts.asked.sum(axis=None))}


def not_at_random(said: Said, found: Expected) -> Numbers:
    row = row_of(said, found)
    one, other, both = row.dropped
    flips = {row.measure: row.hangs}
    same = [
        found.difference(c.left, c.right, row.measure)
        for c in found.facts.contrasts
        if tilted(found.difference(c.left, c.right, row.measure))
    ]
    others = sum(r.hangs == flips[row.measure] for r in same) - 1
    return {
        **{"left_missing": one + both, "right_missing": other + both},
        **{"compared": len(row.paired), "mean": row.change},
        **{"worst": row.bounds[0], "best": row.bounds[1], "others": others},
    }


def tilted(row: Difference) -> bool:
    """Say whether NA cells fall unevenly, or the sign hangs on enough of them."""
    from scipy.stats import binomtest

    one, other, _ = row.dropped
    uneven = one + other
    if not uneven or not len(row.paired):
        return False
    if row.verdict in ("no effect possible", "identical by construction"):
        return False
    hangs = row.hangs and uneven >= 0.1 * (uneven + len(row.paired))
    return bool(binomtest(one, uneven).pvalue <= 0.05 or hangs)


def quantised(said: Said, found: Expected) -> Numbers:
    """Scores that rest on at most three claims or passages; the least of the runs' medians."""
    metric = BY_TITLE[said.texts["metric"]]
    values, units = found.facts.values(metric), found.facts.units(metric)
    units = units.where(values.notna())
    return {
        "coarse": int((units <= 3).sum(axis=None)),
        "cells": int(values.notna().sum(axis=None)),
        "units": float(units.median(axis=1).min()),
    }


def one_cell(said: Said, found: Expected) -> Numbers:
    metric, [run] = BY_TITLE[said.texts["metric"]], said.names("run")
    [question] = said.names("questions")
    assert found.facts.right.loc[run, question] == 1
    value = found.facts.values(metric).loc[run, question]
    return {"value": value, "units": found.facts.units(metric).loc[run, question]}


def refused(said: Said, found: Expected) -> Numbers:
    return {"refused": len(said.names("questions"))}


def answered_unanswerable(said: Said, found: Expected) -> Numbers:
    without = [q for q, row in found.facts.questions.items() if not row.get("answerable", True)]
    return {"answered": len(said.names("questions")), "unanswerable": len(without)}


def suspect_verdicts(said: Said, found: Expected) -> Numbers:
    """Claims that stand word for word in a passage of the answer and are not entailed."""
    [run] = said.names("run")
    rows = found.facts.table("verdicts")
    rows = rows[(rows["run"] == run) & rows["label"].isin([0, -1])]
    texts = found.facts.responses
    count = 0
    for row in rows.itertuples():
        own = texts[(texts["run"] == run) & (texts["question_id"] == row.question_id)]
        passages = [p["text"] for p in own[own["repeat"] == row.repeat]["passages"].iloc[0]]
        count += any(row.text in text for text in passages)
    return {"verbatim": count, "duplicates": 0}


def nothing_beyond(said: Said, found: Expected) -> Numbers:
    smallest = min(adjusted for _, adjusted in found.family.values())
    contrasts = len(found.facts.contrasts)
    return {"tests": found.tests, "contrasts": contrasts, "smallest_adjusted": smallest}


def nothing_possible(said: Said, found: Expected) -> Numbers:
    return {
        "tests": found.tests,
        "smallest_p": found.smallest_possible_p,
        "level": s.ALPHA / found.tests,
    }


def confounded(said: Said, found: Expected) -> Numbers:
    return {"factors": len(found.facts.differing(said.texts["left"], said.texts["right"]))}


def nothing(said: Said, found: Expected) -> Numbers:
    """It holds no number."""
    return {}


def size(said: Said, found: Expected) -> Numbers:
    return {"runs": len(found.facts.runs), "questions": len(found.facts.questions)}


def graded(said: Said, found: Expected) -> Numbers:
    """By whom answers were called right or wrong: each part is a sentence of its own."""
    for part in said.names("origins"):
        check_sentence(part, found, ["line graded_cells", "line graded_unknown"])
    return {}


def graded_cells(said: Said, found: Expected) -> Numbers:
    name = next(k for k, v in WORDS["origins"].items() if v == said.texts["origin"])
    known = found.facts.right.notna()
    return {
        "answers": int((found.facts.origin == name).sum(axis=None)),
        "known": int(known.sum(axis=None)),
    }


def graded_unknown(said: Said, found: Expected) -> Numbers:
    cells = int(found.facts.asked.sum(axis=None))
    return {"unknown": cells - int(found.facts.right.notna().sum(axis=None)), "cells": cells}


def common(said: Said, found: Expected) -> Numbers:
    """A metric's means over the questions that every run has scored."""
    metric = BY_TITLE[said.texts["lead"]]
    over = found.common(metric)
    assert said.names("questions") == over, said
    for part in said.names("means"):
        run, _, mean = part.rpartition("\N{NO-BREAK SPACE}")
        run, mean = (run, mean) if run else tuple(part.rsplit(" ", 1))
        assert agrees(mean, s.mean(as_array(found.facts.values(metric).loc[run, over]))), part
    assert len(said.names("means")) == len(found.facts.runs)
    return {"common": len(over)}


def family(said: Said, found: Expected) -> Numbers:
    return {"tests": found.tests, "alpha": s.ALPHA}


def passages_of(kind: str) -> Callable[[Said, Expected], Numbers]:
    def check(said: Said, found: Expected) -> Numbers:
        _, left, right = of_contrast(said, found)
        return {"questions": found.facts.passage_changes(left, right)[kind]}

    return check


def transition(said: Said, found: Expected) -> Numbers:
    """Which questions went from one state of evidence and answer to another."""
    _, left, right = of_contrast(said, found)
    names = {
        (True, True): "evidence, right",
        (True, False): "evidence, wrong",
        (False, True): "no evidence, right",
        (False, False): "no evidence, wrong",
    }
    told = [
        f"{names[state[0], state[1]]} -> {names[state[2], state[3]]}: {', '.join(questions)}"
        for state, questions in found.transitions(left, right).items()
    ]
    assert said.texts["transitions"] == ", ".join(told)
    return {}


def separated(said: Said, found: Expected) -> Numbers:
    pairs = [
        (a, b)
        for at, a in enumerate(found.facts.runs)
        for b in found.facts.runs[at + 1 :]
        if len(found.facts.differing(a, b)) > 1
    ]
    done = sum(is_separated(found, a, b) for a, b in pairs)
    return {"pairs": len(pairs), "separated": done}


def is_separated(found: Expected, left: str, right: str) -> bool:
    """Say whether existing runs lead from one to the other, one factor at a time."""
    whole = set(found.facts.differing(left, right))

    def reachable(at: str, done: set[str]) -> bool:
        if at == right:
            return True
        for run in found.facts.runs:
            step = set(found.facts.differing(at, run))
            rest = set(found.facts.differing(run, right))
            forward = len(step) == 1 and step <= whole - done and rest == whole - done - step
            if forward and reachable(run, done | step):
                return True
        return False

    return reachable(left, set())


def offered(said: Said, found: Expected) -> Numbers:
    """Two runs whose crossed runs are not all there."""
    try:
        crossed_runs(found, said.texts["left"], said.texts["right"])
    except ValueError:
        return {}
    raise AssertionError(f"{said}: both crossed runs are there")


SENTENCES: dict[str, Callable[[Said, Expected], Numbers]] = {
    **dict.fromkeys(("kind better", "kind worse", "kind different"), of_test),
    "kind credit": credit,
    "kind generation_by_construction": by_construction,
    "kind no_effect_possible": no_effect,
    "kind interaction": interaction,
    "kind informative": informative,
    "kind always_right": always("always_right"),
    "kind always_wrong": always("always_wrong"),
    **dict.fromkeys(("kind metric_trusted", "kind metric_not_trusted"), believed),
    "kind too_few_grades": believed,
    "kind deeper_rank": deeper_rank,
    "kind saturated": saturated,
    "kind k_not_reached": k_not_reached,
    "kind system_errors": system_errors,
    "kind partial_run": partial_run,
    "kind missing_scores": missing_scores,
    "kind missing_not_at_random": not_at_random,
    "kind quantised": quantised,
    "kind one_cell": one_cell,
    "kind refused_despite_evidence": refused,
    "kind answered_unanswerable": answered_unanswerable,
    "kind suspect_verdicts": suspect_verdicts,
    "kind nothing_beyond_chance": nothing_beyond,
    "kind nothing_can_be_significant": nothing_possible,
    "kind confounded": confounded,
    "kind missing_corner": nothing,
    "kind judge_of_same_family": nothing,
    "line size": size,
    "line graded": graded,
    "line graded_cells": graded_cells,
    "line graded_unknown": graded_unknown,
    "line failed": system_errors,
    "line informative": informative,
    "line always_right": always("always_right"),
    "line always_wrong": always("always_wrong"),
    "line questions_unknown": always("unknown"),
    "line common": common,
    "line family": family,
    **{f"line passages_{k}": passages_of(k) for k in ("changed", "reordered", "same", "unknown")},
    "line transition": transition,
    **dict.fromkeys(("line separated_all", "line separated_some"), separated),
    "line crossed": offered,
    **dict.fromkeys(
        (
            *("line judge", "line agreement_none", "line generator", "line marks"),
            *("line n_of_n", "line saturated", "line not_trusted_note", "line common_none"),
            *("line believed", "line not_believed", "line trust_source", "line legend"),
            *("line untested", "line leaves", "line exploratory", "line useful_by"),
            *("line confounded", "line sweep", "line contrast"),
        ),
        nothing,
    ),
    "kind answers_changed": answers_changed,  # its parts fit much, so it comes last
}
"""Template -> what works out the numbers of a sentence."""


TAKEN_APART = ("change", "origins", "means", "transitions")
"""Slots that hold sentences or lists of their own, whose numbers are worked out too."""


def check_sentence(
    text: str, found: Expected, kinds: list[str] | None = None, **about: str
) -> list[str]:
    """Raise where a sentence says what the files do not; return its numbers."""
    said = read(text, *(kinds or SENTENCES))
    assert said is not None, f"no template explains {text!r}"
    for slot, value in said.texts.items():
        strangers = set(tokens(value)) - found.facts.factor_values
        assert slot in TAKEN_APART or not strangers, f"{text!r}: nothing explains {strangers}"
    said.texts.update(about, whole=text)
    expected = SENTENCES[said.kind](said, found)
    for slot, printed in said.numbers.items():
        assert slot in expected, f"{text!r}: nothing works out {slot}"
        assert agrees(printed, expected[slot]), f"{text!r}: {slot} is {expected[slot]}"
    return tokens(text)
