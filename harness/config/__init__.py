"""What `conf/` may say, as types; registers them with Hydra; names a run."""

from pathlib import Path

from harness.config.entry import Composition, compose
from harness.config.factors import Factors, factors_of, neutral_keys, plain
from harness.config.naming import portable, run_name, study_folder
from harness.config.paths import (
    PROJECT,
    fingerprint,
    project_path,
    shown_path,
    testset_folder,
    testset_path,
)
from harness.config.schema import (
    STAGES,
    Collect,
    Declared,
    Evaluate,
    Grade,
    Report,
    Stage,
    Study,
    StudyRun,
)


def study_path(settings: Stage) -> Path:
    """Return the folder of the study's runs."""
    return project_path(settings.root) / study_folder(settings.study.name)


__all__ = [
    "PROJECT",
    "STAGES",
    "Collect",
    "Composition",
    "Declared",
    "Evaluate",
    "Factors",
    "Grade",
    "Report",
    "Study",
    "StudyRun",
    "compose",
    "factors_of",
    "fingerprint",
    "neutral_keys",
    "plain",
    "portable",
    "project_path",
    "run_name",
    "shown_path",
    "study_folder",
    "study_path",
    "testset_folder",
    "testset_path",
]
