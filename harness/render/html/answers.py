"""The answers to one question, each text once, with what a judge said of its claims."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.records import Response, Verdict
from harness.render.html.grid import Mark
from harness.render.html.marking import Piece, differences

CLAIMS = {
    "response": ("response_in_context", "response_in_reference"),
    "reference": ("reference_in_context", "reference_in_response"),
}
"""Whose claims -> the checks that hold them against one text; passages stand with the passages."""

OF_REFERENCE = {"claims_reference", "reference_in_passages", *CLAIMS["reference"]}

SHOWN_ELSEWHERE = {
    *("claims_response", "claims_reference", "passage_useful", "reverse_question"),
    *("response_in_passages", "reference_in_passages"),
    *(check for checks in CLAIMS.values() for check in checks),
}


@dataclass(frozen=True, slots=True)
class Spoken:
    """One run's answer to one question, in one repeat."""

    name: str
    """The run's name, with the repeat where there are several."""
    response: Response
    mark: Mark
    verdicts: Mapping[str, tuple[Verdict, ...]]
    """Check -> its rows."""


@dataclass(frozen=True, slots=True)
class Said:
    """One label, and the runs it was given to."""

    check: str
    label: str
    """A key of the words' `labels`."""
    reason: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim with its labels."""

    text: str
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that brought nothing, and why."""

    check: str
    status: str
    reason: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reverse:
    """A question that the judge thought of when it read the answer."""

    text: str
    similarity: float | None
    evades: bool


@dataclass(frozen=True, slots=True)
class Text:
    """One wording of an answer, and who gave it."""

    runs: tuple[tuple[str, Mark], ...]
    text: str | None
    """None where the system failed."""
    error: str | None
    cut: bool
    """The generator ran out of room."""
    pieces: tuple[Piece, ...] | None
    """With what the first wording lacks, and lacks itself; None where marks would not help."""
    first: bool
    claims: tuple[Claim, ...]
    reverse: tuple[Reverse, ...]
    own: tuple[Claim, ...]
    """What checks of one's own said."""
    failures: tuple[Failure, ...]


def texts(spoken: Sequence[Spoken]) -> tuple[Text, ...]:
    """Return the wordings in the order of the runs; all are compared with the first."""
    alike: dict[tuple[str | None, str | None], list[Spoken]] = defaultdict(list)
    for one in spoken:
        alike[one.response.response, one.response.error].append(one)
    base = next((text for text, _ in alike if text), None)
    return tuple(
        Text(
            runs=tuple((one.name, one.mark) for one in same),
            text=text,
            error=error,
            cut=any(one.response.cut for one in same),
            pieces=None if None in (base, text) or text == base else differences(base, text),  # type: ignore[arg-type]
            first=text == base,
            claims=tuple(claims(same, "response")),
            reverse=tuple(reverse(same)),
            own=tuple(own(same)),
            failures=tuple(failures(same, "response")),
        )
        for (text, error), same in alike.items()
    )


def claims(spoken: Sequence[Spoken], whose: str) -> Iterator[Claim]:
    """Yield the claims of the answers, or of the reference, each text once."""
    said: dict[str, dict[tuple[str, str, str], list[str]]] = defaultdict(dict)
    for one in spoken:
        for check in (f"claims_{whose}", *CLAIMS[whose]):
            for row in one.verdicts.get(check, ()):
                if row.item < 0:
                    continue
                found = said[row.text or ""]
                if check in CLAIMS[whose]:
                    found.setdefault((check, label(row), row.reason or ""), []).append(one.name)
    yield from collected(said)


def own(spoken: Sequence[Spoken]) -> Iterator[Claim]:
    """Yield what checks that are not built in said."""
    said: dict[str, dict[tuple[str, str, str], list[str]]] = defaultdict(dict)
    for one in spoken:
        for check, rows in one.verdicts.items():
            if check not in SHOWN_ELSEWHERE:
                for row in rows:
                    found = said[row.text or check]
                    found.setdefault((check, label(row), row.reason or ""), []).append(one.name)
    yield from collected(said)


def collected(said: Mapping[str, Mapping[tuple[str, str, str], list[str]]]) -> Iterator[Claim]:
    """Yield the claims with their labels, the runs of a label side by side."""
    for text, labels in said.items():
        yield Claim(
            text,
            tuple(
                Said(check, name, reason, tuple(dict.fromkeys(runs)))
                for (check, name, reason), runs in labels.items()
            ),
        )


def label(row: Verdict) -> str:
    """Return the key of a label's word; a label that could not be had is its status."""
    if row.label is None:
        return row.error or "unknown"
    if row.check == "passage_useful":
        return "useful" if row.label else "not_useful"
    if row.check in SHOWN_ELSEWHERE:
        return {1: "entailed", 0: "unknown", -1: "contradicted"}.get(row.label, str(row.label))
    return "yes" if row.label == 1 else "no" if row.label == 0 else str(row.label)


def reverse(spoken: Sequence[Spoken]) -> Iterator[Reverse]:
    """Yield the questions asked back about a wording: the same for all who gave it."""
    seen = set()
    for one in spoken:
        for row in one.verdicts.get("reverse_question", ()):
            if row.item >= 0 and row.text and row.text not in seen:
                seen.add(row.text)
                yield Reverse(row.text, row.similarity, row.label == 1)


def failures(spoken: Sequence[Spoken], whose: str) -> Iterator[Failure]:
    """Yield the checks that failed as a whole: those of the reference's claims, or the others."""
    runs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in spoken:
        for check, rows in one.verdicts.items():
            about = "reference" if check in OF_REFERENCE else "response"
            for row in rows:
                if row.item < 0 and row.error and about == whose:
                    runs[check, row.error, row.reason or ""].append(one.name)
    for (check, status, reason), names in runs.items():
        yield Failure(check, status, reason, tuple(dict.fromkeys(names)))


def by_check(rows: Iterable[Verdict]) -> Mapping[str, tuple[Verdict, ...]]:
    """Return check -> its rows, in their order."""
    found: dict[str, list[Verdict]] = defaultdict(list)
    for row in rows:
        found[row.check].append(row)
    return {check: tuple(same) for check, same in found.items()}
