import io
from pathlib import Path

import pytest
from PIL import Image

from harness.grade.evidence_pages import MARK, EvidencePages, quoted_pages
from harness.records import EvidencePlace
from tests.sources.pdfs import text, write_pdf


@pytest.fixture
def pages(tmp_path: Path) -> EvidencePages:
    file = write_pdf(tmp_path / "tower.pdf", [text(72, 700, "The tower is 27", "metres tall.")])
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 no")
    return EvidencePages({"tower": file, "broken": broken, "notes": tmp_path / "notes.md"})


def marked(png: bytes | None) -> int:
    """Return how many pixels have the colour of a mark."""
    assert png is not None
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    return sum(count for count, colour in picture.getcolors(1 << 24) or [] if colour == MARK)


def test_a_quote_is_marked_over_its_lines(pages: EvidencePages) -> None:
    """A quote that runs over two lines is marked on both, however the page breaks it."""
    whole = marked(pages.picture("tower", 1, ("tower is 27 metres  tall",)))
    half = marked(pages.picture("tower", 1, ("tower is 27",)))

    assert whole > half > 0
    assert marked(pages.picture("tower", 1, ())) == 0


def test_a_quote_that_is_not_there_marks_nothing(pages: EvidencePages) -> None:
    """A page has no mark if the quote is not found on it."""
    for quote in ("lighthouse", "", "  "):
        assert marked(pages.picture("tower", 1, (quote,))) == 0


@pytest.mark.parametrize(
    ("document", "page"), [("tower", 2), ("tower", 0), ("broken", 1), ("notes", 1), ("none", 1)]
)
def test_what_cannot_be_drawn_is_none(pages: EvidencePages, document: str, page: int) -> None:
    """A missing page, a broken file and a text file have no picture and raise no error."""
    assert pages.picture(document, page, ()) is None


def test_a_document_goes_by_its_file_too(pages: EvidencePages) -> None:
    """Evidence may name the file with folder and extension."""
    assert marked(pages.picture("documents/tower.PDF", 1, ("tower is 27",))) > 0


def test_evidence_is_gathered_by_page() -> None:
    """Two quotes on one page are one picture; a figure gives a page without a quote."""
    places = [
        EvidencePlace("a", 1, quote="x"),
        EvidencePlace("a", 2, figure="a#2.f1"),
        EvidencePlace("a", 1, quote="y"),
    ]

    assert quoted_pages(places) == [("a", 1, ("x", "y")), ("a", 2, ())]
