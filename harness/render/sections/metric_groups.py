"""Which metrics are shown in another way than the rest, and what a metric is called in a table."""

from dataclasses import dataclass

from harness.analysis.results import Analysis, Trust
from harness.records import Layer
from harness.render.vocabulary import Words


@dataclass(frozen=True, slots=True)
class MetricGroups:
    """The metrics of an analysis that are shown in another way than the rest."""

    costs: frozenset[str]
    unbounded: frozenset[str]
    doubted: frozenset[str]
    """They cannot tell right answers from wrong ones here."""
    unscored: frozenset[str]
    """They are NA in every run."""


def metric_groups(analysis: Analysis) -> MetricGroups:
    """Return the groups of an analysis' metrics."""
    means = analysis.means
    distrust = (Trust.NO_EVIDENCE, Trust.INVERTED)
    return MetricGroups(
        costs=frozenset(m.metric for m in means if m.layer is Layer.COST),
        unbounded=frozenset(m.metric for m in means if not m.bounded),
        doubted=frozenset(t.metric for t in analysis.trust if t.verdict in distrust),
        unscored=frozenset(m.metric for m in means if not any(cell.scored for cell in m.cells)),
    )


def metric_title(metric: str, groups: MetricGroups, words: Words) -> str:
    """Return a metric's name as a heading, marked where the metric is not trusted."""
    name = words.metric(metric)
    return words.line("not_trusted", metric=name) if metric in groups.doubted else name
