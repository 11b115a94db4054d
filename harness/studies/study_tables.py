"""A study loaded from its run folders: the tables that analysis is given."""

import hashlib
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config.composition import Composition
from harness.config.paths import testset_folder
from harness.config.run_names import NOT_PART_OF_A_NAME
from harness.config.schema import Report
from harness.errors import RunError
from harness.judge import custom_layers
from harness.metrics import METRICS, is_refusal
from harness.questions import (
    folded,
    question_sha256,
    read_grades,
    read_testset,
    response_sha256,
    select,
    still_meant,
    verdict_by_text,
)
from harness.records import LOST, Layer, Question, Response, Score, Verdict
from harness.store import Run
from harness.studies.graders import machines

if TYPE_CHECKING:
    from harness.analysis import MetricFacts, RunFacts, StudyTable


NOT_TO_REPEAT = NOT_PART_OF_A_NAME - {"version"}
"""Overrides that say where or how much to run: a command made from a run leaves them out."""

OF_THE_STUDY = ("study.corpus", "study.testset", "study.language", "study.repeats")
"""Overrides of a study without which the same run would not come out."""


def metric_facts(
    scores: Mapping[str, Sequence[Score]], runs: Sequence[Run], judge: str
) -> list["MetricFacts"]:
    """Return what is known of each metric that is scored: the table's, checks of one's own, gold.

    A metric that nobody knows any more is told by its numbers alone: neither way is better.
    """
    from harness.analysis import GOLD_METRICS, MetricFacts

    named = dict.fromkeys(score.metric for rows in scores.values() for score in rows)
    own = {
        name: layer for run in runs for name, layer in custom_layers(run.judges()[judge]).items()
    }
    facts = {
        name: MetricFacts(name, metric.layer, metric.higher_is_better, metric.bounded)
        for name, metric in METRICS.items()
    }
    facts |= {name: MetricFacts(name, layer) for name, layer in own.items()}
    facts |= {gold.name: gold for gold in GOLD_METRICS}
    facts |= {
        name: MetricFacts(name, Layer.OVERALL, None, bounded=False)
        for name in named
        if name not in facts
    }
    return [known for name, known in facts.items() if name in named]


def run_facts(
    run: Run, judge: str, responses: Sequence[Response], scores: Sequence[Score]
) -> "RunFacts":
    """Return what analysis has to know of one run."""
    from harness.analysis import RunFacts

    facts: Mapping[str, Any] = run.facts()
    factors, made_with = facts["factors"], facts["made_with"]
    identity: Mapping[str, Any] = run.judges()[judge]
    return RunFacts(
        name=run.name,
        variant=facts["variant"],
        choices=factors["choices"],
        leaves=factors["leaves"],
        inactive=frozenset(factors["inactive"]),
        corpus=facts["corpus_fingerprint"],
        testset=facts["testset_fingerprint"],
        asked=frozenset(row.question_id for row in responses),
        refused=frozenset(
            r.question_id for r in responses if r.response and is_refusal(r.response)
        ),
        partial=facts["partial"],
        part=part_of(run) if facts["partial"] else None,
        notes=tuple(made_with["notes"]),
        overrides=tuple(word for word in facts["overrides"] if to_repeat(word)),
        scored_by={s.metric: mark(identity, s.metric) for s in scores if s.judge is not None},
        generator=model(made_with["models"].get("chat"), made_with["generator"]),
        judge=model(identity.get("chat"), judge),
    )


def part_of(run: Run) -> tuple[int, int] | None:
    """Return how many questions were asked, of how many; None where the latter is not known."""
    of = (run.facts().get("testset") or {}).get("questions")
    return None if of is None else (len({row.question_id for row in run.responses()}), of)


def mark(identity: Mapping[str, Any], metric: str) -> str:
    """Return a hash of what shaped a metric's labels: the judge, or a check of one's own too.

    Other checks of one's own have no part in it.
    """
    shaped = {**identity, "own": identity.get("own", {}).get(metric)}
    return hashlib.sha256(json.dumps(shaped, sort_keys=True).encode()).hexdigest()


def model(identity: Mapping[str, Any] | None, label: str) -> str | None:
    """Return the name of a model: that of its identity, else its label; None where there is none.

    >>> model({"model": "llama3.1"}, "ours"), model({"weights": "0f3c"}, "ours"), model(None, "it")
    ('llama3.1', 'ours', None)
    """
    return None if identity is None else str(identity.get("model") or label)


def to_repeat(word: str) -> bool:
    """Say whether an override must be given again to make a run like this one.

    >>> [to_repeat(w) for w in ("variant.top_k=6", "prompt=strict", "variant=a", "limit=2")]
    [True, True, False, False]
    """
    key, _, package = word.lstrip("+~").partition("=")[0].partition("@")
    if key.startswith("variant.") or key in OF_THE_STUDY:
        return True
    return key.partition(".")[0] not in NOT_TO_REPEAT and not package.startswith("judge")


def ordered(facts: Sequence["RunFacts"], variants: Sequence[str]) -> list["RunFacts"]:
    """Return the runs in the order in which the study lists its variants, others after them.

    A run that read another's passages comes last: it stands for no configuration of its own.
    """
    from harness.text import natural

    place = {variant.split()[0]: number for number, variant in enumerate(variants)}

    def order(run: "RunFacts") -> tuple[object, ...]:
        borrowed = run.passages_from is not None
        return borrowed, place.get(run.variant, len(place)), natural(run.name)

    return sorted(facts, key=order)


log = logging.getLogger(__name__)


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Return the runs over the newest test set among them, and name those left out."""
    facts = {run: run.facts() for run in runs}
    newest = max(runs, key=lambda run: str(facts[run]["ended"]))
    wanted = facts[newest]["testset_fingerprint"]
    for run in runs:
        if facts[run]["testset_fingerprint"] != wanted:
            log.warning(
                "%s is left out: it was asked another test set than %s", run.name, newest.name
            )
    return [run for run in runs if facts[run]["testset_fingerprint"] == wanted]


@dataclass(frozen=True, slots=True)
class Rows:
    """What the folders of the runs hold of the questions chosen, whoever judged: run -> rows."""

    questions: Sequence[Question]
    responses: Mapping[str, Sequence[Response]]
    scores: Mapping[str, Sequence[Score]]
    """Of every judge, and those by named evidence."""
    verdicts: Mapping[str, Sequence[Verdict]]
    """Of every judge."""
    grades: Mapping[tuple[str, str, int], int | None]


def study_tables(
    runs: Sequence[Run], settings: Report, how: Composition
) -> dict[str, "StudyTable"]:
    """Return judge -> the study by this judge: the one chosen, then others over what they scored.

    Another judge that gave no label at all (a server that was down, a wrong name) is left out.
    Raises RunError where the one chosen was not asked about a run.
    """
    chosen = settings.judge.label
    for run in runs:
        check_evaluated(run, chosen, how)
    rows = read_rows(runs, settings)
    tables = {chosen: table_by(chosen, runs, rows, settings)}
    for judge in dict.fromkeys(judge for run in runs for judge in run.judges()):
        if judge == chosen:
            continue
        given = {run: [row for row in rows.scores[run.name] if row.judge == judge] for run in runs}
        scored = [run for run in runs if given[run]]
        if not scored:
            continue
        said = [v for run in scored for v in rows.verdicts[run.name] if v.judge == judge]
        lost = all(row.status in LOST for run in scored for row in given[run])
        if lost and not any(verdict.error is None and verdict.call for verdict in said):
            log.warning("the judge '%s' is left out: none of its labels of these runs came", judge)
            continue
        other = reworded(runs, judge, chosen)
        tables[judge] = table_by(judge, scored, rows, settings, other)
    return tables


def read_rows(runs: Sequence[Run], settings: Report) -> Rows:
    """Return the rows of the runs, and what people said of them."""
    from harness.analysis import gold_scores

    questions = chosen_questions(runs, settings)
    chosen = {question.id for question in questions}
    responses = {
        run.name: [row for row in run.responses() if row.question_id in chosen] for run in runs
    }
    scores = {run.name: [row for row in run.scores() if row.question_id in chosen] for run in runs}
    if any(question.evidence for question in questions):
        for name, answers in responses.items():
            scores[name] += gold_scores(questions, answers)
    verdicts = {
        run.name: [row for row in run.verdicts() if row.question_id in chosen] for run in runs
    }
    grades = human_grades(settings, runs, responses)
    return Rows(questions, responses, scores, verdicts, grades)


def table_by(
    judge: str,
    runs: Sequence[Run],
    rows: Rows,
    settings: Report,
    without: Collection[str] = (),
) -> "StudyTable":
    """Return the study as one judge sees it, `without` these checks of one's own."""
    from harness.analysis import study_table as joined

    names = [run.name for run in runs]
    scores = {
        name: [
            row
            for row in rows.scores[name]
            if row.judge in (None, judge) and row.metric not in without
        ]
        for name in names
    }
    return joined(
        facts=ordered(
            [run_facts(run, judge, rows.responses[run.name], scores[run.name]) for run in runs],
            settings.study.variants,
        ),
        questions=rows.questions,
        metrics=metric_facts(scores, runs, judge),
        scores=scores,
        responses={name: rows.responses[name] for name in names},
        grades=rows.grades,
        verdicts={
            name: [
                row
                for row in rows.verdicts[name]
                if row.judge == judge and row.check not in without
            ]
            for name in names
        },
    )


def reworded(runs: Sequence[Run], judge: str, chosen: str) -> frozenset[str]:
    """Return the checks of one's own that two judges were asked in other words: two checks."""
    said: dict[str, list[object]] = {}
    for run in runs:
        judges: Mapping[str, Any] = run.judges()
        for name in (judge, chosen):
            for check, wording in judges.get(name, {}).get("own", {}).items():
                said.setdefault(check, []).append(wording)
    return frozenset(check for check, own in said.items() if any(one != own[0] for one in own))


def check_evaluated(run: Run, judge: str, how: Composition) -> None:
    """Raise where this judge has not scored a run, with the command that has it do so."""
    judges = run.judges()
    if judge not in judges:
        others = f"; judge=... chooses another: it has those of {', '.join(judges)}"
        raise RunError(
            f"{run.name} has no scores of the judge '{judge}'; work them out: "
            f"python -m harness.evaluate {how.study_words} 'runs=[{run.name}]'"
            + (others if judges else "")
        )


def chosen_questions(runs: Sequence[Run], settings: Report) -> list[Question]:
    """Return the questions that the runs carry, or those of them that are asked for."""
    carried = {q.id: q for run in runs for q in read_testset(run.path).questions}
    return select(list(carried.values()), settings.questions, settings.limit)


def graders(settings: Report, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return who graded answers of this test set, but for the study's own models."""
    refused = {folded(name) for name in machines(runs, settings.judge.label)}
    names = dict.fromkeys(grade.grader for grade in read_grades(grades_file(settings)))
    return tuple(name for name in names if folded(name) not in refused)


def grades_file(settings: Report) -> Path:
    """Return where the grades of the study's test set lie."""
    return testset_folder(settings.study.testset) / "grades.jsonl"


def human_grades(
    settings: Report, runs: Sequence[Run], responses: Mapping[str, Sequence[Response]]
) -> dict[tuple[str, str, int], int | None]:
    """Return (run, question id, repeat) -> grade, for the texts that people have graded.

    None where they could not tell.
    """
    asked = {q.id: question_sha256(q) for run in runs for q in read_testset(run.path).questions}
    grades = still_meant(read_grades(grades_file(settings)), asked)
    said = verdict_by_text(grades, machines(runs, settings.judge.label))
    return {
        (run, row.question_id, row.repeat): said[key]
        for run, rows in responses.items()
        for row in rows
        if row.response is not None
        and (key := (row.question_id, response_sha256(row.response))) in said
    }


def documents(questions: Sequence[Question]) -> dict[str, str]:
    """Return question id -> the document that its first evidence stands in; absent without."""
    return {q.id: q.evidence[0].document for q in questions if q.evidence}
