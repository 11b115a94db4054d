"""What a metric is: a pure function, what it needs, and what it returns."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.metrics.evidence import AXES, YES_OR_NO, Evidence
from harness.records import Label, Labels, Layer, Status, Verdict

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A score with what it rests on, or NA with the reason."""

    value: float | None
    """None is NA; never nan."""

    units: int | None = 1
    """The denominator: 0 where there is nothing to count, None where a check is missing."""

    status: Status = Status.OK
    """`ok`, or why the metric is undefined. Where another tool's rule gives a number nevertheless
    (such as 1.0 without claims), the status is kept beside the number."""


def share(hits: Flags) -> MetricValue:
    """Return the share of the units that are hits; at least one unit.

    >>> share(np.array([True, False, False, False]))
    MetricValue(value=0.25, units=4, status=<Status.OK: 'ok'>)
    """
    return MetricValue(float(hits.mean()), hits.size)


def entailed(labels: Labels) -> Flags:
    """Return where the premise entails the claim, rather than contradicts it or is silent."""
    return np.equal(labels, Label.ENTAILED)


def contradicted(labels: Labels) -> Flags:
    """Return where the premise contradicts the claim."""
    return np.equal(labels, Label.CONTRADICTED)


def by_claim(pairs: Flags) -> Flags:
    """Return (claims,) from (claims, passages): whether it holds for some passage."""
    found: Flags = np.logical_or.reduce(pairs, axis=1)
    return found


def by_passage(pairs: Flags) -> Flags:
    """Return (passages,) from (claims, passages): whether it holds for some claim."""
    found: Flags = np.logical_or.reduce(pairs, axis=0)
    return found


@dataclass(frozen=True, slots=True)
class Metric:
    """A named metric: `METRICS` gives the name."""

    compute: Callable[..., MetricValue]
    """Its parameters are fields of `Evidence`. A parameter with a default may be missing; arrays
    have at least one entry on each axis."""

    layer: Layer

    higher_is_better: bool | None = True
    """None where neither direction is better."""

    bounds: tuple[float, float] = (0.0, 1.0)
    """Least and greatest value."""

    instead: Mapping[Status, float] = field(default_factory=dict)
    """Reason -> the number that another tool's rule gives where ours is NA."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields of `Evidence` that `compute` reads."""
        return tuple(_parameters(self.compute))

    @property
    def needs_judge(self) -> bool:
        """Whether a judge has to be asked."""
        return any(need in AXES for need in self.needs)

    @property
    def bounded(self) -> bool:
        """Whether scores lie in [0, 1]."""
        return self.bounds == (0.0, 1.0)

    @property
    def about(self) -> str:
        """What it measures, in one sentence: the first line of the function's docstring."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    def score(self, evidence: Evidence) -> MetricValue:
        """Return the score, or NA with the reason.

        Raises ValueError where two arrays disagree on the number of claims or passages, TypeError
        where the function returns no MetricValue.
        """
        given = {name: getattr(evidence, name) for name in self.needs}
        cut = evidence.missing.get("response_text") is Status.CONTEXT_OVERFLOW
        missing = [n for n, may_miss in _parameters(self.compute).items()
                   if given[n] is None and (not may_miss or cut)]  # fmt: skip
        if missing:
            scored = MetricValue(None, None, evidence.missing.get(missing[0], Status.NOT_ASKED))
        else:
            scored = _obstacle(given) or self.compute(**given)
        if not isinstance(scored, MetricValue):
            raise TypeError(f"it returned {scored!r}, not a MetricValue")
        if scored.status in self.instead:
            return replace(scored, value=self.instead[scored.status])
        return scored


@cache
def _parameters(compute: Callable[..., MetricValue]) -> dict[str, bool]:
    """Return for each parameter whether it has a default, and so may be missing."""
    parameters = inspect.signature(compute).parameters.values()
    return {p.name: p.default is not inspect.Parameter.empty for p in parameters}


def _obstacle(given: Mapping[str, Any]) -> MetricValue | None:
    """Return NA where arrays cannot be used: an invalid label, or an axis without entries."""
    arrays = {name: values for name, values in given.items() if name in AXES}
    sizes: dict[Status, int] = {}
    for name, values in arrays.items():
        for axis, size in zip(AXES[name], values.shape, strict=True):
            if sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name}: {size} entries where others have {sizes[axis]} ({axis})")
    faults = [fault for name, values in arrays.items() if (fault := _fault(name, values))]
    if faults:
        return MetricValue(None, None, faults[0])
    return next((MetricValue(None, 0, axis) for axis, size in sizes.items() if size == 0), None)


def _fault(name: str, values: Any) -> Status | None:
    """Return what is wrong with single values: an invalid label, or a missing cosine."""
    if name == "question_similarity":
        return Status.ZERO_VECTOR if np.isnan(values).any() else None
    least = Label.UNKNOWN if name in YES_OR_NO else Label.CONTRADICTED
    if ((values < least) | (values > Label.ENTAILED)).any():
        return Status.JUDGE_UNPARSABLE
    return None


def custom_check_score(rows: Sequence[Verdict]) -> MetricValue:
    """Return the share of labels that count 1, or NA with the reason of the first missing label.

    Args:
        rows: One judge's rows of the check on one response.

    >>> yes, no = (Verdict("j", "q", 0, "dated", item, label=1 - item) for item in (0, 1))
    >>> custom_check_score([yes, no])
    MetricValue(value=0.5, units=2, status=<Status.OK: 'ok'>)
    """
    if not rows:
        return MetricValue(None, None, Status.NOT_ASKED)
    for row in rows:
        if row.label is None:
            reason = Status(row.error or Status.JUDGE_FAILED)
            return MetricValue(None, 0 if reason is Status.NO_PASSAGES else None, reason)
        if row.label not in (0, 1):
            return MetricValue(None, None, Status.JUDGE_UNPARSABLE)
    return share(np.array([row.label == 1 for row in rows]))
