"""Verdicts that a person should look at: the judge contradicts the text, or itself."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.analysis.results import Suspect
from harness.analysis.tables import StudyTable
from harness.records import Label, Response, Verdict

CLAIMS = {"response": "claims_response", "reference": "claims_reference"}
ALIKE = 0.9
"""Share of two claims' character pairs from which they say the same."""

SHORTEST = 8
"""Characters below which a claim stands in a passage by accident."""

Texts = Mapping[int, str]


def suspects(study: StudyTable) -> tuple[Suspect, ...]:
    """List the suspect verdicts of every run, in the order of runs and questions."""
    found: list[Suspect] = []
    for run in study.runs:
        rows = by_response(study.verdicts.get(run.name, ()))
        for question in study.questions:
            for response in study.responses.get((run.name, question.id), ()):
                verdicts = rows.get((question.id, response.repeat), [])
                found += of_response(run.name, response, verdicts) if verdicts else ()
    return tuple(found)


def by_response(verdicts: Iterable[Verdict]) -> dict[tuple[str, int], list[Verdict]]:
    """Group verdicts by the response that they are about."""
    rows = defaultdict(list)
    for verdict in verdicts:
        rows[verdict.question_id, verdict.repeat].append(verdict)
    return rows


def of_response(run: str, response: Response, verdicts: Sequence[Verdict]) -> Iterator[Suspect]:
    """Yield what is suspect about one response."""
    for side, source in CLAIMS.items():
        claims = {v.item: v.text for v in verdicts if v.check == source and v.text is not None}
        judged = [
            v
            for v in verdicts
            if v.check in (f"{side}_in_context", f"{side}_in_passages")
            and v.label is not None
            and v.item in claims
        ]
        for row, reason in [*verbatim(judged, claims, response), *disagreeing(judged, claims)]:
            yield Suspect(
                run,
                response.question_id,
                response.repeat,
                row.check,
                row.item,
                row.against,
                reason,
                claims[row.item],
            )


def verbatim(
    judged: Iterable[Verdict], claims: Texts, response: Response
) -> Iterator[tuple[Verdict, str]]:
    """Yield verdicts of not entailed on claims that stand word for word in what was judged."""
    doubted = [row for row in judged if row.label != Label.ENTAILED]
    texts = [even(passage.text) for passage in response.passages] if doubted else []
    for row in doubted:
        claim = even(claims[row.item])
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
            other.label != row.label and overlap(pairs, bigrams(claims[other.item])) >= ALIKE
            for other in place
        ):
            yield row, "duplicates_disagree"
        place.append(row)


def even(text: str) -> str:
    """Return a text without blanks and closing stops, width and case evened out."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(".。")


def bigrams(text: str) -> frozenset[str]:
    """Return a text's pairs of neighbouring characters."""
    letters = even(text)
    return frozenset(letters[at : at + 2] for at in range(len(letters) - 1))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of pairs that both texts have."""
    return len(one & other) / len(one | other) if one | other else 0.0
