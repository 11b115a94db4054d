"""Where the answers of a test set stand, held against the corpus that is collected over.

What no variant could retrieve has a recall of 0, which would look like a result.
"""

import logging
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

from harness.errors import InputError, unknown
from harness.questions.testset import TestSet
from harness.records import EvidencePlace

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
    from harness.analysis.gold import stem  # loads all of analysis, which other stages do without

    documents = {stem(file) for file in files}
    for question in testset.questions:
        for name in (stem(place.document) for place in question.evidence):
            if documents and name not in documents:
                raise InputError(
                    f"{testset.path}: evidence of '{question.id}': "
                    + unknown(name, documents, "document")
                )


def check_places(testset: TestSet, pages: Pages, figures: Collection[str]) -> None:
    """Raise where evidence names a page or figure that is not there, or quotes what is not on it.

    A quote is there when the page holds as much of it as a passage must hold to count, and every
    number of it. One that is not there word for word is warned of.

    Args:
        testset: All its questions.
        pages: What was read; documents of which nothing was read are not judged.
        figures: Ids of the figures that were read; none where none were looked for.

    Raises:
        InputError: names the question and the slip, and how many more there are.
    """
    faults = [
        f"evidence of '{question.id}': {fault}"
        for question in testset.questions
        for place in question.evidence
        for fault in _faults(place, pages, figures)
    ]
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        raise InputError(f"{testset.path}: {faults[0]}{more}")
    loose = [
        f"'{question.id}' \"{shortened(place.quote)}\""
        for question in testset.questions
        for place in question.evidence
        if place.quote is not None and not _verbatim(place, place.quote, pages)
    ]
    if loose:
        log.warning(
            "%s: not word for word on its page: %s; half of a quote is enough to be found, but is "
            "it the right one?",
            testset.path,
            ", ".join(loose),
        )


def shortened(quote: str) -> str:
    """Return the beginning of a quote."""
    return quote if len(quote) <= LONGEST else quote[: LONGEST - 1] + "…"


def _holds_number(text: str, number: str) -> bool:
    """Whether a number stands in a text, also where a blank was read into one of the two."""
    from harness.analysis.gold import evened

    whole = re.compile(rf"(?<!\d){re.escape(evened(number))}(?!\d)")
    return any(map(whole.search, (unicodedata.normalize("NFKC", text), evened(text))))


def _verbatim(place: EvidencePlace, quote: str, pages: Pages) -> bool:
    from harness.analysis.gold import evened, stem

    page = pages.get((stem(place.document), place.page))
    return page is None or evened(quote) in evened(page)


def _faults(place: EvidencePlace, pages: Pages, figures: Collection[str]) -> Iterator[str]:
    from harness.analysis.gold import covers, stem

    name = stem(place.document)
    own = {number: text for (document, number), text in pages.items() if document == name}
    if not own:
        return
    if place.page not in own:
        yield f"'{name}' has {len(own)} pages, and no page {place.page}"
    elif place.figure is not None and "#" in place.figure:
        there = [figure for figure in figures if figure.startswith(f"{name}#{place.page}.")]
        if figures and place.figure not in there:
            yield unknown(place.figure, there, f"figure on page {place.page}")
    elif place.quote is not None and not covers(own[place.page], place.quote):
        others = [str(number) for number, text in own.items() if covers(text, place.quote)]
        instead = f"; page {', '.join(others)} has it" if others else ""
        yield f"page {place.page} of '{name}' does not say \"{shortened(place.quote)}\"{instead}"
    elif place.quote is not None and not _verbatim(place, place.quote, pages):
        for number in NUMBER.findall(place.quote):
            if not _holds_number(own[place.page], number):
                yield f"page {place.page} of '{name}' holds no {number}, as the quote does"
