"""Whether one factor's effect depends on another's: complete squares of four runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design, Pair, descending, reverse
from harness.analysis.confounded import midpoints, missing_run
from harness.analysis.contrasts import (
    FamilyTest,
    Pairing,
    cluster_numbers,
    difference,
    sign_flip_tests,
)
from harness.analysis.results import Change, Conclusion, Interaction, MissingRun
from harness.analysis.study_table import Measure, Options, StudyTable, asked_mask
from harness.text import as_number

Corners = tuple[int | None, int | None, int | None, int | None]
"""Runs at (left, left), (right, left), (left, right), (right, right) of two factors."""


@dataclass(frozen=True, slots=True)
class Square:
    """Two factors at two values each."""

    first: Change
    second: Change
    corners: Corners
    missing: tuple[MissingRun, ...]
    """The run that would complete the square; empty where all four exist."""


def squares(design: Design) -> list[Square]:
    """Find pairs of factors of which at least three of the four combinations were collected.

    Each square is listed once, the complete ones first. Left out are squares that repeats of a
    run would close a second time, and squares that are the sum of two narrower ones.
    """
    found: dict[frozenset[int | None], Square] = {}
    for pair, both in design.changes.items():
        if len(both) != 2:
            continue
        existing = midpoints(design, pair)
        one, other = (existing.get(frozenset([change.factor])) for change in both)
        if one is None and other is None:
            continue
        left, right = (design.runs[at] for at in pair)
        missing = tuple(
            missing_run(left, right, both, frozenset([c.factor]), design.runs)
            for c, at in zip(both, (one, other), strict=True)
            if at is None
        )
        square = ascending(Square(both[0], both[1], (pair[0], one, other, pair[1]), missing))
        found.setdefault(frozenset(square.corners), square)
    closed = [corners for corners in found if None not in corners]
    return [
        square
        for corners, square in found.items()
        if None not in corners and not is_sum(design, square)
    ] + [
        square
        for corners, square in found.items()
        if None in corners and not any(corners - {None} <= whole for whole in closed)
    ]


def is_sum(design: Design, square: Square) -> bool:
    """Return whether runs at an intermediate value split a complete square into two."""
    base, one, other, both = (at for at in square.corners if at is not None)
    first, second = square.first.factor, square.second.factor
    return any(
        design.factors.get((near, far)) == frozenset([across])
        for along, across, edge, opposite in (
            (first, second, (base, one), (other, both)),
            (second, first, (base, other), (one, both)),
        )
        for near in between(design, edge, along)
        for far in between(design, opposite, along)
    )


def between(design: Design, edge: Pair, factor: str) -> list[int]:
    """Return the runs that differ from both ends in this factor only, at an intermediate value.

    Numbers are ordered by value; other values by the order of the runs that have them.
    """
    alone = frozenset([factor])
    inside = [
        at
        for at in range(len(design.runs))
        if design.factors.get((edge[0], at)) == alone == design.factors.get((at, edge[1]))
    ]
    runs = [*inside, *edge]
    numbers = [as_number(design.runs[at].leaves.get(factor)) for at in runs]
    known = [number for number in numbers if number is not None]
    places = dict(zip(runs, known if len(known) == len(runs) else runs, strict=True))
    low, high = sorted(places[end] for end in edge)
    return [at for at in inside if low < places[at] < high]


def ascending(square: Square) -> Square:
    """Return the same square with both factors read in the order of numbers and versions."""
    base, one, other, both = square.corners
    if descending([square.first]):
        turned = replace(square, first=reverse(square.first), corners=(one, base, both, other))
        return ascending(turned)
    if descending([square.second]):
        return replace(square, second=reverse(square.second), corners=(other, both, base, one))
    return square


def interactions(
    study: StudyTable, design: Design, measures: Sequence[Measure], options: Options
) -> tuple[Interaction, ...]:
    """Compute every complete 2 x 2, and list what the incomplete ones lack.

    They are exploratory: each has an interval and a p value, and none is called beyond chance.
    `UNTESTED` metrics are left out.
    """
    measures = [measure for measure in measures if measure.tested]
    found = squares(design)
    were_asked = asked_mask(study)
    complete = [square for square in found if None not in square.corners]
    pairings = [
        effect_of_first(measure, square.corners, were_asked)
        for square in complete
        for measure in measures
    ]
    clusters = cluster_numbers(study, options)
    names = [question.id for question in study.questions]
    tests = sign_flip_tests(pairings, clusters, options)
    rows = [
        difference(
            pair, names, clusters, FamilyTest(test, None, 1, False, Conclusion.NO_EVIDENCE), options
        )
        for pair, test in zip(pairings, tests, strict=True)
    ]
    runs = [run.name for run in study.runs]
    step = len(measures)
    return tuple(
        Interaction(
            square.first,
            square.second,
            tuple(None if at is None else runs[at] for at in square.corners),
            tuple(rows[at * step : (at + 1) * step]),
            square.missing,
        )
        for at, square in enumerate(found)
    )


def effect_of_first(measure: Measure, corners: Corners, were_asked: NDArray[np.bool_]) -> Pairing:
    """Pair the first factor's effect at the second's left value with that at its right value."""
    at = [corner for corner in corners if corner is not None]
    base, first, second, both = (measure.values[i] for i in at)
    units = np.fmin.reduce(measure.units[at], axis=0)
    effects = Measure(
        # a difference of differences reaches from -2 to 2
        facts=replace(measure.facts, bounded=False),
        values=np.stack([first - base, both - second]),
        units=np.stack([units, units]),
        binary=False,
    )
    return Pairing(effects, (0, 1), np.asarray(were_asked[at].all(axis=0)))
