from pathlib import Path

import pytest
from PIL import Image

from harness.errors import InputError
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
    """Local pictures count in the order they are shown; addresses are left alone."""
    draw(tmp_path / "img" / "a b.png", "red")
    draw(tmp_path / "b.jpg", "blue")
    text = "![first](img/a%20b.png)\n![far](https://x.org/c.png)\n![second](<b.jpg> 'title')"

    document = read_markdown(tmp_path, text)

    assert [f.id for f in document.figures] == ["report#1.f1", "report#1.f2"]
    assert document.figures[0].box is None
    assert document.pages[0].text == text


def test_pictures_beside_markdown_are_no_documents(tmp_path: Path) -> None:
    """A folder with a report and its pictures is read as the report."""
    draw(tmp_path / "a.png", "red")
    read_markdown(tmp_path, "![](a.png)")

    assert [d.name for d in read_corpus([str(tmp_path)])] == ["report"]


def test_blank_pictures_are_passed_over(tmp_path: Path) -> None:
    """A spacer of one colour has nothing to caption."""
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
        ("torn.png", "not a picture that can be read"),
    ],
)
def test_pictures_that_cannot_be_used_are_named(tmp_path: Path, link: str, reason: str) -> None:
    """The line of the Markdown file and the picture are told."""
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    with pytest.raises(InputError, match=r"report\.md:3") as error:
        read_markdown(tmp_path, f"# Title\n\n![chart]({link})")

    assert reason in str(error.value)
