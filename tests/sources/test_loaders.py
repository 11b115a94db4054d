import builtins
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from harness.errors import ConfigError, InputError
from harness.sources import Document, read_corpus


def read_markdown(folder: Path, text: str) -> Document:
    (folder / "report.md").write_text(text, encoding="utf-8")
    (document,) = read_corpus([str(folder / "report.md")])
    return document


def draw(path: Path, colour: str) -> None:
    path.parent.mkdir(exist_ok=True)
    image = Image.linear_gradient("L").convert("RGB")
    image.paste(colour, (0, 0, 20, 20))
    image.save(path)


def test_pictures_of_markdown_are_figures(tmp_path: Path) -> None:
    """Local pictures are figures in the order they are shown; addresses are not fetched."""
    draw(tmp_path / "img" / "a b.png", "red")
    draw(tmp_path / "b.jpg", "blue")
    text = "![first](img/a%20b.png)\n![far](https://x.org/c.png)\n![second](<b.jpg> 'title')"

    document = read_markdown(tmp_path, text)

    assert [f.id for f in document.figures] == ["report#1.f1", "report#1.f2"]
    assert document.figures[0].box is None
    assert document.pages[0].text == text


def test_pictures_beside_markdown_are_no_documents(tmp_path: Path) -> None:
    """A folder with a report and its pictures is read as one document."""
    draw(tmp_path / "a.png", "red")
    read_markdown(tmp_path, "![](a.png)")

    assert [d.name for d in read_corpus([str(tmp_path)])] == ["report"]


def test_blank_pictures_are_passed_over(tmp_path: Path) -> None:
    """A spacer of one colour is not a figure."""
    Image.new("RGB", (90, 90), "white").save(tmp_path / "blank.png")

    assert read_markdown(tmp_path, "![](blank.png)").figures == ()


def test_huge_files_are_not_opened(tmp_path: Path) -> None:
    """A picture of more bytes than any chart needs is refused before it is read."""
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(50_000_001)

    with pytest.raises(InputError, match=r"huge\.png is larger than 50,000,000 bytes"):
        read_markdown(tmp_path, "![](huge.png)")


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("gone.png", "picture gone.png is missing"),
        ("../secret.png", "is outside of the document's folder"),
        ("torn.png", "not a readable picture"),
    ],
)
def test_pictures_that_cannot_be_used_are_named(tmp_path: Path, link: str, reason: str) -> None:
    """The error names the line of the Markdown file and the picture."""
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    with pytest.raises(InputError, match=r"report\.md:3") as error:
        read_markdown(tmp_path, f"# Title\n\n![chart]({link})")

    assert reason in str(error.value)


WORD = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/'
    '2006/main"><w:body><w:p><w:r><w:t>塔高27公尺。</w:t></w:r></w:p></w:body></w:document>'
)


def texts(path: Path) -> list[str]:
    (document,) = read_corpus([str(path)])
    return [page.text for page in document.pages]


def test_a_table_keeps_its_header_in_every_row(tmp_path: Path) -> None:
    """Each row of a CSV is a page, with the column's name before each value."""
    path = tmp_path / "rates.csv"
    path.write_text("county,rate\nChanghua,1.05\nTaipei,0.4\n", encoding="utf-8-sig")

    assert texts(path) == ["county: Changhua\nrate: 1.05", "county: Taipei\nrate: 0.4"]


def test_a_saved_web_page_is_its_text(tmp_path: Path) -> None:
    """Tags are removed, text is kept."""
    pytest.importorskip("bs4")
    path = tmp_path / "page.html"
    path.write_text("<html><body><h1>燈塔</h1><p>射程18浬</p></body></html>", encoding="utf-8")

    assert texts(path) == ["燈塔\n射程18浬"]


def test_a_word_file_is_its_text(tmp_path: Path) -> None:
    """The paragraphs of a .docx are read."""
    pytest.importorskip("docx2txt")
    path = tmp_path / "report.docx"
    with zipfile.ZipFile(path, "w") as word:
        word.writestr("word/document.xml", WORD)

    assert texts(path) == ["塔高27公尺。"]


@pytest.mark.parametrize("name", ["broken.docx", "broken.csv"])
def test_a_damaged_file_is_named(name: str, tmp_path: Path) -> None:
    """A file that a parser cannot read is an error in one line with its name."""
    path = tmp_path / name
    path.write_bytes(b"\xff\xfe\x00not what it says")

    with pytest.raises((InputError, ConfigError), match=name):
        read_corpus([str(path)])


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the parser's package, the error says what to install."""
    path = tmp_path / "page.html"
    path.write_text("<p>x</p>", encoding="utf-8")
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "bs4":
            raise ImportError("no bs4")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ConfigError, match=r"\[documents\]"):
        read_corpus([str(path)])
