"""From the scores of many runs to conclusions. Pure: tables in, dataclasses out."""

from harness.analysis.analyse import analyse
from harness.analysis.findings import KINDS, Finding, Severity, as_json, value_text
from harness.analysis.judges import judged_by_several
from harness.analysis.rankings import GOLD_METRICS, gold_scores, rank_scores
from harness.analysis.results import Analysis
from harness.analysis.statistics.sample_size import Assumptions, Power, power
from harness.analysis.study_table import (
    OUTCOMES,
    RIGHT,
    Expectation,
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    score_cube,
    study_table,
    with_draws,
)
