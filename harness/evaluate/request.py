"""An evaluation request: the metrics and checks asked for, and the responses to score."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.config import paths
from harness.config.schema import Evaluate
from harness.errors import ConfigError, unknown
from harness.judge import CHECKS, Case, CustomCheck, checks_for, read_check
from harness.metrics import METRICS, PRESETS, resolve
from harness.questions import read_testset, select
from harness.records import Question, Response
from harness.store import Run


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """The metrics and custom checks that are asked for."""

    metrics: tuple[str, ...]
    custom_checks: tuple[CustomCheck, ...]
    """Each is a metric under its name."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The built-in checks that the metrics depend on."""
        return checks_for(need for name in self.metrics for need in METRICS[name].needs)


@dataclass(frozen=True, slots=True)
class RunResponse:
    """One response to be scored, with its run and with the question as the run carries it."""

    run: Run
    question: Question
    response: Response

    @property
    def failed(self) -> bool:
        """Whether the system gave no answer, so that there is nothing to judge."""
        return self.response.response is None

    @property
    def case(self) -> Case:
        """The part of it that the judge may see."""
        return Case(
            question_id=self.response.question_id,
            repeat=self.response.repeat,
            question=self.response.user_input,
            response=self.response.response or "",
            reference=self.response.reference,
            passages=tuple(passage.text for passage in self.response.passages),
        )


def read_request(names: Sequence[str]) -> EvaluationRequest:
    """Return the metrics, presets and custom checks of these names, each once.

    A custom check is named by its file in `conf/check`, or given as the path of a file.
    """
    files = {path.stem: path for path in sorted((paths.CONF / "check").glob("*.yaml"))}
    known = {**METRICS, **PRESETS}
    custom: dict[str, CustomCheck] = {}
    for name in names:
        if name in known:
            continue
        if name not in files and not name.endswith((".yaml", ".yml")):
            raise ConfigError(unknown(name, [*known, *files], "metric, preset or check"))
        check = read_check(files.get(name) or paths.user_path(name))
        if check.name in {**known, **CHECKS} or custom.get(check.name, check) != check:
            raise ConfigError(f"check '{check.name}' already exists; give yours another name")
        custom[check.name] = check
    return EvaluationRequest(
        resolve(name for name in names if name in known), tuple(custom.values())
    )


def responses_to_score(run: Run, settings: Evaluate) -> list[RunResponse]:
    """Return the run's responses to the questions chosen."""
    carried = read_testset(run.path).questions
    chosen = {q.id: q for q in select(carried, settings.questions, settings.limit)}
    return [
        RunResponse(run, chosen[row.question_id], row)
        for row in run.responses()
        if row.question_id in chosen
    ]
