"""What a metric is: a pure function, and what must be known to run it and to read it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from harness.metrics.evidence import Evidence
from harness.metrics.scored import Scored
from harness.records import Label, Layer, Status

AXES: dict[str, tuple[Status, ...]] = {
    "response_in_passages": (Status.NO_CLAIMS, Status.NO_PASSAGES),
    "reference_in_passages": (Status.NO_REFERENCE_CLAIMS, Status.NO_PASSAGES),
    "response_in_context": (Status.NO_CLAIMS,),
    "reference_in_context": (Status.NO_REFERENCE_CLAIMS,),
    "response_in_reference": (Status.NO_CLAIMS,),
    "reference_in_response": (Status.NO_REFERENCE_CLAIMS,),
    "passage_useful": (Status.NO_PASSAGES,),
    "question_similarity": (Status.NO_REVERSE_QUESTIONS,),
    "noncommittal": (Status.NO_REVERSE_QUESTIONS,),
}
"""The fields of `Evidence` that a judge fills; each axis goes by the reason for its emptiness."""

YES_OR_NO = ("passage_useful", "noncommittal")
"""Fields whose labels are ENTAILED or UNKNOWN, never CONTRADICTED."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A named metric: `METRICS` gives the name."""

    compute: Callable[..., Scored]
    """Its parameters are fields of `Evidence`. One that has a default may be missing; arrays
    come with at least one entry on each axis."""

    layer: Layer

    higher_is_better: bool | None = True
    """None where neither is."""

    bounds: tuple[float, float] = (0.0, 1.0)
    """Least and greatest value."""

    instead: Mapping[Status, float] = field(default_factory=dict)
    """The number that another tool's rule puts where ours says NA, by the reason."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields of `Evidence` that `compute` reads."""
        return tuple(_parameters(self.compute))

    @property
    def judged(self) -> bool:
        """Whether a judge has to be asked."""
        return any(need in AXES for need in self.needs)

    @property
    def bounded(self) -> bool:
        """Whether scores lie in [0, 1]."""
        return self.bounds == (0.0, 1.0)

    @property
    def about(self) -> str:
        """What it says, in a sentence, for a legend."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    def score(self, evidence: Evidence) -> Scored:
        """Return the score, or NA with the reason.

        Raises ValueError where two arrays disagree on how many claims or passages there are.
        """
        given = {name: getattr(evidence, name) for name in self.needs}
        cut = evidence.missing.get("response_text") is Status.CONTEXT_OVERFLOW
        missing = [n for n, may_miss in _parameters(self.compute).items()
                   if given[n] is None and (not may_miss or cut)]  # fmt: skip
        if missing:
            scored = Scored(None, None, evidence.missing.get(missing[0], Status.NOT_ASKED))
        else:
            scored = _obstacle(given) or self.compute(**given)
        if scored.status in self.instead:
            return replace(scored, value=self.instead[scored.status])
        return scored


@cache
def _parameters(compute: Callable[..., Scored]) -> dict[str, bool]:
    """Return each parameter, and whether it has a default and so may be missing."""
    parameters = inspect.signature(compute).parameters.values()
    return {p.name: p.default is not inspect.Parameter.empty for p in parameters}


def _obstacle(given: Mapping[str, Any]) -> Scored | None:
    """Return why arrays cannot be computed with: a label of no kind, an axis without entries."""
    arrays = {name: values for name, values in given.items() if name in AXES}
    sizes: dict[Status, int] = {}
    for name, values in arrays.items():
        for axis, size in zip(AXES[name], values.shape, strict=True):
            if sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name}: {size} entries where others have {sizes[axis]} ({axis})")
    faults = [fault for name, values in arrays.items() if (fault := _fault(name, values))]
    if faults:
        return Scored(None, None, faults[0])
    return next((Scored(None, 0, axis) for axis, size in sizes.items() if size == 0), None)


def _fault(name: str, values: Any) -> Status | None:
    """Return what is wrong with single values: a label of no kind, a cosine that is not there."""
    if name == "question_similarity":
        return Status.ZERO_VECTOR if np.isnan(values).any() else None
    least = Label.UNKNOWN if name in YES_OR_NO else Label.CONTRADICTED
    if ((values < least) | (values > Label.ENTAILED)).any():
        return Status.JUDGE_UNPARSABLE
    return None
