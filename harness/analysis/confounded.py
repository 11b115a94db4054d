"""Runs that differ in several factors: which runs separate them, and which are still missing."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from harness.analysis.changes import ABSENT, Design, Pair
from harness.analysis.results import Change, Confounded, MissingRun
from harness.analysis.study_table import RunFacts
from harness.records import PASSAGES_FROM

ORDERS_UP_TO = 5
"""Number of factors up to which every order of changing them is tried."""

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./\-]*")
"""Text that Hydra reads as a string without quotes."""

BESIDE_VARIANT = ("version", PASSAGES_FROM)
"""Factors that are set beside the variant, not inside it."""

NOT_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "nan", "inf"}

Changed = frozenset[str]


def confounded(design: Design) -> tuple[Confounded, ...]:
    """List every comparable pair that differs in several factors."""
    return tuple(
        shortest_way(design, pair, found)
        for pair, found in design.changes.items()
        if len(found) > 1
    )


def shortest_way(design: Design, pair: Pair, found: Sequence[Change]) -> Confounded:
    """Return the order of changing one factor after the other that lacks fewest runs."""
    runs = design.runs
    names = [change.factor for change in found]
    existing = midpoints(design, pair)
    orders = permutations(names) if len(names) <= ORDERS_UP_TO else [tuple(names)]
    ways = [[frozenset(order[:end]) for end in range(1, len(names))] for order in orders]
    way = min(ways, key=lambda steps: sum(step not in existing for step in steps))
    left, right = (runs[at] for at in pair)
    return Confounded(
        left.name,
        right.name,
        tuple(found),
        tuple(runs[existing[step]].name for step in way if step in existing),
        tuple(missing_run(left, right, found, step, runs) for step in way if step not in existing),
    )


def midpoints(design: Design, pair: Pair) -> dict[Changed, int]:
    """Return the runs that take some factors from left and the others from right.

    The key names the factors that hold right's value already.
    """
    left, right = pair
    whole = design.factors[left, right]
    found: dict[Changed, int] = {}
    for at in range(len(design.runs)):
        done, open_ = design.factors.get((left, at)), design.factors.get((at, right))
        if done and open_ and not done & open_ and done | open_ == whole:
            found.setdefault(done, at)
    return found


def missing_run(
    left: RunFacts,
    right: RunFacts,
    found: Sequence[Change],
    changed: Changed,
    runs: Sequence[RunFacts],
) -> MissingRun:
    """Return the words for the run with these factors as on the right, others as on the left.

    They start from the side that needs fewer words, then from the one with fewer settings switched
    off, because a setting that is off may have any value. There are no words where a setting is
    absent; where the side was given another run's passages, as its retrieval settings do not act;
    and where one of the `runs` has the same words, as a file has then changed since.
    """
    forward = [(change, change.right) for change in found if change.factor in changed]
    back = [(change, change.left) for change in found if change.factor not in changed]
    ways = [way for way in ((left, forward), (right, back)) if way[0].passages_from is None]
    if not ways:
        return MissingRun(())
    base, settings = min(ways, key=lambda way: (len(way[1]), len(way[0].inactive)))
    if any(value == ABSENT for _, value in settings):
        return MissingRun(())
    words = {key_of(word): word for word in base.overrides}
    for change, value in settings:
        key = override_key(base, change)
        words[key] = f"{key}={written(value)}"
    if any(run.variant == base.variant and same(run.overrides, words.values()) for run in runs):
        return MissingRun(())
    return MissingRun(tuple(shlex.quote(w) for w in (f"variant={base.variant}", *words.values())))


def same(left: Iterable[str], right: Iterable[str]) -> bool:
    """Return whether two lists of words set the same, whatever their order and quotes."""
    one, other = ({re.sub("['\"]", "", word) for word in words} for words in (left, right))
    return one == other


def override_key(base: RunFacts, change: Change) -> str:
    """Return a factor's key on the command line: groups have no prefix."""
    if change.factor in base.choices or change.factor in BESIDE_VARIANT:
        return change.factor
    return f"variant.{change.factor}"


def key_of(word: str) -> str:
    """Return what an override word sets."""
    return word.partition("=")[0].lstrip("+~")


def written(value: object) -> str:
    """Write a value as Hydra's override grammar reads it back.

    >>> [written(v) for v in (4, None, True, "strict", "4", "a b", ["x", 1])]
    ['4', 'null', 'true', 'strict', '"4"', '"a b"', '[x,1]']
    """
    if isinstance(value, list | tuple):
        return "[" + ",".join(written(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{written(item)}" for key, item in value.items()) + "}"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    text = str(value)
    if PLAIN.fullmatch(text) and text.lower() not in NOT_TEXT:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
