"""Which answers rest on a caption that people graded wrong."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.records import Label, Response, Verdict

CHECK = "response_in_passages"
"""The check that holds each claim of the response against each passage."""


@dataclass(frozen=True, slots=True)
class OnWrongCaption:
    """An answer of which at least one claim has no support but wrong captions."""

    question_id: str
    repeat: int
    figures: tuple[str, ...]
    """Ids of the caption passages, in rank order."""
    claims: tuple[str, ...]
    """The claims that every passage which entails them is one of these captions."""
    supported: int
    """Claims of the answer that any passage entails."""

    @property
    def only(self) -> bool:
        """Whether nothing else supports the answer: each supported claim is one of `claims`."""
        return len(self.claims) == self.supported


def on_wrong_captions(
    responses: Sequence[Response], verdicts: Iterable[Verdict], wrong: Collection[str]
) -> tuple[OnWrongCaption, ...]:
    """Return the answers of one run that rest on captions graded wrong, in the run's order.

    A claim rests on them where at least one passage entails it and every passage that does is
    a retrieved caption graded wrong. A claim that no passage entails rests on nothing here: the
    model said it of itself. Where an index puts a page's text in front of a caption
    (`index.contents=ctx`), that text is part of the same passage, and the judge cannot tell
    which of the two it read: the answer *may* then rest on the text.

    Args:
        responses: Of one run.
        verdicts: Of one judge on that run; without `response_in_passages` nothing is found.
        wrong: Passage ids of captions graded wrong.
    """
    entailed: dict[tuple[str, int], dict[int, list[Verdict]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for verdict in verdicts:
        if verdict.check == CHECK and verdict.label == Label.ENTAILED and verdict.against >= 0:
            entailed[verdict.question_id, verdict.repeat][verdict.item].append(verdict)
    found = [
        resting(response, entailed[response.question_id, response.repeat], wrong)
        for response in responses
    ]
    return tuple(answer for answer in found if answer is not None)


def resting(
    response: Response, entailed: "dict[int, list[Verdict]]", wrong: Collection[str]
) -> OnWrongCaption | None:
    """Return how an answer rests on wrong captions, None where it does not."""
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
