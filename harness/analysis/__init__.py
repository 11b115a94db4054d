"""What the scores of many runs say about each other. Pure: tables in, dataclasses out."""

from harness.analysis.analyse import analyse
from harness.analysis.findings.kinds import KINDS, Kind
from harness.analysis.findings.listing import as_json, shown
from harness.analysis.judges import judged_by_several
from harness.analysis.rankings import GOLD_METRICS, gold_scores, rank_scores
from harness.analysis.results import Analysis, Finding, Severity
from harness.analysis.statistics.sample_size import Assumptions, Power, power
from harness.analysis.study_table import (
    RIGHT,
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    score_cube,
    study_table,
)

__all__ = [
    "GOLD_METRICS",
    "KINDS",
    "RIGHT",
    "Analysis",
    "Assumptions",
    "Finding",
    "Kind",
    "MetricFacts",
    "Options",
    "Power",
    "Primary",
    "RunFacts",
    "Severity",
    "StudyTable",
    "analyse",
    "as_json",
    "gold_scores",
    "judged_by_several",
    "power",
    "rank_scores",
    "score_cube",
    "shown",
    "study_table",
]
