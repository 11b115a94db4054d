"""The settings of each stage, as types. Imports nothing heavy, so that `--help` is immediate."""

# ruff: noqa: RUF009 - `setting` returns a field with a default factory for a mutable default

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.judge import Judge
    from harness.llm import Budget
    from harness.systems import System

    Variant = System | None
else:  # Hydra learns the real types from the plug-in tables, which import numpy and more
    Budget = Judge = Variant = Any

REQUIRED: Any = "???"
"""The default of a setting that must be given, as OmegaConf writes it."""


def setting(default: Any, meaning: str) -> Any:
    """Return a field with its default and its line of `--help`."""
    metadata = {"help": meaning}
    if isinstance(default, list):
        default = default.copy
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def no_limit() -> Budget:
    """Return a budget that limits nothing."""
    from harness.llm import Budget

    return Budget()


@dataclass
class PrimaryTest:
    """A test that a study declares before it collects."""

    factor: str = setting(REQUIRED, "A factor, such as prompt or top_k.")
    metric: str = setting(REQUIRED, "A metric's name, or `right`.")


@dataclass
class Expected:
    """What a study expects of a change before it collects."""

    factor: str = setting(REQUIRED, "A factor, such as prompt or top_k.")
    outcome: str = setting("better", "better, worse or same, of the change as the report reads it.")
    metric: str = setting("right", "A metric's name, or `right`.")
    to: Any = setting(None, "Only of changes to this value; default: of every change.")


@dataclass
class Study:
    """One question under investigation, shared by all stages."""

    name: str = setting(REQUIRED, "Its folder under root; another name writes to another folder.")
    question: str = setting("", "What the study asks, in a sentence.")
    corpus: list[str] = setting([], "Files and folders that the answers are taken from.")
    largest_mb: int = setting(
        100, "Largest document, test set or recording that is read, in MB, decompressed."
    )
    follow_links: bool = setting(False, "Read what links in the corpus' folders lead to outside.")
    testset: str = setting(REQUIRED, "A folder under testsets/, or the path of a questions file.")
    language: str = setting("en", "Language of the test set, such as en, ja, zh_hant or zh_hans.")
    variants: list[str] = setting(
        [], "Names of variants, with overrides if needed: 'ctx_k9 variant.top_k=6'."
    )
    metrics: list[str] = setting(["articles"], "Names of metrics and presets.")
    repeats: int = setting(1, "How often each question is asked.")
    primary: list[PrimaryTest] = setting(
        [], "Tests declared before collecting: [{factor: prompt, metric: faithfulness}]."
    )
    expect: list[Expected] = setting(
        [], "What is expected, written down before collecting: [{factor: top_k, outcome: better}]."
    )
    recording: str | None = setting(
        None, "File for chat=recorded and embedder=recorded; default: beside the test set."
    )


@dataclass
class Stage:
    """The settings that every stage has."""

    study: Study = field(default_factory=Study)
    variant: Variant = None
    judge: Judge = REQUIRED
    root: str = setting("runs", "The folder that holds the studies.")
    questions: list[str] = setting([], "Use only the questions with these ids; default: all.")
    limit: int | None = setting(None, "Use only the first N questions.")
    cache: str = setting(
        "readwrite", "Cache of model calls: readwrite, read (never call a model) or off."
    )


RUNS = "Names of runs; default: all runs of the study."
METRICS = "Names of metrics, presets and checks in conf/check, or the file of a check."
BUDGET = "Limit on what the judge may spend: budget.calls=, .tokens=, .usd= or .minutes=."


@dataclass
class Collect(Stage):
    """Run one variant on the test set."""

    version: str | None = setting(
        None, "A label for the same system after a change; its calls are sent again."
    )
    again: bool = setting(
        False, "Collect a finished run again, with new calls; the old one is kept under .old/."
    )
    give_up_after: int = setting(3, "Stop after N consecutive failures.")
    passages_from: str | None = setting(
        None, "Name of a run whose passages are read, instead of retrieving."
    )


@dataclass
class Evaluate(Stage):
    """Score the runs of a study."""

    runs: list[str] = setting([], RUNS)
    metrics: list[str] = setting(["articles"], METRICS)
    dry_run: bool = setting(False, "Print the calls that are needed and their cost; call no model.")
    budget: Budget = setting(no_limit, BUDGET)
    most_unread: float = setting(
        0.2, "Exit code 1 if the judge leaves more than this share of scores NA (0 to 1)."
    )
    again: bool = setting(
        False, "Replace labels that a judge of the same name gave under other settings."
    )


@dataclass
class Report(Stage):
    """Compare the runs of a study."""

    runs: list[str] = setting([], RUNS)
    baseline: str | None = setting(None, "Show only the contrasts with this run.")
    factor: str | None = setting(None, "Show only the contrasts of this factor.")
    cluster: str | None = setting(
        None,
        "Unit of sampling: question, or document (from the evidence of the test set); default: "
        "document where at least 8 documents hold questions.",
    )
    suspects: bool = setting(False, "List only the verdicts that a person should check.")
    format: str = setting("page", "page, or latex to write tables for a paper as well.")
    language: str = setting(
        "en", "Language of the report: en, ja, zh_hant or zh_hans (shown in zh_hant)."
    )


@dataclass
class GradeSettings(Stage):
    """Have people grade answers and captions as right or wrong."""

    runs: list[str] = setting([], "Names of runs to grade; default: all runs of the study.")
    grader: str | None = setting(None, "Your name in the grades; default: your login name.")
    policy: str | None = setting(
        None, "The rule you grade by, kept with each grade: 'a year off is wrong'."
    )
    second_look: bool = setting(False, "Show first what graders disagree on.")
    merge: str | None = setting(
        None, "Add the grades of another grader's grades.jsonl, and print the agreement."
    )
    read: str | None = setting(None, "Add grades from a table (.csv).")
    write: str | None = setting(None, "Write answers and grades to a table (.csv).")
    port: int = setting(0, "Port of the grading page; 0 takes any free port.")
    language: str = setting(
        "en", "Language of the page: en, ja, zh_hant or zh_hans (shown in zh_hant)."
    )


@dataclass
class StudyRun(Stage):
    """Collect, evaluate and report every variant that the study lists."""

    version: str | None = setting(None, "A label for the same systems before and after a change.")
    again: bool = setting(False, "Collect finished runs again; old runs are kept under .old/.")
    give_up_after: int = setting(3, "Stop after N consecutive failures of a variant.")
    metrics: list[str] = setting(["articles"], METRICS)
    budget: Budget = setting(no_limit, BUDGET)
    most_unread: float = setting(
        0.2, "Stop before the report if more than this share of scores is NA (0 to 1)."
    )
    language: str = setting(
        "en", "Language of the report: en, ja, zh_hant or zh_hans (shown in zh_hant)."
    )


STAGES: dict[str, type[Stage]] = {
    "collect": Collect,
    "evaluate": Evaluate,
    "report": Report,
    "grade": GradeSettings,
    "study": StudyRun,
}
"""Command -> its settings."""
