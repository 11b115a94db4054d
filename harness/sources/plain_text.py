"""Plain text and Markdown files, with the pictures that a Markdown file shows."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from harness.errors import InputError
from harness.sources.documents import Found, Sheet
from harness.sources.pictures import decode, encode

_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
LARGEST_PICTURE = 50_000_000
"""Bytes."""


def read_text(path: Path, data: bytes) -> tuple[Sheet, ...]:
    """Return the pages of a plain text file; a form feed ends a page.

    Raises:
        InputError: the file is not UTF-8 (or UTF-16 with its mark).
    """
    return tuple(Sheet(text) for text in _decoded(path, data).split("\f"))


def read_markdown(path: Path, data: bytes) -> tuple[Sheet, ...]:
    """Return a Markdown file as one page, with the pictures that it shows from its own folder.

    Pictures behind an address (`https://...`) are not fetched.

    Raises:
        InputError: it is not UTF-8, or a picture is missing, broken, too large or elsewhere.
    """
    text = _decoded(path, data)
    return (Sheet(text, tuple(_pictures(path, text))),)


def _decoded(path: Path, data: bytes) -> str:
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 text (byte {error.start + 1}); save it as UTF-8"
        ) from error


def _pictures(path: Path, text: str) -> Iterator[Found]:
    folder = path.parent.resolve()
    for link in _PICTURE.finditer(text):
        if _ADDRESS.match(link[1]):
            continue
        place = f"{path}:{text.count(chr(10), 0, link.start()) + 1}"
        file = (folder / unquote(link[1])).resolve()
        if not file.is_relative_to(folder):
            raise InputError(f"{place}: picture {link[1]} lies outside of the document's folder")
        if not file.is_file():
            raise InputError(f"{place}: picture {link[1]} is missing")
        if file.stat().st_size > LARGEST_PICTURE:
            raise InputError(f"{place}: picture {link[1]} is larger than {LARGEST_PICTURE:,} bytes")
        picture = encode(decode(file.read_bytes(), f"{place}: {link[1]}"))
        if picture is not None:
            yield Found(picture, picture.sha256)
