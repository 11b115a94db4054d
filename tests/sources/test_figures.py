import io
from pathlib import Path

import pytest
from PIL import Image

from harness.sources import Document, Figure, read_corpus
from tests.sources.pdfs import Drawn, bars, curve, form, image, noise, table, text, write_pdf

WORDS = text(72, 780, "Some words on the page")
PHOTO = image((100, 300, 240, 160), noise(120, 80), (120, 80))


def read_pages(tmp_path: Path, *pages: Drawn, rotate: int = 0) -> Document:
    (document,) = read_corpus([str(write_pdf(tmp_path / "a.pdf", pages, rotate=rotate))])
    return document


def scan_of(seed: int) -> Drawn:
    return image((0, 0, 595, 842), noise(119, 168, seed=seed), (119, 168))


def picture(figure: Figure) -> Image.Image:
    return Image.open(io.BytesIO(figure.png))


def test_image_is_cut_out_at_its_own_resolution(tmp_path: Path) -> None:
    """An image on the page is a figure with the image's pixels: 120 x 80 here, in RGB."""
    (figure,) = read_pages(tmp_path, WORDS + PHOTO).figures

    assert (figure.id, figure.page, figure.kind) == ("a#1.f1", 1, "image")
    assert figure.box is not None
    assert (figure.box.left, figure.box.bottom) == pytest.approx((100, 300), abs=0.1)
    # 240 points at 72 / 2 pixels an inch would be 120; never below one pixel a point.
    assert picture(figure).size == pytest.approx((240, 160), abs=2)
    assert picture(figure).mode == "RGB"


def test_vector_chart_is_rendered_with_its_labels(tmp_path: Path) -> None:
    """Bars are a figure; words under, beside and above belong to it, other text does not."""
    labels = (
        text(112, 288, "North")
        + text(152, 288, "South")
        + text(192, 288, "West")
        + text(80, 340, "50")
        + text(110, 405, "Figure 1. Cases by region")
    )
    paragraph = text(72, 230, *["A paragraph of the page goes from margin to margin here."] * 3)

    (figure,) = read_pages(
        tmp_path, WORDS + bars(100, 300, (90, 40, 20)) + labels + paragraph
    ).figures

    assert figure.kind == "drawing"
    assert figure.box is not None
    assert figure.box.left < 82
    assert 245 < figure.box.bottom < 289
    assert 405 < figure.box.top < 430
    # Points to pixels at 170 dpi.
    assert picture(figure).width == pytest.approx(figure.box.width * 170 / 72, abs=2)


def test_drawing_in_a_form_is_found_where_it_is_seen(tmp_path: Path) -> None:
    """A chart in a scaled form is placed in page coordinates and clipped to the form's bounds."""
    chart = form(100, 300, 2, (115, 60), bars(0, 0, (90, 40, 20)))

    (figure,) = read_pages(tmp_path, WORDS + chart).figures

    assert figure.box is not None
    # The base line to x = 120 and a bar to y = 90 are clipped to 115 x 60, doubled and moved
    # by 100 and 300; 4 points of margin.
    assert figure.box.left == pytest.approx(96, abs=1)
    assert figure.box.right == pytest.approx(334, abs=1)
    assert figure.box.top == pytest.approx(424, abs=1)


def test_lone_white_plates_are_not_seen(tmp_path: Path) -> None:
    """White on white is not a chart, and neither is an outline around text."""
    white = Drawn(bars(100, 300, (90, 40, 20)).operators.replace(b"0.2 0.4 0.8", b"1 1 1"))
    outline = Drawn(b"100 300 200 100 re S\n")

    assert read_pages(tmp_path, WORDS + white, WORDS + outline).figures == ()


def test_line_chart_is_a_figure(tmp_path: Path) -> None:
    """A zigzag line is a chart; a plain ruled table is not."""
    document = read_pages(tmp_path, WORDS + curve(100, 400), WORDS + table(100, 400, 8, 5))

    assert [(f.page, f.kind) for f in document.figures] == [(1, "drawing")]


def test_figures_count_from_the_top(tmp_path: Path) -> None:
    """The upper chart is f1, whichever was drawn first."""
    low, high = bars(100, 100, (90, 40, 20)), bars(100, 500, (20, 90, 40))

    first, second = read_pages(tmp_path, WORDS + low + high).figures

    assert (first.id, second.id) == ("a#1.f1", "a#1.f2")
    assert first.box is not None
    assert second.box is not None
    assert first.box.bottom > second.box.top


def test_equal_images_are_one_figure(tmp_path: Path) -> None:
    """A picture shown twice, even elsewhere on the page, is captioned once and counted."""
    again = image((200, 500, 240, 160), noise(120, 80), (120, 80))

    document = read_pages(tmp_path, WORDS + PHOTO, WORDS + again)

    assert [figure.page for figure in document.figures] == [1]
    assert document.counts["equal_figures_removed"] == 1


def test_small_things_and_bands_are_no_figures(tmp_path: Path) -> None:
    """Icons, long ornaments, a blank picture and a band trimmed at the page's edge are left out."""
    icon = image((72, 700, 30, 20), noise(60, 40), (60, 40))
    ornament = image((72, 650, 500, 42), noise(500, 42), (500, 42))
    blank = image((72, 400, 200, 100), b"\x80" * 60000, (200, 100))
    band = image((-20, 790, 640, 90), noise(320, 45, seed=1), (320, 45))

    assert read_pages(tmp_path, WORDS + icon + ornament + blank + band).figures == ()


def test_scan_of_a_page_is_a_figure_only_without_text(tmp_path: Path) -> None:
    """A scan behind recognised text is not a figure; a page number alone is not such text."""
    scan = scan_of(seed=1)

    document = read_pages(tmp_path, WORDS + scan, scan, text(290, 20, "3") + scan_of(seed=2))

    assert [figure.page for figure in document.figures] == [2, 3]
    assert document.counts["pages_without_text"] == 1


def test_image_bomb_is_not_decoded(tmp_path: Path) -> None:
    """A page whose image declares 10 billion pixels has its text, no figures, and is counted."""
    bomb = image(
        (100, 300, 240, 160), b"", (100_000, 100_000), b"/ColorSpace/DeviceGray/BitsPerComponent 1"
    )

    document = read_pages(tmp_path, WORDS + bomb)

    assert document.pages[0].text == "Some words on the page"
    assert document.figures == ()
    assert document.counts["pages_with_oversized_images"] == 1


@pytest.mark.parametrize(
    ("entries", "channels"),
    [
        (b"/ColorSpace/DeviceCMYK/BitsPerComponent 8", 4),
        (b"/ColorSpace/DeviceGray/BitsPerComponent 8", 1),
        (b"/ColorSpace/DeviceGray/BitsPerComponent 1", 1),
        (b"/ImageMask true/BitsPerComponent 1", 1),
    ],
    ids=["cmyk", "grey", "bilevel", "mask"],
)
def test_every_kind_of_image_becomes_rgb(tmp_path: Path, entries: bytes, channels: int) -> None:
    """CMYK, grey, one bit and masks are rendered as a reader sees them."""
    shown = image((100, 300, 240, 160), noise(120, 80, channels), (120, 80), entries)

    (figure,) = read_pages(tmp_path, WORDS + shown).figures

    assert picture(figure).mode == "RGB"


def test_rotated_page_gives_an_upright_picture(tmp_path: Path) -> None:
    """On a page rotated by 90 degrees the picture is rotated too."""
    (figure,) = read_pages(tmp_path, WORDS + PHOTO, rotate=90).figures

    assert picture(figure).size == pytest.approx((160, 240), abs=2)
