"""Files other than PDF: plain text, Markdown with its pictures, tables, web pages, Word files.

Tables, web pages and Word files are read by langchain-community's loaders; this is the one module
that imports that package.
"""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from harness.errors import ConfigError, InputError
from harness.sources.documents import RawFigure, RawPage, check_pages, decode, encode

LARGEST_PICTURE = 50_000_000
"""Bytes of a picture's file."""

_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def read_text(path: Path, data: bytes) -> tuple[RawPage, ...]:
    """Return the pages of a plain text file; a form feed ends a page.

    Raises:
        InputError: the file is not UTF-8 (or UTF-16 with its byte-order mark), or has too many
            pages.
    """
    check_pages(path, data.count(b"\f") + 1)
    return tuple(RawPage(text) for text in _decoded(path, data).split("\f"))


def read_markdown(path: Path, data: bytes) -> tuple[RawPage, ...]:
    """Return a Markdown file as one page, with the pictures that it shows from its own folder.

    Pictures behind an address (`https://...`) are not fetched.

    Raises:
        InputError: the file is not UTF-8, or a picture is missing, broken, too large or outside
            of the folder.
    """
    text = _decoded(path, data)
    return (RawPage(text, tuple(_pictures(path, text))),)


def _decoded(path: Path, data: bytes) -> str:
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 text (byte {error.start + 1}); save it as UTF-8"
        ) from error


def _pictures(path: Path, text: str) -> Iterator[RawFigure]:
    folder = path.parent.resolve()
    for link in _PICTURE.finditer(text):
        if _ADDRESS.match(link[1]):
            continue
        place = f"{path}:{text.count(chr(10), 0, link.start()) + 1}"
        file = (folder / unquote(link[1])).resolve()
        if not file.is_relative_to(folder):
            raise InputError(f"{place}: picture {link[1]} is outside of the document's folder")
        if not file.is_file():
            raise InputError(f"{place}: picture {link[1]} is missing")
        if file.stat().st_size > LARGEST_PICTURE:
            raise InputError(f"{place}: picture {link[1]} is larger than {LARGEST_PICTURE:,} bytes")
        picture = encode(decode(file.read_bytes(), f"{place}: {link[1]}"))
        if picture is not None:
            yield picture


WEB_PAGE: dict[str, Any] = {
    "open_encoding": "utf-8-sig",
    "bs_kwargs": {"features": "html.parser"},
    "get_text_separator": "\n",
}
LOADERS: dict[str, tuple[str, dict[str, Any]]] = {
    ".csv": ("CSVLoader", {"encoding": "utf-8-sig"}),
    ".html": ("BSHTMLLoader", WEB_PAGE),
    ".htm": ("BSHTMLLoader", WEB_PAGE),
    ".docx": ("Docx2txtLoader", {}),
}
"""Suffix -> the loader's class and settings. Each row of a table is a page, with the column's name
before each value; the other kinds are one page."""


def read_other(path: Path, data: bytes) -> tuple[RawPage, ...]:
    """Return the text of a table, a saved web page or a Word file.

    Raises:
        ConfigError: the package that reads this kind is not installed.
        InputError: the file cannot be read.
    """
    name, settings = LOADERS[path.suffix.lower()]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # the package is sunset
        from langchain_community import document_loaders
    try:
        documents = getattr(document_loaders, name)(str(path), **settings).load()
    except ImportError as error:
        raise ConfigError(
            f"{path}: {path.suffix} needs a package: pip install -e '.[documents]' ({error})"
        ) from None
    except Exception as error:  # noqa: BLE001  parsers raise anything on a damaged file
        raise InputError(f"{path}: cannot be read ({type(error).__name__}: {error})") from None
    return tuple(RawPage(document.page_content) for document in documents)
