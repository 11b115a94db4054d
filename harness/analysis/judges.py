"""Several judges over the same answers: findings that hold under all, and agreement by check."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.analysis.analyse import WHOLE_REPORT, effects_in_view, in_view, runs_in_view
from harness.analysis.changes import Design
from harness.analysis.contrasts import cluster_numbers
from harness.analysis.effects import compare
from harness.analysis.findings import SIDES, Finding, Severity, strongest_first
from harness.analysis.findings.contrast_findings import effect_findings, values_of
from harness.analysis.findings.run_findings import deeper_ranks
from harness.analysis.findings.study_findings import judge_findings, trust_finding
from harness.analysis.rankings import BY_JUDGE, USEFUL, retrieval_facts
from harness.analysis.results import (
    UNCHECKED,
    Analysis,
    CheckAgreement,
    Contrast,
    Effect,
    FindingByJudge,
    Judges,
    MetricTrust,
    Reading,
)
from harness.analysis.statistics.kappa import kappa
from harness.analysis.study_table import (
    Options,
    RightWrong,
    ScoreCube,
    StudyTable,
    asked_mask,
    measures,
    names_where,
)
from harness.analysis.trust import metric_trust
from harness.records import CLAIMS_OF, Status, Verdict, rows_by_response
from harness.text import claim_key

FEWEST_RUNS = 2
"""Runs that a judge must have scored for its findings to be compared: one run has no contrast."""


class LabelKey(NamedTuple):
    """What was labelled: equal for two judges that were asked the same."""

    run: str
    question: str
    repeat: int
    item: int | tuple[str, int]
    """Its index; or a claim's text and how many times it occurred before."""
    against: int


Labels = Mapping[LabelKey, int]


@dataclass(frozen=True, slots=True, eq=False)
class CommonPart:
    """What every one of these judges has scored."""

    tables: Mapping[str, StudyTable]
    """Judge -> the same runs, questions and metrics as scored by it; empty below two judges."""
    metrics: tuple[str, ...]
    """Those of the metrics that rest on a judge."""
    uncommon: tuple[str, ...]
    """Metrics that rest on a judge and that not every judge has scored."""


@dataclass(frozen=True, slots=True)
class JudgeResults:
    """What one judge's scores give for the common part."""

    effects: Mapping[tuple[str, ...], Effect]
    """By factor and its two values."""
    trust: Mapping[str, MetricTrust]
    findings: Mapping[tuple[object, ...], Finding]
    """By what they state (`statement`), those that rest on the judge."""


def judged_by_several(
    analysis: Analysis, tables: Mapping[str, StudyTable], options: Options
) -> Analysis:
    """Return the analysis with what other judges say about the same answers, if there are any.

    Args:
        analysis: Of the first of the tables.
        tables: Judge -> the study as scored by this judge, over the runs that it has scored.
        options: Those of the analysis.
    """
    if len(tables) < 2:
        return analysis
    common = common_part(tables)
    # a baseline that is a repeat was replaced by the run that it repeats
    options = replace(options, baseline=analysis.baseline)
    lead = next(iter(tables.values()))
    results: dict[str, JudgeResults] = {}
    for judge, study in common.tables.items():
        if not results and study.scores.values.shape == lead.scores.values.shape:
            # the first judge's common part is everything, which has been analysed
            results[judge] = judge_results(
                study, analysis.effects, analysis.contrasts, analysis.trust, common, options
            )
        else:
            results[judge] = analyse_judge(study, common, options)
    one = next(iter(common.tables.values()), None)
    found = Judges(
        names=tuple(tables),
        agreements=agreements({judge: study.verdicts for judge, study in tables.items()}, options),
        compared=tuple(common.tables),
        runs=one.scores.runs if one else (),
        questions=one.scores.questions if one else (),
        metrics=common.metrics,
        of_runs=len(lead.runs),
        of_questions=len(lead.questions),
        uncommon=common.uncommon,
        findings=tuple(findings_by_judge(results)),
        free=sum(needs_no_judge(finding, judged_metrics(lead)) for finding in analysis.findings),
    )
    findings = strongest_first([*analysis.findings, *judge_findings(found)])
    return replace(analysis, judges=found, findings=findings)


def judged_metrics(study: StudyTable) -> list[str]:
    """Return the metrics that rest on a judge."""
    known = {metric for run in study.runs for metric in run.scored_by}
    return [facts.name for facts in study.scores.metrics if facts.name in known]


def common_part(tables: Mapping[str, StudyTable]) -> CommonPart:
    """Return what all judges have scored, except judges that scored fewer than two of the runs.

    A question counts where every judge has a score or NA for it in every common run that was
    asked it; a metric counts where every judge has at least one score: a metric that a judge
    cannot score is no disagreement. Runs and metrics that a judge scored in part are left out
    where more is compared without them (`fullest`).
    """
    lead, *others = tables
    ours = tables[lead].scores.runs
    having = {name: set(tables[name].scores.runs) & set(ours) for name in others}
    taken = [lead, *(name for name in others if len(having[name]) >= FEWEST_RUNS)]
    runs = [run for run in ours if all(run in having[name] for name in taken[1:])]
    if len(taken) < 2 or len(runs) < FEWEST_RUNS:
        return CommonPart({}, (), ())
    own = {name: judged_metrics(tables[name]) for name in taken}
    shared = [metric for metric in own[lead] if all(metric in own[name] for name in taken)]
    seen = {name: part(tables[name], runs) for name in taken}
    metrics, scored = [], []
    for metric in shared:
        columns = [
            (table, [facts.name for facts in table.scores.metrics].index(metric))
            for table in seen.values()
        ]
        if not any(np.isnan(table.scores.values[:, :, k]).all() for table, k in columns):
            metrics.append(metric)
            scored.append(
                np.all(
                    [
                        (table.scores.statuses[:, :, k] != "") | ~asked_mask(table)
                        for table, k in columns
                    ],
                    axis=0,
                )
            )
    free = [m.name for m in seen[lead].scores.metrics if m.name not in own[lead]]
    questions = seen[lead].scores.questions
    if metrics:
        cells = np.stack(scored)
        layers, rows = fullest(cells)
        questions = names_where(questions, np.asarray(cells[np.ix_(layers, rows)].all(axis=(0, 1))))
        metrics, runs = [metrics[at] for at in layers], [runs[at] for at in rows]
    if not questions:
        return CommonPart({}, (), ())
    kept = [m.name for m in seen[lead].scores.metrics if m.name in {*metrics, *free}]
    uncommon = dict.fromkeys(m for name in taken for m in own[name] if m not in metrics)
    return CommonPart(
        {name: part(seen[name], runs, questions, kept) for name in taken},
        tuple(metrics),
        tuple(uncommon),
    )


def fullest(scored: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Return the metrics and the runs that have the most cells in common.

    What misses the largest share of its cells is left out, again and again, runs before metrics;
    of all these steps the first with the most cells over complete questions is taken.

    Args:
        scored: (metrics, runs, questions), whether every judge has a score or NA.

    >>> [list(map(int, kept)) for kept in fullest(np.array([[[1, 1], [1, 1], [1, 0]]], dtype=bool))]
    [[0], [0, 1]]
    """
    layers, rows = list(range(scored.shape[0])), list(range(scored.shape[1]))
    best, most = (layers, rows), -1
    while True:
        cells = scored[np.ix_(layers, rows)]
        if (size := cells[:, :, cells.all(axis=(0, 1))].size) > most:
            best, most = (layers, rows), size
        of_runs, of_metrics = (~cells).mean(axis=(0, 2)), (~cells).mean(axis=(1, 2))
        by_run = len(rows) > FEWEST_RUNS
        if by_run and (len(layers) == 1 or of_runs.max() >= of_metrics.max()):
            rows = [row for at, row in enumerate(rows) if at != of_runs.argmax()]
        elif len(layers) > 1:
            layers = [layer for at, layer in enumerate(layers) if at != of_metrics.argmax()]
        else:
            return best


def part(
    study: StudyTable,
    runs: Sequence[str],
    questions: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> StudyTable:
    """Return the study reduced to these runs, questions and metrics; None keeps all."""
    cube, right = study.scores, study.right
    names = [facts.name for facts in cube.metrics]
    rows = [cube.runs.index(run) for run in runs]
    columns = [cube.questions.index(question) for question in questions or cube.questions]
    layers = [at for at, name in enumerate(names) if metrics is None or name in metrics]
    cells, cell = np.ix_(rows, columns, layers), np.ix_(rows, columns)
    ids = {study.questions[at].id for at in columns}
    return StudyTable(
        runs=tuple(
            run if run.asked is None else replace(run, asked=run.asked & ids)
            for run in (study.runs[at] for at in rows)
        ),
        questions=tuple(study.questions[at] for at in columns),
        scores=ScoreCube(
            tuple(cube.runs[at] for at in rows),
            tuple(cube.questions[at] for at in columns),
            tuple(cube.metrics[at] for at in layers),
            cube.values[cells],
            cube.units[cells],
            cube.statuses[cells],
            tuple(cube.binary[at] for at in layers),
        ),
        right=RightWrong(
            right.values[cell], right.origins[cell], right.errors[cell], right.drawn[cell]
        ),
        responses={
            (run, question): answers
            for (run, question), answers in study.responses.items()
            if run in runs and question in ids
        },
        verdicts={
            run: tuple(row for row in said if row.question_id in ids)
            for run, said in study.verdicts.items()
            if run in runs
        },
    )


def analyse_judge(study: StudyTable, common: CommonPart, options: Options) -> JudgeResults:
    """Analyse the common part as scored by one judge; its tests are one family."""
    baseline = options.baseline if options.baseline in study.scores.runs else None
    compared = measures(study)
    trust = metric_trust(study, compared, cluster_numbers(study, options))
    view = replace(options, baseline=baseline)
    found = compare(study, Design(study.runs), compared, trust, view)
    return judge_results(study, found.effects, found.contrasts, trust, common, options)


def judge_results(
    study: StudyTable,
    effects: Sequence[Effect],
    pairs: Sequence[Contrast],
    trust: Sequence[MetricTrust],
    common: CommonPart,
    options: Options,
) -> JudgeResults:
    """Return the contrasts, the trust, and the findings in view that rest on the judge."""
    ranked = all(map(has_useful_labels, common.tables.values()))
    shown = runs_in_view(study.scores.runs, pairs, options)
    findings = [
        *effect_findings(effects_in_view(effects, options)),
        *(trust_finding(row) for row in trust if row.verdict not in UNCHECKED),
        *deeper_ranks(study, retrieval_facts(study)),
    ]
    return JudgeResults(
        {(effect.factor, *values_of(effect.change).values()): effect for effect in effects},
        {row.metric: row for row in trust},
        {
            statement(finding): finding
            for finding in findings
            if in_view(finding, options, shown)
            and (ranked if rests_on_judged_ranks(finding) else finding.metric in common.metrics)
        },
    )


def statement(finding: Finding) -> tuple[object, ...]:
    """Return what a finding states apart from its numbers: its subject, kind and direction."""
    mean = finding.numbers.get("mean")
    return (
        finding.kind,
        change_of(finding),
        (finding.run, finding.metric),
        finding.names.get("verdict"),
        mean is not None and mean > 0,
        finding.numbers.get("k"),
    )


def subject(finding: Finding) -> tuple[object, ...]:
    """Return what a finding is about: two judges that find opposite things of it have one row."""
    return (change_of(finding), finding.run, finding.metric, finding.numbers.get("k"))


def change_of(finding: Finding) -> tuple[str, ...]:
    """Return the change that a finding is about: its factor and its values; empty without one."""
    return () if finding.factor is None else (finding.factor, *(finding.names[s] for s in SIDES))


def rests_on_judged_ranks(finding: Finding) -> bool:
    """Return whether a finding rests on which passages a judge called useful."""
    return finding.kind == "deeper_rank" and finding.names["source"] == BY_JUDGE


def has_useful_labels(study: StudyTable) -> bool:
    """Return whether the judge gave any label on the usefulness of passages."""
    labels = (v for rows in study.verdicts.values() for v in rows if v.check == USEFUL)
    return any(verdict.label is not None for verdict in labels)


def needs_no_judge(finding: Finding, judged: list[str]) -> bool:
    """Return whether a result rests on no judge: on right and wrong, named evidence or costs."""
    return (
        finding.severity is Severity.FINDING
        and finding.metric not in judged
        and not rests_on_judged_ranks(finding)
    )


def findings_by_judge(results: Mapping[str, JudgeResults]) -> Iterator[FindingByJudge]:
    """Yield each subject of any judge's finding with all judges' readings.

    The first judge's come first. That a metric is trusted goes before that it is not: a row on
    trust names the judges under whom right answers score above wrong ones, if there are any.
    """
    first: dict[tuple[object, ...], Finding] = {}
    for own in results.values():
        for finding in own.findings.values():
            found = first.setdefault(subject(finding), finding)
            if found.kind == "metric_not_trusted" and finding.kind == "metric_trusted":
                first[subject(finding)] = finding
    for finding in first.values():
        key = statement(finding)
        yield FindingByJudge(
            finding,
            tuple(
                Reading(judge, key in own.findings, *reading(finding, own))
                for judge, own in results.items()
            ),
        )


def reading(finding: Finding, own: JudgeResults) -> tuple[str, float | None]:
    """Return one judge's conclusion on the subject of a finding, and the number behind it."""
    metric = finding.metric or ""
    if finding.factor is not None:
        effect = own.effects.get(change_of(finding))
        difference = effect.difference(metric) if effect else None
        return (difference.verdict.value, difference.mean) if difference else ("", None)
    trust = own.trust.get(metric)
    return (trust.verdict.value, trust.within) if trust else ("", None)


def agreements(
    verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]], options: Options = WHOLE_REPORT
) -> tuple[CheckAgreement, ...]:
    """Compare every two judges' labels, check by check.

    Args:
        verdicts: Judge -> run -> its rows.
        options: Their clusters of questions are the units of the intervals.
    """
    return tuple(
        agreement(pair, check, rows, options)
        for pair in combinations(verdicts, 2)
        for check, rows in by_check(verdicts, pair)
    )


def by_check(
    verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]], pair: tuple[str, str]
) -> Iterator[tuple[str, list[list[tuple[str, Verdict]]]]]:
    """Yield each check of either judge, with both judges' rows on the answers that both judged."""
    judged = [
        {
            (run, *place): checks
            for run, rows in verdicts[judge].items()
            for place, checks in rows_by_response(rows).items()
        }
        for judge in pair
    ]
    common = judged[0].keys() & judged[1].keys()
    found: dict[str, list[list[tuple[str, Verdict]]]] = defaultdict(lambda: [[], []])
    for side, answers in enumerate(judged):
        for answer, checks in answers.items():
            for check, rows in checks.items():
                if check not in CLAIMS_OF.values():
                    found[check][side] += [(answer[0], row) for row in rows if answer in common]
    yield from found.items()


def agreement(
    pair: tuple[str, str],
    check: str,
    rows: Sequence[Sequence[tuple[str, Verdict]]],
    options: Options,
) -> CheckAgreement:
    """Compare two judges' labels on one check."""
    labels = [labels_of(check, side) for side in rows]
    found = kappa(labels[0], labels[1], unit=lambda one: options.cluster(one.question))
    lacking, undefined = None, None
    if not found.n:
        lacking, undefined = why_unmatched(pair, check, rows, labels)
    elif found.kappa is None:
        undefined = "one_label"
    elif any(1.0 in both for both in found.shares.values()):
        undefined = "one_constant"
    return CheckAgreement(
        first=pair[0],
        second=pair[1],
        check=check,
        first_labelled=len(labels[0]),
        second_labelled=len(labels[1]),
        n=found.n,
        questions=len({one.question for one in labels[0] if one in labels[1]}),
        agreed=found.agreed,
        shares=found.shares,
        kappa=found.kappa,
        low=found.low,
        high=found.high,
        undefined=undefined,
        lacking=lacking,
    )


def labels_of(check: str, rows: Sequence[tuple[str, Verdict]]) -> dict[LabelKey, int]:
    """Return one judge's labels in one check.

    A claim that occurs twice in one answer is matched first with first, second with second.
    """
    found: dict[LabelKey, int] = {}
    before: Counter[tuple[object, ...]] = Counter()
    claims = {text: claim_key(text) for text in {row.text or "" for _, row in rows}}
    for run, row in rows:
        if row.label is None or row.item < 0:
            continue
        item: int | tuple[str, int] = row.item
        if check in CLAIMS_OF:
            claim = claims[row.text or ""]
            place = (run, row.question_id, row.repeat), claim, row.against
            item = claim, before[place]
            before[place] += 1
        found[LabelKey(run, row.question_id, row.repeat, item, row.against)] = row.label
    return found


def why_unmatched(
    pair: tuple[str, str],
    check: str,
    rows: Sequence[Sequence[tuple[str, Verdict]]],
    labels: Sequence[Labels],
) -> tuple[str | None, str]:
    """Return which judge gave no label and why, or why the labels of both cannot be matched."""
    for judge, judged, own in zip(pair, rows, labels, strict=True):
        if own:
            continue
        if not any(rows):
            return None, "nothing_in_common"
        reasons = Counter(row.error for _, row in judged if row.error is not None)
        commonest = max(reasons, key=lambda reason: reasons[reason], default=None)
        return judge, commonest or Status.NOT_ASKED.value
    return None, "other_claims" if check in CLAIMS_OF else "nothing_in_common"
