"""The settings of each stage, as types."""

from dataclasses import dataclass, field

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from harness.judge import JUDGES, Judge
from harness.llm import Budget
from harness.sources import CAPTIONERS, Index
from harness.systems import GENERATORS, SEARCH_EMBEDDERS, SYSTEMS, Prompt, System


@dataclass
class Declared:
    """One test that a study declares before it collects."""

    factor: str = MISSING
    metric: str = MISSING
    """A metric's name, or `right`."""


@dataclass
class Study:
    """One question under investigation, shared by all stages."""

    name: str = MISSING
    """The folder under `root`; another name writes elsewhere without a new file."""
    question: str = ""
    """What the study asks, in a sentence."""
    corpus: list[str] = field(default_factory=list)
    """Files and folders, relative to the project."""
    testset: str = MISSING
    """A folder under `testsets/`, or the path of a questions file."""
    language: str = "en"
    """Of the test set: en, ja, zh_hant or zh_hans."""
    variants: list[str] = field(default_factory=list)
    """Names, or names with overrides: `ctx_k9 variant.top_k=6`."""
    metrics: list[str] = field(default_factory=lambda: ["articles"])
    """Names of metrics and presets."""
    repeats: int = 1
    """How often each question is asked."""
    primary: list[Declared] = field(default_factory=list)
    """Tests declared before collecting: [{factor: prompt, metric: faithfulness}]."""
    recording: str | None = None
    """What chat=recorded and embedder=recorded replay; None is the one beside the test set."""


@dataclass
class Stage:
    """What every stage understands."""

    study: Study = field(default_factory=Study)
    variant: System | None = None
    judge: Judge = MISSING
    root: str = "runs"
    """The folder that holds the studies."""
    questions: list[str] = field(default_factory=list)
    """Ids of the questions to take; none takes all."""
    limit: int | None = None
    """Take the first so many questions."""
    cache: str = "readwrite"
    """readwrite, read (never call a model) or off."""


@dataclass
class Collect(Stage):
    """Run one variant on the test set."""

    version: str | None = None
    """A label for the same system before and after a repair."""
    again: bool = False
    """Collect a finished run once more; the old one is kept under another name."""
    give_up_after: int = 3
    """Stop when so many questions in a row fail."""
    passages_from: str | None = None
    """A run whose passages are read, instead of retrieving."""


@dataclass
class Evaluate(Stage):
    """Score the runs of a study."""

    runs: list[str] = field(default_factory=list)
    """Names of runs; none takes all of the study."""
    metrics: list[str] = field(default_factory=lambda: ["articles"])
    """Names of metrics, presets and checks in `conf/check`, or a check's file."""
    dry_run: bool = False
    """Say what would be asked, and ask nothing."""
    budget: Budget = field(default_factory=Budget)
    """budget.calls=, .tokens=, .usd= or .minutes=: what the judge may spend."""
    most_unread: float = 0.2
    """Share of cells that the judge may leave without a score before this is a failure."""
    again: bool = False
    """Replace what a judge of the same label said under other settings."""


@dataclass
class Report(Stage):
    """Set the runs of a study side by side."""

    runs: list[str] = field(default_factory=list)
    """Names of runs; none takes all of the study."""
    baseline: str | None = None
    """Show only the contrasts of this run."""
    factor: str | None = None
    """Show only the contrasts of this factor."""
    cluster: str = "question"
    """What is drawn by chance: question, or document (by the evidence)."""
    suspects: bool = False
    """List the verdicts that a person should look at, and nothing else."""
    format: str = "page"
    """page, or latex: also write the tables for a paper."""
    language: str = "en"
    """en, ja, zh_hant or zh_hans."""


@dataclass
class Grade(Stage):
    """Have people say which answers, and which captions, are right."""

    runs: list[str] = field(default_factory=list)
    """Names of runs whose answers are graded; none takes all of the study."""
    grader: str | None = None
    """Who grades; without it, the name that you are logged in under."""
    policy: str | None = None
    """By what rule, kept with each grade: 'a year off is wrong'."""
    second_look: bool = False
    """Offer first what graders disagree on."""
    merge: str | None = None
    """Another grader's grades.jsonl: take its grades in and say how far you agree."""
    read: str | None = None
    """Take grades in from a table (.csv), or from a map variant -> question -> 0 or 1 (.json)."""
    write: str | None = None
    """Write answers and grades as a table (.csv) for a spreadsheet."""
    port: int = 0
    """Of the page; 0 takes a free one."""
    language: str = "en"
    """Of the page: en, ja, zh_hant or zh_hans."""


@dataclass
class StudyRun(Stage):
    """Collect, evaluate and report every variant that the study lists."""

    version: str | None = None
    """A label for the same systems before and after a repair."""
    again: bool = False
    """Collect finished runs once more; the old ones are kept under another name."""
    give_up_after: int = 3
    """Stop when so many questions of a variant in a row fail."""
    metrics: list[str] = field(default_factory=lambda: ["articles"])
    """Names of metrics, presets and checks in `conf/check`, or a check's file."""
    budget: Budget = field(default_factory=Budget)
    """budget.calls=, .tokens=, .usd= or .minutes=: what the judge may spend."""
    most_unread: float = 0.2
    """Share of cells that may lack a score; above it nothing is reported."""
    language: str = "en"
    """Of the report: en, ja, zh_hant or zh_hans."""


STAGES: dict[str, type[Stage]] = {
    "collect": Collect,
    "evaluate": Evaluate,
    "report": Report,
    "grade": Grade,
    "study": StudyRun,
}


def register() -> None:
    """Put every stage and every plug-in of the tables into Hydra's ConfigStore."""
    store = ConfigStore.instance()
    for name, stage in STAGES.items():
        store.store(name=f"{name}_schema", node=stage)
    groups: dict[str, tuple[str, dict[str, type]]] = {
        "system": ("variant", dict(SYSTEMS)),
        "chat": ("variant.chat", dict(GENERATORS)),
        "embedder": ("variant.embedder", dict(SEARCH_EMBEDDERS)),
        "captioner": ("variant.captioner", dict(CAPTIONERS)),
        "index": ("variant.index", {"index": Index}),
        "prompt": ("variant.prompt", {"prompt": Prompt}),
        "judge": ("judge", dict(JUDGES)),
    }
    for group, (package, table) in groups.items():
        for name, node in table.items():
            store.store(group=f"schema/{group}", name=name, node=node, package=package)
