"""Several judges over the same answers: agreement check by check, and what holds under all."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.analysis.analyse import shown_by
from harness.analysis.changes import Design
from harness.analysis.contrasts import contrasts
from harness.analysis.findings.cautions import about_trust
from harness.analysis.findings.kinds import SIDES
from harness.analysis.findings.listing import strongest_first
from harness.analysis.findings.statements import claims
from harness.analysis.measures import asked, measures, named
from harness.analysis.rankings import BY_JUDGE, deeper_ranks, retrieval_facts
from harness.analysis.results import (
    Analysis,
    CheckAgreement,
    Claim,
    Contrast,
    Finding,
    Judges,
    MetricTrust,
    Reading,
    Severity,
    Trust,
)
from harness.analysis.statistics.kappa import kappa
from harness.analysis.study_table import Options, RightWrong, ScoreCube, StudyTable
from harness.analysis.suspects import CLAIMS, even
from harness.analysis.trust import metric_trust
from harness.records import Status, Verdict

ABOUT_CLAIMS = frozenset(
    f"{claims}_in_{text}"
    for claims in CLAIMS
    for text in ("context", "passages", "reference", "response")
    if claims != text
)
"""Checks whose item is a claim, which another judge may have taken otherwise."""

Answer = tuple[str, str, int]
"""Run, question id and repeat."""


class Labelled(NamedTuple):
    """What was labelled: the same for two judges where both were asked the same."""

    run: str
    question: str
    repeat: int
    item: int | tuple[str, int]
    """Its index, or a claim's text and how many times it stood there before."""
    against: int


Labels = Mapping[Labelled, int]


def agreements(
    verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]],
) -> tuple[CheckAgreement, ...]:
    """Hold each two judges' labels against each other, check by check.

    Args:
        verdicts: Judge -> run -> its rows.
    """
    return tuple(
        agreement(pair, check, rows)
        for pair in combinations(verdicts, 2)
        for check, rows in by_check(verdicts, pair)
    )


def by_check(
    verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]], pair: tuple[str, str]
) -> Iterator[tuple[str, list[list[tuple[str, Verdict]]]]]:
    """Yield each check that either judge made, with the rows of each on the answers of both."""
    judged = [
        {
            (run, row.question_id, row.repeat)
            for run, rows in verdicts[judge].items()
            for row in rows
        }
        for judge in pair
    ]
    common = judged[0] & judged[1]
    found: dict[str, list[list[tuple[str, Verdict]]]] = defaultdict(lambda: [[], []])
    for side, judge in enumerate(pair):
        for run, rows in verdicts[judge].items():
            for row in rows:
                if row.check in CLAIMS.values():
                    continue
                sides = found[row.check]
                if (run, row.question_id, row.repeat) in common:
                    sides[side].append((run, row))
    yield from found.items()


def agreement(
    pair: tuple[str, str], check: str, rows: Sequence[Sequence[tuple[str, Verdict]]]
) -> CheckAgreement:
    """Hold two judges' labels on one check against each other."""
    labels = [labels_of(check, side) for side in rows]
    found = kappa(labels[0], labels[1], unit=lambda one: one.question)
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
        labelled=(len(labels[0]), len(labels[1])),
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


def labels_of(check: str, rows: Sequence[tuple[str, Verdict]]) -> dict[Labelled, int]:
    """Return what one judge labelled in one check, and how.

    A claim that stands twice in one answer is matched first with first, second with second.
    """
    found: dict[Labelled, int] = {}
    before: Counter[tuple[Answer, str, int]] = Counter()
    claims = {text: even(text) for text in {row.text or "" for _, row in rows}}
    for run, row in rows:
        if row.label is None or row.item < 0:
            continue
        item: int | tuple[str, int] = row.item
        if check in ABOUT_CLAIMS:
            claim = claims[row.text or ""]
            place = (run, row.question_id, row.repeat), claim, row.against
            item = claim, before[place]
            before[place] += 1
        found[Labelled(run, row.question_id, row.repeat, item, row.against)] = row.label
    return found


def why_unmatched(
    pair: tuple[str, str],
    check: str,
    rows: Sequence[Sequence[tuple[str, Verdict]]],
    labels: Sequence[Labels],
) -> tuple[str | None, str]:
    """Say which judge gave no label and why, or why labels of both cannot be matched."""
    for judge, said, own in zip(pair, rows, labels, strict=True):
        if own:
            continue
        if not any(rows):
            return None, "nothing_in_common"
        reasons = Counter(row.error for _, row in said if row.error is not None)
        commonest = max(reasons, key=lambda reason: reasons[reason], default=None)
        return judge, commonest or Status.NOT_ASKED.value
    return None, "other_claims" if check in ABOUT_CLAIMS else "nothing_in_common"


FEWEST_RUNS = 2
"""Runs that a judge must have scored for its findings to be compared: one is no contrast."""


@dataclass(frozen=True, slots=True, eq=False)
class CommonPart:
    """What each of these judges has scored."""

    tables: Mapping[str, StudyTable]
    """Judge -> the same runs, questions and metrics by this judge; empty below two judges."""
    metrics: tuple[str, ...]
    """Those of them that rest on a judge."""
    uncommon: tuple[str, ...]
    """Metrics that rest on a judge and that not each judge has scored."""


def judged(study: StudyTable) -> list[str]:
    """Return the metrics that rest on what a judge said."""
    known = {metric for run in study.runs for metric in run.scored_by}
    return [facts.name for facts in study.scores.metrics if facts.name in known]


def common_part(tables: Mapping[str, StudyTable]) -> CommonPart:
    """Return what all judges have scored, but those that scored fewer than two of the runs.

    A question counts where each judge has scored it in each common run that was asked it, if
    only as NA; a metric, where it has a score by each judge at all: what a judge cannot score
    is not something that it finds otherwise.
    """
    lead, *others = tables
    ours = [run.name for run in tables[lead].runs]
    having = {name: {run.name for run in tables[name].runs} & set(ours) for name in others}
    taken = [lead, *(name for name in others if len(having[name]) >= FEWEST_RUNS)]
    runs = [run for run in ours if all(run in having[name] for name in taken[1:])]
    if len(taken) < 2 or len(runs) < FEWEST_RUNS:
        return CommonPart({}, (), ())
    own = {name: judged(tables[name]) for name in taken}
    shared = [metric for metric in own[lead] if all(metric in own[name] for name in taken)]
    seen = {name: part(tables[name], runs, None, None) for name in taken}
    metrics, scored = [], []
    for metric in shared:
        at = {name: column(seen[name], metric) for name in taken}
        if all(scored_in(seen[name], at[name]).any() for name in taken):
            metrics.append(metric)
            scored += [has_row(seen[name], at[name]) for name in taken]
    free = [m.name for m in seen[lead].scores.metrics if m.name not in own[lead]]
    every = np.all(scored, axis=0) if scored else np.ones(len(seen[lead].questions), dtype=bool)
    questions = named([question.id for question in seen[lead].questions], every)
    if not questions:
        return CommonPart({}, (), ())
    kept = [m.name for m in seen[lead].scores.metrics if m.name in {*metrics, *free}]
    uncommon = dict.fromkeys(m for name in taken for m in own[name] if m not in metrics)
    return CommonPart(
        {name: part(seen[name], runs, questions, kept) for name in taken},
        tuple(metrics),
        tuple(uncommon),
    )


def column(study: StudyTable, metric: str) -> int:
    """Return a metric's place in the cube."""
    return [facts.name for facts in study.scores.metrics].index(metric)


def scored_in(study: StudyTable, metric: int) -> NDArray[np.bool_]:
    """Return (runs, questions): where this metric has a value."""
    return ~np.isnan(study.scores.values[:, :, metric])


def has_row(study: StudyTable, metric: int) -> NDArray[np.bool_]:
    """Return (questions,): whether the metric was scored, or is NA, wherever it was asked."""
    return np.asarray(((study.scores.statuses[:, :, metric] != "") | ~asked(study)).all(axis=0))


def part(
    study: StudyTable,
    runs: Sequence[str],
    questions: Sequence[str] | None,
    metrics: Sequence[str] | None,
) -> StudyTable:
    """Return these runs, questions and metrics of a study; None keeps all of a kind."""
    rows = places([run.name for run in study.runs], runs)
    columns = places([question.id for question in study.questions], questions)
    layers = places([facts.name for facts in study.scores.metrics], metrics)
    cube, right = study.scores, study.right
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
        right=RightWrong(right.values[cell], right.origins[cell], right.errors[cell]),
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


def places(names: Sequence[str], chosen: Sequence[str] | None) -> list[int]:
    """Return where the chosen names stand, in the order of the choice; all where it is None."""
    at = {name: place for place, name in enumerate(names)}
    return list(at.values()) if chosen is None else [at[name] for name in chosen]


USEFUL = "passage_useful"
"""The check that ranks by a judge rest on."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one judge's scores say of the common part."""

    contrasts: Mapping[tuple[str, str], Contrast]
    trust: Mapping[str, MetricTrust]
    findings: Mapping[tuple[object, ...], Finding]
    """By what they say (`saying`), those that rest on the judge."""


def judged_by_several(
    analysis: Analysis, tables: Mapping[str, StudyTable], options: Options
) -> Analysis:
    """Return the analysis with what other judges say of the same answers; as it is without any.

    Args:
        analysis: Of the first of the tables.
        tables: Judge -> the study by this judge, over the runs it has scored.
        options: Those of the analysis.
    """
    if len(tables) < 2:
        return analysis
    common = common_part(tables)
    # the run that stands in for a repeat of it
    options = replace(options, baseline=analysis.baseline)
    lead = next(iter(tables.values()))
    said: dict[str, Said] = {}
    for judge, study in common.tables.items():
        if not said and study.scores.values.shape == lead.scores.values.shape:
            # the first judge's common part is the whole, which was analysed already
            said[judge] = said_by(study, analysis.contrasts, analysis.trust, common, options)
        else:
            said[judge] = analysed(study, common, options)
    one = next(iter(common.tables.values()), None)
    found = Judges(
        names=tuple(tables),
        agreements=agreements({judge: study.verdicts for judge, study in tables.items()}),
        compared=tuple(common.tables),
        runs=tuple(run.name for run in one.runs) if one else (),
        questions=tuple(question.id for question in one.questions) if one else (),
        metrics=common.metrics,
        of_runs=len(lead.runs),
        of_questions=len(lead.questions),
        uncommon=common.uncommon,
        claims=tuple(compared(said)),
        free=sum(rests_on_none(finding, judged(lead)) for finding in analysis.findings),
    )
    findings = strongest_first([*analysis.findings, *about_judges(found)])
    return replace(analysis, judges=found, findings=findings)


def analysed(study: StudyTable, common: CommonPart, options: Options) -> Said:
    """Return what one judge's scores say of the common part, in tests that are one family."""
    design = Design(study.runs)
    baseline = options.baseline if options.baseline in [run.name for run in study.runs] else None
    tested = measures(study)
    trust = metric_trust(study, tested)
    believed = {row.metric: row.verdict for row in trust}
    pairs, _ = contrasts(study, design, tested, believed, replace(options, baseline=baseline))
    return said_by(study, pairs, trust, common, options)


def said_by(
    study: StudyTable,
    pairs: Sequence[Contrast],
    trust: Sequence[MetricTrust],
    common: CommonPart,
    options: Options,
) -> Said:
    """Return what contrasts and trust say, as far as it rests on the judge and is in view."""
    ranked = all(says_useful(one) for one in common.tables.values())
    findings = [
        *(finding for pair in pairs for finding in claims(pair)),
        *(about_trust(row) for row in trust if row.verdict is not Trust.TOO_FEW_GRADES),
        *deeper_ranks(study, retrieval_facts(study)),
    ]
    return Said(
        {(pair.left, pair.right): pair for pair in pairs},
        {row.metric: row for row in trust},
        {
            saying(finding): finding
            for finding in findings
            if shown_by(finding, options)
            and (ranked if by_judged_ranks(finding) else finding.metric in common.metrics)
        },
    )


def saying(finding: Finding) -> tuple[object, ...]:
    """Return what a finding says, whatever its numbers: its subject, kind and direction."""
    mean = finding.numbers.get("mean")
    return (
        finding.kind,
        subject(finding),
        finding.names.get("verdict"),
        mean is not None and mean > 0,
        finding.numbers.get("k"),
    )


def subject(finding: Finding) -> tuple[str | None, ...]:
    """Return what a finding is about: a metric, in a contrast or in all runs, or a run."""
    return finding.left, finding.right, finding.run, finding.metric


def by_judged_ranks(finding: Finding) -> bool:
    """Say whether a finding rests on which passages a judge called useful."""
    return finding.kind == "deeper_rank" and finding.names["source"] == BY_JUDGE


def says_useful(study: StudyTable) -> bool:
    """Say whether the judge was asked which passages are useful, and said so of any."""
    labels = (v for rows in study.verdicts.values() for v in rows if v.check == USEFUL)
    return any(verdict.label is not None for verdict in labels)


def rests_on_none(finding: Finding, judged: list[str]) -> bool:
    """Say whether a finding was learnt from no judge: right and wrong, named evidence, costs."""
    return (
        finding.severity is Severity.FINDING
        and finding.metric not in judged
        and not by_judged_ranks(finding)
    )


def compared(said: Mapping[str, Said]) -> Iterator[Claim]:
    """Yield each finding of any judge with what all of them say, those of the first judge first."""
    first: dict[tuple[object, ...], Finding] = {}
    for own in said.values():
        for key, finding in own.findings.items():
            first.setdefault(key, finding)
    for key, finding in first.items():
        yield Claim(
            finding,
            tuple(
                Reading(judge, key in own.findings, *reading(finding, own))
                for judge, own in said.items()
            ),
        )


def reading(finding: Finding, own: Said) -> tuple[str, float | None]:
    """Return one judge's verdict on what a finding is about, and the number behind it."""
    metric = finding.metric or ""
    if finding.left is not None and finding.right is not None:
        contrast = own.contrasts.get((finding.left, finding.right))
        difference = contrast.difference(metric) if contrast else None
        return (difference.verdict.value, difference.mean) if difference else ("", None)
    trust = own.trust.get(metric)
    return (trust.verdict.value, trust.auc) if trust else ("", None)


def about_judges(found: Judges) -> Iterator[Finding]:
    """Yield how far the judges agree, and which findings hold under which of them."""
    for claim in found.claims:
        finding = claim.finding
        everywhere = not claim.others
        yield Finding(
            "under_every_judge" if everywhere else "under_some_judges",
            Severity.FINDING if everywhere else Severity.WARNING,
            numbers={"k": finding.numbers["k"]} if "k" in finding.numbers else {},
            names={
                **{side: finding.names[side] for side in SIDES if side in finding.names},
                "said": finding.names.get("verdict", finding.kind),
            },
            groups={"judges": claim.judges} | ({} if everywhere else {"others": claim.others}),
            questions=finding.questions,
            factor=finding.factor,
            left=finding.left,
            right=finding.right,
            run=finding.run,
            metric=finding.metric,
        )
    for row in found.agreements:
        yield agreed(row)


def agreed(row: CheckAgreement) -> Finding:
    """Return how far two judges agree on one check."""
    return Finding(
        "judges_agreement",
        Severity.NOTE,
        numbers={
            "n": row.n,
            "first_labelled": row.labelled[0],
            "second_labelled": row.labelled[1],
            "questions": row.questions,
            "agreed": row.agreed,
            "share": row.agreed / row.n if row.n else None,
            "kappa": row.kappa,
            "low": row.low,
            "high": row.high,
        },
        names={"first": row.first, "second": row.second, "check": row.check, **why(row)},
    )


def why(row: CheckAgreement) -> dict[str, str]:
    """Return why two judges' kappa is undefined, by the names that a sentence has for it."""
    if row.undefined is None:
        return {}
    if row.lacking is None:
        return {"unmatched": row.undefined}
    return {"status": row.undefined, "lacking": row.lacking}
