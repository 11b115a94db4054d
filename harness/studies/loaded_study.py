"""A study loaded from its folder, joined into tables as each judge sees them, and analysed."""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from harness.config.composition import Composition
from harness.config.paths import NOT_PART_OF_A_NAME, study_path, testset_folder
from harness.config.schema import Expected, PrimaryTest, Report, Stage
from harness.errors import ConfigError, RunError, in_language, pick
from harness.judge import DECLINES, custom_layers
from harness.metrics import METRICS, is_refusal
from harness.questions import answer_grades, random_draws, read_testset, select
from harness.records import LOST, Layer, Question, Response, Score, Verdict
from harness.store import Run
from harness.studies.graders import human_grades
from harness.studies.sound_runs import SoundRuns, sound_runs
from harness.systems import Provenance
from harness.text import natural, sha256

if TYPE_CHECKING:
    from harness.analysis import (
        Analysis,
        Expectation,
        MetricFacts,
        Options,
        Primary,
        RunFacts,
        StudyTable,
    )

log = logging.getLogger(__name__)

Declared = TypeVar("Declared", "Primary", "Expectation")

CLUSTERS = ("question", "document")
"""The units of sampling."""

FEWEST_DOCUMENTS = 8
"""Documents with questions from which the document is the unit by default."""

NOT_REPEATED = NOT_PART_OF_A_NAME - {"version"}
"""Overrides that say where or how much to run: a command made from a run leaves them out."""

OF_THE_STUDY = ("study.corpus", "study.testset", "study.language", "study.repeats")
"""Overrides of a study without which a command would give another run."""


@dataclass(frozen=True, slots=True)
class RunRows:
    """The rows of the runs on the questions chosen, of every judge: run -> rows."""

    questions: Sequence[Question]
    responses: Mapping[str, Sequence[Response]]
    scores: Mapping[str, Sequence[Score]]
    """Of every judge, and those by named evidence."""
    verdicts: Mapping[str, Sequence[Verdict]]
    """Of every judge."""
    grades: Mapping[tuple[str, str, int], int | None]
    draws: Mapping[str, float]
    """Question id -> the chance with which it was drawn at random for grading."""


@dataclass(frozen=True, slots=True)
class LoadedStudy:
    """The runs of a study that can be compared, their rows, and their analysis."""

    judge: str
    """The label of the judge chosen."""
    runs: Sequence[Run]
    rows: RunRows
    analysis: "Analysis"
    chosen: SoundRuns


def report_language(language: str, study_language: str) -> str:
    """Return the language whose words are used: English, with a warning, for a study in another.

    Raises UnknownNameError for a language that is not the study's and has no words.
    """
    from harness.render import LANGUAGES

    if language == study_language:
        in_language(LANGUAGES, language, "words of the report")
        return language if language in LANGUAGES else "en"
    pick(LANGUAGES, language, "language")
    return language


def load_study(settings: Report, how: Composition) -> LoadedStudy:
    """Return the study that the settings choose, read from its folder and analysed."""
    from harness.analysis import analyse, judged_by_several

    judge = settings.judge.label
    chosen = sound_runs(study_path(settings), settings.runs, how)
    runs = comparable(chosen.runs)
    for run in runs:
        check_evaluated(run, judge, how)
    rows = read_rows(runs, settings)
    tables = study_tables(runs, rows, settings)
    options = read_options(settings, runs, tables[judge])
    analysis = judged_by_several(analyse(tables[judge], options), tables, options)
    return LoadedStudy(judge, runs, rows, analysis, chosen)


def read_options(settings: Report, runs: Sequence[Run], table: "StudyTable") -> "Options":
    """Return the options of the analysis, each name checked."""
    from harness.analysis import Expectation, Options, Primary
    from harness.analysis.changes import Design

    if settings.baseline is not None:
        pick({run.name: run for run in table.runs}, settings.baseline, "baseline")
    if settings.factor is not None:
        changes = Design(table.runs).changes.values()
        factors = {change.factor: change for found in changes for change in found}
        pick(factors, settings.factor, "factor")
    return Options(
        baseline=settings.baseline,
        factor=settings.factor,
        primary=declared(
            "primary", lambda one: Primary(**one), runs, table.runs, settings.study.primary
        ),
        expect=declared(
            "expect", lambda one: Expectation(**one), runs, table.runs, settings.study.expect
        ),
        clusters=clusters(settings.cluster, table),
    )


def clusters(unit: str | None, table: "StudyTable") -> dict[str, str]:
    """Return question id -> the document it is sampled with; empty if questions are the unit.

    It is the document of the question's first evidence; a question without evidence has no entry.
    """
    if unit is not None:
        pick(dict.fromkeys(CLUSTERS), unit, "cluster")
    documents = {q.id: q.evidence[0].document for q in table.questions if q.evidence}
    if unit is None and len(set(documents.values())) >= FEWEST_DOCUMENTS:
        return documents
    if unit != "document":
        return {}
    if not documents:
        raise ConfigError(
            "cluster=document: no question says which document its answer is in; "
            "give 'evidence' in the test set"
        )
    if without := [question.id for question in table.questions if question.id not in documents]:
        log.warning("cluster=document: without evidence, so alone: %s", ", ".join(without))
    return documents


def declared(
    key: str,
    read: Callable[[Mapping[str, Any]], Declared],
    runs: Sequence[Run],
    facts: Sequence["RunFacts"],
    now: Sequence[PrimaryTest | Expected],
) -> tuple[Declared, ...]:
    """Return the tests or expectations that were declared before the runs they compare.

    Other tests are exploratory. What a run has on record counts even if the study no longer names
    it: a declaration cannot be withdrawn once the result is known.

    Args:
        key: Of a run's record of its study: `primary` or `expect`.
        read: Makes one of what the record holds.
        runs: All of the report.
        facts: Of these runs.
        now: What the study names now.
    """
    from harness.analysis.changes import Design

    records = {run.name: run.facts() for run in runs}
    earlier = {
        name: list(map(read, record["study"].get(key, []))) for name, record in records.items()
    }
    every = [read(asdict(one)) for one in now]
    every += [one for recorded in earlier.values() for one in recorded]
    compared: dict[str, set[str]] = defaultdict(set)
    for pair, change in Design(facts).contrasts if every else ():
        compared[change.factor] |= {facts[at].name for at in pair}
    found = []
    for one in dict.fromkeys(every):
        late = [n for n in records if n in compared[one.factor] and one not in earlier[n]]
        if late:
            log.warning(
                "study.%s: %s of %s does not count: it was declared after %s was collected (%s)",
                key, one.metric, one.factor, late[0], records[late[0]]["started"],
            )  # fmt: skip
        else:
            found.append(one)
    return tuple(found)


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Return the runs on the newest test set among them; a warning names those left out."""
    facts = {run: run.facts() for run in runs}
    newest = max(runs, key=lambda run: str(facts[run]["ended"]))
    current = facts[newest]["testset_fingerprint"]
    for run in runs:
        if facts[run]["testset_fingerprint"] != current:
            text = (
                "%s is left out: it was collected on another edition of the test set than %s; "
                "collect it again with again=true to compare it"
            )
            log.warning(text, run.name, newest.name)
    return [run for run in runs if facts[run]["testset_fingerprint"] == current]


def study_tables(runs: Sequence[Run], rows: RunRows, settings: Report) -> dict[str, "StudyTable"]:
    """Return judge -> the study by this judge: the one chosen, then others on what they scored.

    Another judge that gave no label at all (a server that was down, a wrong name) is left out.
    """
    chosen = settings.judge.label
    tables = {chosen: table_by(chosen, runs, rows, settings)}
    for judge in dict.fromkeys(judge for run in runs for judge in run.judges()):
        if judge == chosen:
            continue
        by_run = {run: [row for row in rows.scores[run.name] if row.judge == judge] for run in runs}
        scored = [run for run in runs if by_run[run]]
        if not scored:
            continue
        labels = [v for run in scored for v in rows.verdicts[run.name] if v.judge == judge]
        lost = all(row.status in LOST for run in scored for row in by_run[run])
        if lost and not any(verdict.error is None and verdict.call for verdict in labels):
            log.warning("the judge '%s' is left out: it has no label on any of these runs", judge)
            continue
        other = reworded_checks(runs, judge, chosen)
        tables[judge] = table_by(judge, scored, rows, settings, other)
    return tables


def check_evaluated(run: Run, judge: str, how: Composition) -> None:
    """Raise where this judge has not scored a run, with the command that makes it do so."""
    judges = run.judges()
    if judge not in judges:
        others = f"; or choose another with judge=...: this run has {', '.join(judges)}"
        raise RunError(
            f"{run.name} has no scores of the judge '{judge}'; compute them: "
            + how.command("evaluate", f"'runs=[{run.name}]'")
            + (others if judges else "")
        )


def read_rows(runs: Sequence[Run], settings: Stage) -> RunRows:
    """Return the rows of the runs, and people's grades of them."""
    from harness.analysis import gold_scores

    carried = {q.id: q for run in runs for q in read_testset(run.path).questions}
    chosen = {q.id for q in select(list(carried.values()), settings.questions, settings.limit)}
    questions = [question for question in carried.values() if question.id in chosen]
    responses = {r.name: [a for a in r.responses() if a.question_id in chosen] for r in runs}
    scores = {r.name: [s for s in r.scores() if s.question_id in chosen] for r in runs}
    verdicts = {r.name: [v for v in r.verdicts() if v.question_id in chosen] for r in runs}
    if any(question.evidence for question in questions):
        for name, answers in responses.items():
            scores[name] += gold_scores(questions, answers)
    grades = human_grades(settings, runs, responses)
    draws = random_draws(answer_grades(testset_folder(settings.study.testset)).read())
    return RunRows(questions, responses, scores, verdicts, grades, draws)


def table_by(
    judge: str,
    runs: Sequence[Run],
    rows: RunRows,
    settings: Stage,
    without: Collection[str] = (),
) -> "StudyTable":
    """Return the study as one judge sees it, `without` these custom checks.

    A run that the judge has not scored has no scores.
    """
    from harness.analysis import study_table, with_draws

    names = [run.name for run in runs]
    scores = {
        name: [s for s in rows.scores[name] if s.judge in (None, judge) and s.metric not in without]
        for name in names
    }
    verdicts = {
        name: [v for v in rows.verdicts[name] if v.judge == judge and v.check not in without]
        for name in names
    }
    facts = [
        run_facts(run, judge, rows.responses[run.name], scores[run.name], verdicts[run.name])
        for run in runs
    ]
    table = study_table(
        runs=in_study_order(facts, settings.study.variants),
        questions=rows.questions,
        metrics=metric_facts(scores, runs, judge),
        scores=scores,
        responses={name: rows.responses[name] for name in names},
        grades=rows.grades,
        verdicts=verdicts,
    )
    return with_draws(table, rows.draws)


def reworded_checks(runs: Sequence[Run], judge: str, chosen: str) -> frozenset[str]:
    """Return the custom checks that two judges were asked in different words: different checks."""
    wordings: dict[str, list[object]] = {}
    for run in runs:
        judges: Mapping[str, Any] = run.judges()
        for name in (judge, chosen):
            for check, wording in judges.get(name, {}).get("own", {}).items():
                wordings.setdefault(check, []).append(wording)
    return frozenset(check for check, each in wordings.items() if any(w != each[0] for w in each))


def in_study_order(facts: Sequence["RunFacts"], variants: Sequence[str]) -> list["RunFacts"]:
    """Return the runs in the order in which the study lists its variants, others after them.

    A run on another run's passages comes last: it is no configuration of the study.
    """
    place = {variant.split()[0]: number for number, variant in enumerate(variants)}

    def order(run: "RunFacts") -> tuple[object, ...]:
        handed_over = run.passages_from is not None
        return handed_over, place.get(run.variant, len(place)), natural(run.name)

    return sorted(facts, key=order)


def run_facts(
    run: Run,
    judge: str,
    responses: Sequence[Response],
    scores: Sequence[Score],
    verdicts: Sequence[Verdict],
) -> "RunFacts":
    """Return what analysis needs to know of one run."""
    from harness.analysis import RunFacts

    facts: Mapping[str, Any] = run.facts()
    factors, made_with = facts["factors"], Provenance.from_record(facts["made_with"])
    identity: Mapping[str, Any] = run.judges().get(judge, {})
    declines = {
        (v.question_id, v.repeat): v.label == 1
        for v in verdicts
        if v.check == DECLINES and v.label is not None
    }
    refused = [
        r.question_id
        for r in responses
        if r.response and declines.get((r.question_id, r.repeat), is_refusal(r.response))
    ]
    of = (facts.get("testset") or {}).get("questions") if facts["partial"] else None
    return RunFacts(
        name=run.name,
        variant=facts["variant"],
        choices=factors["choices"],
        leaves=factors["leaves"],
        inactive=frozenset(factors["inactive"]),
        # a system that names no documents has the fingerprint of none
        corpus=facts["corpus_fingerprint"] if facts.get("corpus", True) else "",
        testset=facts["testset_fingerprint"],
        asked=frozenset(row.question_id for row in responses),
        refused=frozenset(refused),
        refusals_judged=len(declines),
        partial=facts["partial"],
        part=None if of is None else (len({row.question_id for row in run.responses()}), of),
        answers=(facts.get("counts") or {}).get("questions", 0),
        notes=made_with.notes,
        overrides=tuple(word for word in facts["overrides"] if is_repeated(word)),
        scored_by={
            s.metric: labels_sha256(identity, s.metric) for s in scores if s.judge is not None
        },
        generator=model_name(made_with.models.get("chat"), made_with.generator),
        other_models=made_with.other_models(row.model for row in responses),
        judge=model_name(identity.get("chat"), judge),
    )


def labels_sha256(identity: Mapping[str, Any], metric: str) -> str:
    """Return a hash of what shaped a metric's labels: the judge, and for a custom check its text.

    Other custom checks have no part in it.
    """
    shaping = {**identity, "own": identity.get("own", {}).get(metric)}
    return sha256(json.dumps(shaping, sort_keys=True))


def model_name(identity: Mapping[str, Any] | None, label: str) -> str | None:
    """Return the name of a model: that of its identity, else its label; None without a model.

    >>> model_name({"model": "llama3.1"}, "ours"), model_name({"weights": "0f3c"}, "ours")
    ('llama3.1', 'ours')
    """
    return None if identity is None else str(identity.get("model") or label)


def is_repeated(word: str) -> bool:
    """Say whether an override must be given again to get a run like this one.

    >>> [is_repeated(w) for w in ("variant.top_k=6", "prompt=strict", "variant=a", "limit=2")]
    [True, True, False, False]
    """
    key, _, package = word.lstrip("+~").partition("=")[0].partition("@")
    if key.startswith("variant.") or key in OF_THE_STUDY:
        return True
    return key.partition(".")[0] not in NOT_REPEATED and not package.startswith("judge")


def metric_facts(
    scores: Mapping[str, Sequence[Score]], runs: Sequence[Run], judge: str
) -> list["MetricFacts"]:
    """Return what is known of each metric that is scored: built-in, custom check, or by evidence.

    A metric that no longer exists has only its numbers: neither direction is better.
    """
    from harness.analysis import GOLD_METRICS, MetricFacts

    scored = dict.fromkeys(score.metric for rows in scores.values() for score in rows)
    custom = {
        name: layer
        for run in runs
        for name, layer in custom_layers(run.judges().get(judge, {})).items()
    }
    facts = {
        name: MetricFacts(name, metric.layer, metric.higher_is_better, metric.bounded)
        for name, metric in METRICS.items()
    }
    facts |= {name: MetricFacts(name, layer) for name, layer in custom.items()}
    facts |= {gold.name: gold for gold in GOLD_METRICS}
    gone = [name for name in scored if name not in facts]
    facts |= {name: MetricFacts(name, Layer.OVERALL, None, bounded=False) for name in gone}
    return [known for name, known in facts.items() if name in scored]
