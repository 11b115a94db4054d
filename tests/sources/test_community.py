import builtins
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError, InputError
from harness.sources import read_corpus

WORD = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/'
    '2006/main"><w:body><w:p><w:r><w:t>塔高27公尺。</w:t></w:r></w:p></w:body></w:document>'
)


def texts(path: Path) -> list[str]:
    (document,) = read_corpus([str(path)])
    return [page.text for page in document.pages]


def test_a_table_keeps_its_header_in_every_row(tmp_path: Path) -> None:
    """Each row of a CSV is a page of its own, its values behind their columns' names."""
    path = tmp_path / "rates.csv"
    path.write_text("county,rate\nChanghua,1.05\nTaipei,0.4\n", encoding="utf-8-sig")

    assert texts(path) == ["county: Changhua\nrate: 1.05", "county: Taipei\nrate: 0.4"]


def test_a_saved_web_page_is_its_text(tmp_path: Path) -> None:
    """Tags are left out, text is kept."""
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
    """What a parser cannot read is one line with the file's name."""
    path = tmp_path / name
    path.write_bytes(b"\xff\xfe\x00not what it says")

    with pytest.raises((InputError, ConfigError), match=name):
        read_corpus([str(path)])


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the parser the error says what to install."""
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
