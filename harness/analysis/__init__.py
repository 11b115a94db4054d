"""What the scores of many runs say about each other. Pure: tables in, dataclasses out."""

from harness.analysis.analyse import analyse
from harness.analysis.cube import score_cube, study_table
from harness.analysis.findings import as_json, shown
from harness.analysis.gold import GOLD_METRICS, gold_scores, rank_scores
from harness.analysis.judges import judged_by_several
from harness.analysis.kinds import KINDS, Kind
from harness.analysis.options import Options, Primary
from harness.analysis.power import Assumptions, Power, power
from harness.analysis.results import Analysis, Finding, Severity
from harness.analysis.tables import RIGHT, MetricFacts, RunFacts, StudyTable

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
