"""Evidence pages: pages of the corpus as pictures, with the quotes marked."""

import io
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.records import EvidencePlace
from harness.text import document_name

log = logging.getLogger(__name__)

SCALE = 1.6
"""Pixels per point: 115 dpi, at which the digits of a table are legible."""
LONGEST_SIDE = 2400
"""Pixels; a larger page is scaled down."""
MARK = (255, 226, 77)

QuotedPage = tuple[str, int, tuple[str, ...]]
"""Document, page, and the quotes on it."""


class EvidencePages:
    """The pages of a corpus as pictures. A page that cannot be drawn is None, never an error.

    pdfium may be used by one thread at a time only, and so may an object of this class.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self.files = {
            document_name(n): file for n, file in files.items() if file.suffix.lower() == ".pdf"
        }
        self.picture = lru_cache(maxsize=64)(self.draw)

    def file(self, document: str) -> Path | None:
        """Return the file of a document, which evidence may name with folder and extension."""
        return self.files.get(document_name(document))

    def draw(self, document: str, page: int, quotes: tuple[str, ...] = ()) -> bytes | None:
        """Return a page as PNG, with the quotes marked that are found on it."""
        from pypdfium2 import PdfDocument, PdfiumError

        file = self.file(document)
        if file is None or not file.is_file():
            return None
        try:
            with closing(PdfDocument(file.read_bytes())) as opened:
                return page_png(opened[page - 1], quotes) if 0 < page <= len(opened) else None
        except PdfiumError as error:
            log.warning("%s: no picture of page %d (%s)", file, page, error)
            return None


def page_png(page: Any, quotes: Sequence[str]) -> bytes:
    """Return an open page as PNG."""
    from PIL import Image, ImageChops

    scale = min(SCALE, LONGEST_SIDE / max(page.get_size()))
    picture = page.render(scale=scale).to_pil().convert("RGB")
    marks = Image.new("RGB", picture.size, (255, 255, 255))
    height = page.get_height()
    text = page.get_textpage()
    for left, bottom, right, top in (box for quote in quotes for box in boxes_of(text, quote)):
        corners = (left - 1, height - top - 1, right + 1, height - bottom + 1)
        marks.paste(MARK, tuple(round(corner * scale) for corner in corners))
    content = io.BytesIO()
    ImageChops.multiply(picture, marks).save(content, "PNG")  # as a highlighter: black stays black
    return content.getvalue()


def boxes_of(text: Any, quote: str) -> list[tuple[float, float, float, float]]:
    """Return left, bottom, right, top of each line of a quote; empty if it is not found.

    White space does not count: a quote may run over several lines of the page.
    """
    written = text.get_text_range()
    places = [place for place, character in enumerate(written) if not character.isspace()]
    squeezed = "".join(written[place] for place in places)
    wanted = re.sub(r"\s", "", quote)
    found = squeezed.find(wanted)
    if found < 0 or not wanted:
        return []
    first, last = places[found], places[found + len(wanted) - 1]
    return [text.get_rect(n) for n in range(text.count_rects(first, last - first + 1))]


def quoted_pages(evidence: Sequence[EvidencePlace]) -> list[QuotedPage]:
    """Return each page that the evidence names, with its quotes, in their order."""
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for place in evidence:
        quotes = found.get((place.document, place.page), ())
        found[place.document, place.page] = (*quotes, *([place.quote] if place.quote else []))
    return [(document, page, quotes) for (document, page), quotes in found.items()]
