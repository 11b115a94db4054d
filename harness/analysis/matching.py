"""How far judges agree, check by check, over the verdicts that say something about the same."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from harness.analysis.agreement import kappa
from harness.analysis.judged import CheckAgreement
from harness.analysis.suspects import CLAIMS, even
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
