from pathlib import Path

from harness.sources import read_corpus
from harness.sources.documents import Box
from harness.sources.pdf.text_lines import HYPHEN, Span, TextLine, flow
from tests.sources.pdfs import text, write_pdf


def line(content: str, top: float, left: float = 72, size: float = 10) -> TextLine:
    """A line whose letters are `size` high, Han as wide, others half as wide."""
    width = sum(size if ord(char) > 0x2E7F else size / 2 for char in content)
    box = Box(left, top - size, left + width, top)
    return TextLine(box, (Span(box, content),))


def test_lines_of_a_paragraph_are_joined() -> None:
    """Lines are joined without a blank between Han, with one between Latin words."""
    han = flow([line("整體來說，民主國家已經進行回擊，視為一種整", 100), line("體的威脅。", 86)])
    latin = flow([line("this report would likely", 100), line("be larger.", 86)])

    assert han[0] == "整體來說，民主國家已經進行回擊，視為一種整體的威脅。"
    assert latin[0] == "this report would likely be larger."
    assert (han[1], latin[1]) == (1, 1)


def test_title_stands_alone() -> None:
    """A line much shorter than the next was not broken because it was full."""
    found = flow(
        [line("停滯與不平等", 100), line("這兩種意識形態雖然往往以溫和的形式呈現，但", 86)]
    )

    assert found[0] == "停滯與不平等\n這兩種意識形態雖然往往以溫和的形式呈現，但"


def test_larger_type_and_distance_end_a_paragraph() -> None:
    """A heading in larger type and a line further down are not joined."""
    words = "words in a line that is full"

    assert flow([line(words, 100, size=14), line(words, 84)])[1] == 0
    assert flow([line(words, 100), line(words, 60)])[1] == 0
    assert flow([line(words, 100), line(words, 86, left=400)])[1] == 0


def test_indent_begins_a_paragraph() -> None:
    """An indented line begins a paragraph, unless a bullet hangs before it."""
    full = "民主國家對技術的敵意遠非單向的，而是雙向的事"

    assert flow([line(full, 100), line(full, 86, left=92)])[1] == 0
    assert flow([line("• " + full, 100), line(full, 86, left=82)])[1] == 1
    assert flow([line(full, 100), line("• " + full, 86)])[1] == 0


def test_rows_of_a_table_stay_apart() -> None:
    """Lines of numbers, and lines of three cells, are rows and not sentences."""
    rows = [line("Austria 86.2 13.8 0 3,375", 100), line("Belgium 0 0 100.0 3,973", 86)]
    cells = TextLine(Box(0, 0, 300, 10), tuple(Span(Box(0, 0, 9, 9), "cell") for _ in range(3)))
    next_cells = TextLine(Box(0, -14, 300, -4), cells.spans)

    assert flow(rows)[0] == "Austria 86.2 13.8 0 3,375\nBelgium 0 0 100.0 3,973"
    assert flow([cells, next_cells])[1] == 0


def test_sentences_with_years_are_no_rows() -> None:
    """Blanks around numbers in Chinese do not make a line the row of a table."""
    first = "2010 年代，公眾和政策制定者對技術的態度明顯轉向負面，在 2000 年末和"
    second = "2010 年初被視為促進開放的力量，但是到了 2010 年末，它們開始被撻伐"

    assert flow([line(first, 100), line(second, 86)])[0] == f"{first} {second}"


def test_seam_follows_the_custom_of_the_page() -> None:
    """Lines are joined without a blank between Han and digits if the page has none there."""
    first, second = "近年の2018年に発表された深層学習のモデルが、さらに", "2020年には広がりました"

    assert flow([line(first, 100), line(second, 86)])[0] == first + second


def test_hyphen_at_a_line_end_is_left_to_cleaning() -> None:
    """The word is joined, with a mark that cleaning resolves."""
    assert flow([line("the dis" + HYPHEN, 100), line("ability", 86)])[0] == "the dis\u00adability"


def test_no_lines() -> None:
    """A page without text gives the empty string."""
    assert flow([])[0] == ""


def test_letters_beyond_the_basic_plane_survive(tmp_path: Path) -> None:
    """A rare Han character is one character, not two halves."""
    write_pdf(tmp_path / "a.pdf", [text(72, 700, "𠮷野 ⿻ 1.05")])

    (document,) = read_corpus([str(tmp_path)])

    assert document.pages[0].text == "𠮷野⿻ 1.05"
