"""The order in which people expect names: k2, k4, k10."""

import re
from numbers import Real

NaturalKey = tuple[tuple[int, int, str], ...]


def natural(name: str) -> NaturalKey:
    """Return a sort key that reads runs of digits as numbers.

    >>> sorted(["q10", "q2", "q1"], key=natural)
    ['q1', 'q2', 'q10']
    """
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(p), p) if p[:1].isdecimal() else (1, 0, p) for p in parts if p)


def as_number(value: object) -> float | None:
    """Return a factor's value as a number, None where it is none; true and false are none.

    >>> as_number(4), as_number("4"), as_number(True)
    (4.0, None, None)
    """
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
