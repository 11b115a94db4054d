"""The evidence places of a test set, checked against the corpus before collecting.

Evidence that is not in the corpus has a recall of 0, which would look like a result.
"""

import logging
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from harness.errors import InputError, unknown
from harness.questions.testset import TestSet
from harness.records import EvidencePlace
from harness.text import compact, covers, document_name, holds_number

log = logging.getLogger(__name__)

LONGEST = 40
"""Characters of a quote that an error shows."""

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Pages = Mapping[tuple[str, int], str]
"""(document, page) -> its text."""


def check_evidence(testset: TestSet, files: Iterable[str]) -> None:
    """Raise where evidence names a document that is not in the corpus.

    Args:
        testset: All its questions: one that is not asked now may be asked later.
        files: Names of the corpus' files; without any, nothing is checked.

    Raises:
        InputError: names the question, the document and the nearest one.
    """
    documents = {document_name(file) for file in files}
    for question in testset.questions:
        for name in (document_name(place.document) for place in question.evidence):
            if documents and name not in documents:
                raise InputError(
                    f"{testset.path}: evidence of '{question.id}': "
                    + unknown(name, documents, "document")
                )


def check_places(testset: TestSet, pages: Pages, figures: Collection[str] | None) -> None:
    """Raise where evidence names a missing page or figure, or a quote that is not on its page.

    A quote counts as found when the page contains as much of it as a passage must contain to
    count, and every number of it. A quote that is not verbatim is logged as a warning.

    Args:
        testset: All its questions.
        pages: The text read; documents without any are not checked.
        figures: Ids of the figures found; None if figures were not extracted.

    Raises:
        InputError: names the first question and its error, and the number of further errors.
    """
    read: dict[str, dict[int, str]] = {}
    for (document, number), text in pages.items():
        read.setdefault(document, {})[number] = text
    places = [
        _PlaceOfQuestion(question.id, place, name, read[name])
        for question in testset.questions
        for place in question.evidence
        if (name := document_name(place.document)) in read
    ]
    faults = [
        f"evidence of '{one.question}': {error}" for one in places if (error := one.error(figures))
    ]
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        raise InputError(f"{testset.path}: {faults[0]}{more}")
    loose = [f"'{one.question}' \"{one.beginning}\"" for one in places if not one.verbatim]
    if loose:
        log.warning(
            "%s: quotes not verbatim on their page: %s; half of a quote is enough to count, "
            "so check that each is the right one",
            testset.path,
            ", ".join(loose),
        )


@dataclass(frozen=True, slots=True)
class _PlaceOfQuestion:
    """An evidence place of a question, with the text of its document."""

    question: str
    place: EvidencePlace
    document: str
    pages: Mapping[int, str]
    """Page number -> text, of that document."""

    @property
    def page(self) -> str:
        return self.pages[self.place.page]

    @property
    def quote(self) -> str:
        """Empty if there is none."""
        return self.place.quote or ""

    @property
    def beginning(self) -> str:
        """The beginning of the quote, as an error shows it."""
        return self.quote if len(self.quote) <= LONGEST else self.quote[: LONGEST - 1] + "…"

    @property
    def verbatim(self) -> bool:
        """Whether the page contains the quote literally, but for white space, width and case."""
        return compact(self.quote) in compact(self.page)

    def error(self, figures: Collection[str] | None) -> str:
        """Return what is wrong with the place; empty if nothing is."""
        if self.place.page not in self.pages:
            return f"'{self.document}' has {len(self.pages)} pages and no page {self.place.page}"
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
        return f'{here} does not contain "{self.beginning}"{instead}'

    def _wrong_number(self) -> str:
        for number in NUMBER.findall(self.quote):
            if not holds_number(self.page, number):
                return (
                    f"page {self.place.page} of '{self.document}' does not contain "
                    f"{number}, which is in the quote"
                )
        return ""
