"""What a metric gives back, and the small words that metrics are written in."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.records import Label, Labels, Status

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scored:
    """A score with what it rests on, or NA with the reason."""

    value: float | None
    """None is NA; never nan."""

    units: int | None = 1
    """The denominator: 0 where there was nothing to count, None where a check is missing."""

    status: Status = Status.OK
    """`ok`, or why the metric is undefined. A rule of another tool that puts a number there
    (1.0 without claims, say) keeps this status beside its number, so that it is seen."""


def share(hits: Flags) -> Scored:
    """Return the share of the units that are hits; at least one unit.

    >>> share(np.array([True, False, False, False]))
    Scored(value=0.25, units=4, status=<Status.OK: 'ok'>)
    """
    return Scored(float(hits.mean()), hits.size)


def entailed(labels: Labels) -> Flags:
    """Return where the premise entails the claim; contradiction and silence are alike here."""
    return np.equal(labels, Label.ENTAILED)


def contradicted(labels: Labels) -> Flags:
    """Return where the premise contradicts the claim."""
    return np.equal(labels, Label.CONTRADICTED)


def by_claim(pairs: Flags) -> Flags:
    """Return (claims,) from (claims, passages): whether it holds with some passage."""
    found: Flags = np.logical_or.reduce(pairs, axis=1)
    return found


def by_passage(pairs: Flags) -> Flags:
    """Return (passages,) from (claims, passages): whether it holds of some claim."""
    found: Flags = np.logical_or.reduce(pairs, axis=0)
    return found
