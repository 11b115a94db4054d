"""What is to be scored: the responses chosen, and the metrics and checks asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.config.paths import PROJECT, project_path
from harness.config.schema import Evaluate
from harness.errors import ConfigError, unknown
from harness.judge import CHECKS, Case, CustomCheck, checks_for, read_check
from harness.metrics import METRICS, PRESETS, resolve
from harness.questions import read_testset, select
from harness.records import Question, Response
from harness.store import Run

OWN_CHECKS = PROJECT / "conf" / "check"


@dataclass(frozen=True, slots=True)
class Item:
    """One response to be scored, with the question that its run carries."""

    run: Run
    question: Question
    response: Response

    @property
    def failed(self) -> bool:
        """Whether the system gave no answer, so that there is nothing to judge."""
        return self.response.response is None

    @property
    def case(self) -> Case:
        """What the judge may see of it."""
        return Case(
            question_id=self.response.question_id,
            repeat=self.response.repeat,
            question=self.response.user_input,
            response=self.response.response or "",
            reference=self.response.reference,
            passages=tuple(passage.text for passage in self.response.passages),
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be scored."""

    metrics: tuple[str, ...]
    own: tuple[CustomCheck, ...]
    """Checks of one's own: each is a metric under its name."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The built-in checks that the metrics rest on."""
        return checks_for(need for name in self.metrics for need in METRICS[name].needs)


def items_of(run: Run, settings: Evaluate) -> list[Item]:
    """Return the run's responses to the questions chosen, with the questions it carries."""
    carried = read_testset(run.path).questions
    chosen = {q.id: q for q in select(carried, settings.questions, settings.limit)}
    return [Item(run, chosen[r.question_id], r) for r in run.responses() if r.question_id in chosen]


def wanted_of(names: Sequence[str]) -> Wanted:
    """Return what metrics, presets and checks of one's own are meant, each once.

    A check is named by its file in `conf/check`, or given as the path of one.
    """
    files = {path.stem: path for path in sorted(OWN_CHECKS.glob("*.yaml"))}
    known = {**METRICS, **PRESETS}
    own: dict[str, CustomCheck] = {}
    for name in names:
        if name in known:
            continue
        if name not in files and not name.endswith((".yaml", ".yml")):
            raise ConfigError(unknown(name, [*known, *files], "metric, preset or check"))
        check = read_check(files.get(name) or project_path(name))
        if check.name in {**known, **CHECKS} or own.get(check.name, check) != check:
            raise ConfigError(f"check '{check.name}' is there already; give yours another name")
        own[check.name] = check
    return Wanted(resolve(name for name in names if name in known), tuple(own.values()))
