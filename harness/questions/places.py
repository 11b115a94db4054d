"""The evidence places of a test set, checked against the corpus before collecting.

Evidence that is not in the corpus has a recall of 0, which would look like a result.
"""

import logging
import re
from collections.abc import Collection, Iterable, Mapping

from harness.errors import InputError, unknown
from harness.questions.testset import TestSet
from harness.records import EvidencePlace
from harness.text import compact, covers, document_name, holds_number, single_spaced

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
    faults, loose = [], []
    for question in testset.questions:
        for place in question.evidence:
            name = document_name(place.document)
            if name not in read:
                continue
            if wrong := fault(place, name, read[name], figures):
                faults.append(f"evidence of '{question.id}': {wrong}")
            elif not is_verbatim(quote := place.quote or "", read[name][place.page]):
                loose.append(f"'{question.id}' \"{single_spaced(quote, LONGEST)}\"")
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        raise InputError(f"{testset.path}: {faults[0]}{more}")
    if loose:
        log.warning(
            "%s: quotes not verbatim on their page: %s; half of a quote is enough to count, "
            "so check that each is the right one",
            testset.path,
            ", ".join(loose),
        )


def fault(
    place: EvidencePlace,
    document: str,
    pages: Mapping[int, str],
    figures: Collection[str] | None,
) -> str:
    """Return what is wrong with a place in a document, given its pages; empty if nothing is."""
    if place.page not in pages:
        number = f"{len(pages)} page{'' if len(pages) == 1 else 's'}"
        return f"'{document}' has {number} and no page {place.page}"
    if place.figure is not None and "#" in place.figure:
        there = [each for each in figures or () if each.startswith(f"{document}#{place.page}.")]
        if figures is None or place.figure in there:
            return ""
        return unknown(place.figure, there, f"figure on page {place.page}")
    quote, page = place.quote, pages[place.page]
    if quote is None:
        return ""
    lacks = f"page {place.page} of '{document}' does not contain"
    if not covers(page, quote):
        others = [str(n) for n, text in pages.items() if covers(text, quote)]
        instead = f"; page {', '.join(others)} has it" if others else ""
        return f'{lacks} "{single_spaced(quote, LONGEST)}"{instead}'
    numbers = [] if is_verbatim(quote, page) else NUMBER.findall(quote)
    absent = (number for number in numbers if not holds_number(page, number))
    return next((f"{lacks} {number}, which is in the quote" for number in absent), "")


def is_verbatim(quote: str, page: str) -> bool:
    """Say whether a page contains a quote literally, but for white space, width and case."""
    return compact(quote) in compact(page)
