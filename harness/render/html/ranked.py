"""The passages behind the answers to one question, in rank order, each text printed once."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.records import Passage
from harness.render.html.answers import Said, Spoken, label
from harness.render.html.marking import Piece, shared

AGAINST_ALL = ("response_in_context", "reference_in_context")
AGAINST_EACH = ("response_in_passages", "reference_in_passages")


@dataclass(frozen=True, slots=True)
class Held:
    """A claim held against one passage, by which check, and what came of it."""

    claim: str
    said: Said


@dataclass(frozen=True, slots=True)
class Ranked:
    """One passage at its rank."""

    rank: int
    passage: Passage
    useful: tuple[Said, ...]
    held: tuple[Held, ...]
    """Claims that it entails or contradicts; those on which it is silent are left out."""
    handed: int
    """How many of the readers got as far as this rank."""
    pieces: tuple[Piece, ...]
    """Its text; empty where it stands above already."""
    place: str
    """Where its text stands."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Runs that were handed the same passages, or the first of them."""

    runs: tuple[tuple[str, int], ...]
    """(name, how many passages it got)"""
    passages: tuple[Ranked, ...]


@dataclass(slots=True)
class Printed:
    """Where the texts of one question's passages stand."""

    question: str
    places: dict[tuple[str, str], str] = field(default_factory=dict)

    def place(self, passage: Passage) -> tuple[str, bool]:
        """Return where the passage's text stands, and whether it is to be printed now."""
        key = (passage.id, passage.text)
        new = key not in self.places
        place = self.places.setdefault(key, f"{self.question}-p{len(self.places) + 1}")
        return place, new


def readers(spoken: Sequence[Spoken], place: str, longest: int | None) -> tuple[Readers, ...]:
    """Return the lists of passages; a run whose passages begin another's list shares that one.

    Texts are cut to `longest` characters where the page would grow too large.
    """
    lists: dict[tuple[Passage, ...], list[Spoken]] = defaultdict(list)
    for one in spoken:
        if one.response.passages:
            lists[one.response.passages].append(one)
    longer = sorted(lists, key=len, reverse=True)
    whole: dict[tuple[Passage, ...], list[Spoken]] = {}
    for found, same in lists.items():
        key = next(known for known in longer if known[: len(found)] == found)
        whole.setdefault(key, []).extend(same)
    printed = Printed(place)
    return tuple(
        Readers(
            runs=tuple((one.name, len(one.response.passages)) for one in same),
            passages=tuple(
                ranked(passages[at], at, same, printed, longest) for at in range(len(passages))
            ),
        )
        for passages, same in whole.items()
    )


def ranked(
    passage: Passage, at: int, spoken: Sequence[Spoken], printed: Printed, longest: int | None
) -> Ranked:
    """Return one passage with what was said of it by those who were handed it."""
    handed = [one for one in spoken if at < len(one.response.passages)]
    held = tuple(held_against(handed, at))
    place, new = printed.place(passage)
    return Ranked(
        rank=at + 1,
        passage=passage,
        useful=tuple(useful(handed, at)),
        held=held,
        handed=len(handed),
        pieces=marked(passage.text, held, handed, longest) if new else (),
        place=place,
    )


def useful(spoken: Sequence[Spoken], at: int) -> Iterator[Said]:
    """Yield whether the passage helps, once where all were told the same."""
    runs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in spoken:
        for row in one.verdicts.get("passage_useful", ()):
            if row.item == at:
                runs[label(row), row.reason or ""].append(one.name)
    for (name, reason), names in runs.items():
        yield Said("passage_useful", name, reason, tuple(names))


def held_against(spoken: Sequence[Spoken], at: int) -> Iterator[Held]:
    """Yield the claims that the passage entails or contradicts."""
    runs: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for one in spoken:
        for check in AGAINST_EACH:
            for row in one.verdicts.get(check, ()):
                if row.against == at and row.label in (1, -1):
                    key = (check, row.text or "", label(row), row.reason or "")
                    runs[key].append(one.name)
    for (check, claim, name, reason), names in runs.items():
        yield Held(claim, Said(check, name, reason, tuple(dict.fromkeys(names))))


def marked(
    text: str, held: Sequence[Held], spoken: Sequence[Spoken], longest: int | None
) -> tuple[Piece, ...]:
    """Return the text with the wording of claims marked.

    Where no check looked at single passages, the claims are those that all passages together
    entail or contradict: their wording is marked more faintly, as it shows no verdict on this
    passage.
    """
    told = [(one.claim, one.said.label) for one in held]
    if not any(check in one.verdicts for one in spoken for check in AGAINST_EACH):
        told = [
            (row.text or "", f"{label(row)}-by-all")
            for one in spoken
            for check in reversed(AGAINST_ALL)
            for row in one.verdicts.get(check, ())
            if row.item >= 0 and row.label in (1, -1)
        ]
    shown = text if longest is None or len(text) <= longest else text[:longest] + " …"
    return shared(shown, dict.fromkeys(told))
