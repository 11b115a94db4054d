"""PDF files by pdfium: the text of each page and its figures."""

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from pypdfium2 import PdfDocument, PdfiumError

from harness.errors import InputError
from harness.sources.documents import RawFigure, RawPage, check_pages
from harness.sources.pdf.figures import OversizedError, figures_of
from harness.sources.pdf.text_lines import flow, lines_of

WRONG_PASSWORD = 4
_PDFIUM = threading.Lock()
"""pdfium is not thread-safe."""


@lru_cache(maxsize=8)
def read_pdf(path: Path, data: bytes, with_figures: bool = True) -> tuple[RawPage, ...]:
    """Return the pages of a PDF. The last few files are cached, for variants that share a corpus.

    Raises:
        InputError: the file is damaged, needs a password, has too many pages, or no page has any
            text.
    """
    with _PDFIUM:
        try:
            document = PdfDocument(data)
        except PdfiumError as error:
            if error.err_code == WRONG_PASSWORD:
                raise InputError(
                    f"{path}: the PDF is encrypted; save a copy without a password"
                ) from error
            raise InputError(f"{path}: not a readable PDF ({error})") from error
        try:
            check_pages(path, len(document))
            pages = tuple(_page(document, i, with_figures) for i in range(len(document)))
        finally:
            document.close()
    if not any(page.text.strip() for page in pages):
        raise InputError(
            f"{path}: the PDF has no text, it may be a scan; "
            f"add a text layer first, for example with `ocrmypdf {path.name} with_text.pdf`"
        )
    return pages


def _page(document: Any, index: int, with_figures: bool) -> RawPage:
    """Return a page; one that cannot be loaded counts as empty, since a reader sees nothing."""
    try:
        page = document[index]
        textpage = page.get_textpage()
    except PdfiumError:
        return RawPage("", counts={"pages_unreadable": 1})
    lines = lines_of(textpage)
    text, joined = flow(lines)
    counts = {"lines_joined": joined, "pages_without_text": int(not text.strip())}
    figures: tuple[RawFigure, ...] = ()
    if with_figures:
        try:
            figures = tuple(figures_of(page, [span for line in lines for span in line.spans]))
        except OversizedError:
            counts["pages_with_oversized_images"] = 1
        except PdfiumError:
            counts["pages_with_unreadable_figures"] = 1
    return RawPage(text, figures, counts)
