"""What a person should review: verdicts that contradict the text or their own reason, facts that
no claim holds, and answers from wrong captions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.omissions import omitted_facts
from harness.analysis.reasons import contradicts
from harness.analysis.results import Suspect
from harness.analysis.study_table import StudyTable
from harness.records import (
    CLAIMS,
    CLAIMS_OF,
    LOST,
    Checks,
    Label,
    Response,
    Verdict,
    rows_by_response,
)
from harness.text import claim_key, ngrams

ALIKE = 0.9
"""Share of common character pairs from which two claims are the same."""

SHORTEST = 8
"""Characters below which a claim may occur in a passage by accident."""

Texts = Mapping[int, str]
"""Item -> its claim."""


def suspects(study: StudyTable) -> tuple[Suspect, ...]:
    """List the suspect verdicts of every run, in the order of runs and questions."""
    found: list[Suspect] = []
    for run in study.runs:
        rows = rows_by_response(study.verdicts.get(run.name, ()))
        for question, response in study.answers(run.name):
            verdicts = rows.get((question.id, response.repeat), {})
            found += of_response(run.name, response, verdicts)
    return tuple(found)


def of_response(run: str, response: Response, verdicts: Checks) -> Iterator[Suspect]:
    """Yield the suspect verdicts on one response."""

    def suspect(row: Verdict, reason: str, text: str) -> Suspect:
        about = (run, response.question_id, response.repeat, row.check)
        return Suspect(*about, row.item, row.against, reason, text)

    for side, source in CLAIMS.items():
        taken = verdicts.get(source, ())
        claims = {row.item: row.text for row in taken if row.text is not None}
        reasoned = [
            row
            for check, rows in verdicts.items()
            for row in rows
            if CLAIMS_OF.get(check) == source and row.label is not None and row.item in claims
        ]
        judged = [row for row in reasoned if row.check.endswith(("_in_context", "_in_passages"))]
        doubts = [*verbatim(judged, claims, response), *disagreeing(judged, claims)]
        for row, reason in [*doubts, *contradictory(reasoned, claims)]:
            yield suspect(row, reason, claims[row.item])
        taken = [row for row in taken if row.error not in LOST]
        facts = omitted_facts(response.reference, list(claims.values())) if taken else ()
        if facts and side == "reference":
            yield suspect(replace(taken[0], item=-1), "facts_left_out", "; ".join(facts))
    passages = {rank: passage.id for rank, passage in enumerate(response.passages)}
    useful = [row for row in verdicts.get("passage_useful", ()) if row.item in passages]
    for row, reason in contradictory(useful, {}):
        yield suspect(row, reason, passages[row.item])


def verbatim(
    judged: Iterable[Verdict], claims: Texts, response: Response
) -> Iterator[tuple[Verdict, str]]:
    """Yield verdicts of not entailed on claims that occur literally in the text judged."""
    negative = [row for row in judged if row.label != Label.ENTAILED]
    texts = [claim_key(passage.text) for passage in response.passages] if negative else []
    for row in negative:
        claim = claim_key(claims[row.item])
        if len(claim) < SHORTEST:
            continue
        against = texts if row.against < 0 else texts[row.against : row.against + 1]
        if any(claim in text for text in against):
            yield row, "verbatim_not_entailed"


def disagreeing(judged: Sequence[Verdict], claims: Texts) -> Iterator[tuple[Verdict, str]]:
    """Yield verdicts that differ from an earlier one on nearly the same claim and same text."""
    earlier: dict[tuple[str, int], list[Verdict]] = defaultdict(list)
    for row in judged:
        place = earlier[row.check, row.against]
        pairs = bigrams(claims[row.item])
        if any(
            other.label != row.label and jaccard(pairs, bigrams(claims[other.item])) >= ALIKE
            for other in place
        ):
            yield row, "duplicates_disagree"
        place.append(row)


def contradictory(judged: Iterable[Verdict], claims: Texts) -> Iterator[tuple[Verdict, str]]:
    """Yield verdicts whose reason states another label."""
    for row in judged:
        claim = claims.get(row.item, "")
        if row.label is not None and contradicts(row.label, row.reason or "", claim):
            yield row, "reason_disagrees"


def bigrams(claim: str) -> frozenset[str]:
    """Return a claim's pairs of neighbouring characters."""
    return ngrams(claim_key(claim), 2)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of pairs that both texts have."""
    return len(one & other) / len(one | other) if one | other else 0.0


CHECK = "response_in_passages"
"""The check of each claim of the response against each passage."""


@dataclass(frozen=True, slots=True)
class OnWrongCaption:
    """An answer with at least one claim that only wrong captions support."""

    question_id: str
    repeat: int
    figures: tuple[str, ...]
    """Ids of the caption passages, in rank order."""
    claims: tuple[str, ...]
    """The claims that are entailed by these captions and by no other passage."""
    supported: int
    """Claims of the answer that any passage entails."""

    @property
    def only(self) -> bool:
        """Whether nothing else supports the answer: every supported claim is one of `claims`."""
        return len(self.claims) == self.supported


def on_wrong_captions(
    responses: Sequence[Response], verdicts: Iterable[Verdict], wrong: Collection[str]
) -> tuple[OnWrongCaption, ...]:
    """Return the answers of one run that rest on captions graded wrong, in the run's order.

    A claim rests on them where at least one passage entails it and every passage that does is
    a retrieved caption graded wrong. A claim that no passage entails does not count: it is the
    model's own. Where an index puts a page's text in front of a caption
    (`index.contents=ctx`), that text is part of the same passage, and the judge cannot tell
    which of the two it read: the answer *may* then rest on the text.

    Args:
        responses: Of one run.
        verdicts: Of one judge on that run; without `response_in_passages` nothing is found.
        wrong: Passage ids of captions graded wrong.
    """
    rows = rows_by_response(verdicts)
    found = [
        resting(response, rows.get((response.question_id, response.repeat), {}), wrong)
        for response in responses
    ]
    return tuple(answer for answer in found if answer is not None)


def resting(response: Response, verdicts: Checks, wrong: Collection[str]) -> OnWrongCaption | None:
    """Return how an answer rests on wrong captions, None where it does not."""
    entailed: dict[int, list[Verdict]] = defaultdict(list)
    for row in verdicts.get(CHECK, ()):
        if row.label == Label.ENTAILED and row.against >= 0:
            entailed[row.item].append(row)
    bad = {
        rank
        for rank, passage in enumerate(response.passages)
        if passage.origin == "caption" and passage.id in wrong
    }
    claims = {
        item: rows
        for item, rows in sorted(entailed.items())
        if all(row.against in bad for row in rows)
    }
    if not claims:
        return None
    ranks = sorted({row.against for rows in claims.values() for row in rows})
    return OnWrongCaption(
        question_id=response.question_id,
        repeat=response.repeat,
        figures=tuple(response.passages[rank].id for rank in ranks),
        claims=tuple(rows[0].text or "" for rows in claims.values()),
        supported=len(entailed),
    )
