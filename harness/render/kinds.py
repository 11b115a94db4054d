"""Which metrics need other words than the rest, and what a metric is called in a table."""

from dataclasses import dataclass

from harness.analysis.results import Analysis, Trust
from harness.records import Layer
from harness.render.wording import Words


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which metrics need other words than the rest."""

    costs: frozenset[str]
    unbounded: frozenset[str]
    doubted: frozenset[str]
    """They cannot tell right answers from wrong ones here."""
    unscored: frozenset[str]
    """They are NA in every run."""


def kinds_of(analysis: Analysis) -> Kinds:
    """Sort an analysis' metrics."""
    means = analysis.means
    distrust = (Trust.NO_EVIDENCE, Trust.INVERTED)
    return Kinds(
        costs=frozenset(m.metric for m in means if m.layer is Layer.COST),
        unbounded=frozenset(m.metric for m in means if not m.bounded),
        doubted=frozenset(t.metric for t in analysis.trust if t.verdict in distrust),
        unscored=frozenset(m.metric for m in means if not any(cell.scored for cell in m.cells)),
    )


def title(metric: str, kinds: Kinds, words: Words) -> str:
    """Return a metric's heading, which says where it is not trusted."""
    name = words.metric(metric)
    return words.line("not_trusted", metric=name) if metric in kinds.doubted else name
