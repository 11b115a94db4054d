"""Where the answers of a test set stand, held against the corpus that is collected over.

What no variant could retrieve has a recall of 0, which would look like a result.
"""

import logging
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from harness.errors import InputError, unknown
from harness.questions.testset import TestSet
from harness.records import EvidencePlace
from harness.text import covers, evened, stem

log = logging.getLogger(__name__)

LONGEST = 40
"""Characters of a quote that an error shows."""

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Pages = Mapping[tuple[str, int], str]
"""(document, page) -> its text."""


def check_evidence(testset: TestSet, files: Iterable[str]) -> None:
    """Raise where evidence names a document that the corpus does not hold.

    Args:
        testset: All its questions: one that is not asked now is asked later.
        files: Names of the corpus' files; where there are none, nothing is known and nothing said.

    Raises:
        InputError: names the question, the document and the nearest one.
    """
    documents = {stem(file) for file in files}
    for question in testset.questions:
        for name in (stem(place.document) for place in question.evidence):
            if documents and name not in documents:
                raise InputError(
                    f"{testset.path}: evidence of '{question.id}': "
                    + unknown(name, documents, "document")
                )


def check_places(testset: TestSet, pages: Pages, figures: Collection[str] | None) -> None:
    """Raise where evidence names a page or figure that is not there, or quotes what is not on it.

    A quote is there when the page holds as much of it as a passage must hold to count, and every
    number of it. One that is not there word for word is warned of.

    Args:
        testset: All its questions.
        pages: What was read; documents of which nothing was read are not judged.
        figures: Ids of the figures that were found; None where none were looked for.

    Raises:
        InputError: names the question and the slip, and how many more there are.
    """
    read: dict[str, dict[int, str]] = {}
    for (document, number), text in pages.items():
        read.setdefault(document, {})[number] = text
    stated = [
        _Stated(question.id, place, name, read[name])
        for question in testset.questions
        for place in question.evidence
        if (name := stem(place.document)) in read
    ]
    faults = [
        f"evidence of '{one.question}': {slip}" for one in stated if (slip := one.slip(figures))
    ]
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        raise InputError(f"{testset.path}: {faults[0]}{more}")
    loose = [f"'{one.question}' \"{one.beginning}\"" for one in stated if not one.verbatim]
    if loose:
        log.warning(
            "%s: not word for word on its page: %s; half of a quote is enough to be found, but is "
            "it the right one?",
            testset.path,
            ", ".join(loose),
        )


@dataclass(frozen=True, slots=True)
class _Stated:
    """A place that a question names, with what was read of its document."""

    question: str
    place: EvidencePlace
    document: str
    pages: Mapping[int, str]
    """Number -> text, of that document."""

    @property
    def page(self) -> str:
        return self.pages[self.place.page]

    @property
    def quote(self) -> str:
        """Nothing where there is none."""
        return self.place.quote or ""

    @property
    def beginning(self) -> str:
        """Of the quote, as an error shows it."""
        return self.quote if len(self.quote) <= LONGEST else self.quote[: LONGEST - 1] + "…"

    @property
    def verbatim(self) -> bool:
        """Whether the quote stands there word for word, but for blanks, width and case."""
        return evened(self.quote) in evened(self.page)

    def slip(self, figures: Collection[str] | None) -> str:
        """Return what is wrong with the place; nothing where it is there."""
        if self.place.page not in self.pages:
            return f"'{self.document}' has {len(self.pages)} pages, and no page {self.place.page}"
        if self.place.figure is not None and "#" in self.place.figure:
            return self._wrong_figure(self.place.figure, figures)
        if self.place.quote is None:
            return ""
        return self._misquoted() or ("" if self.verbatim else self._wrong_number())

    def _wrong_figure(self, figure: str, figures: Collection[str] | None) -> str:
        here = f"{self.document}#{self.place.page}."
        there = [each for each in figures or () if each.startswith(here)]
        if figures is None or figure in there:
            return ""
        return unknown(figure, there, f"figure on page {self.place.page}")

    def _misquoted(self) -> str:
        if covers(self.page, self.quote):
            return ""
        others = [str(n) for n, text in self.pages.items() if covers(text, self.quote)]
        instead = f"; page {', '.join(others)} has it" if others else ""
        here = f"page {self.place.page} of '{self.document}'"
        return f'{here} does not say "{self.beginning}"{instead}'

    def _wrong_number(self) -> str:
        for number in NUMBER.findall(self.quote):
            if not _holds_number(self.page, number):
                return (
                    f"page {self.place.page} of '{self.document}' holds no {number}, as the quote "
                    "does"
                )
        return ""


def _holds_number(text: str, number: str) -> bool:
    """Whether a number stands in a text, also where a blank was read into one of the two."""
    whole = re.compile(rf"(?<!\d){re.escape(evened(number))}(?!\d)")
    return any(map(whole.search, (unicodedata.normalize("NFKC", text), evened(text))))
