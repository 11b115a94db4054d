"""Read a corpus: files and folders of PDF, text, Markdown and a few kinds more."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.sources.cleaning import clean
from harness.sources.community import LOADERS, read_other
from harness.sources.documents import Document, Figure, Found, Page, Sheet
from harness.sources.plain_text import read_markdown, read_text

MARKDOWN = (".md", ".markdown")
PLAIN = {
    ".txt": read_text,
    **dict.fromkeys(MARKDOWN, read_markdown),
    **dict.fromkeys(LOADERS, read_other),
}
KINDS = (".pdf", *PLAIN)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".svg")
"""In a folder these are left to the Markdown files that show them."""


def read_corpus(paths: Sequence[str], figures: bool = True) -> tuple[Document, ...]:
    """Return the documents of all files and folders, in the order of their names.

    Folders are read to their depths; hidden files are left out, and pictures count only where
    a Markdown file shows them.

    Args:
        paths: Files and folders.
        figures: False saves the work where the index is made of text only.

    Raises:
        InputError: a path is missing or of another kind, a file cannot be used, two files
            would have one name, or there is nothing to read.
    """
    documents = [_document(file, figures) for file in named_files(paths).values()]
    return tuple(sorted(documents, key=lambda document: document.name))


def named_files(paths: Sequence[str]) -> dict[str, Path]:
    """Return document name -> file, for all files and folders.

    Raises:
        InputError: a path is missing or of another kind, two files would have one name, or
            there is none.
    """
    files = sorted({file.resolve(): file for path in paths for file in _files(Path(path))}.values())
    if not files:
        raise InputError(f"the corpus is empty: no {_kinds()} in {', '.join(paths) or 'no path'}")
    names: dict[str, Path] = {}
    for file in files:
        other = names.setdefault(_name(file).casefold(), file)
        if other != file:
            raise InputError(f"{file} and {other} would both be '{_name(file)}'; rename one")
    return {_name(file): file for file in files}


def corpus_hashes(paths: Sequence[str]) -> dict[str, str]:
    """Return file name -> SHA-256 of all that would be read of it, each file once.

    The name counts, since passages are named after it; the folders above it do not. Of a
    Markdown file the pictures that it shows count too.
    """
    hashes = {}
    for file in named_files(paths).values():
        digest = hashlib.sha256(file.read_bytes())
        if file.suffix.lower() in MARKDOWN:
            for sheet in read_markdown(file, file.read_bytes()):
                for found in sheet.found:
                    digest.update(found.content.encode())
        hashes[file.name] = digest.hexdigest()
    return dict(sorted(hashes.items()))


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    found = path.rglob("*") if path.is_dir() else [path]
    for file in found:
        parts = file.relative_to(path).parts
        if not file.is_file() or any(part.startswith(".") for part in parts):
            continue
        if path.is_dir() and file.suffix.lower() in PICTURES:
            continue
        if file.suffix.lower() not in KINDS:
            raise InputError(f"{file}: not a document that can be read; allowed: {_kinds()}")
        yield file


def _kinds() -> str:
    return ", ".join(KINDS)


def _name(file: Path) -> str:
    """Return the file's stem without what would break a passage id.

    >>> _name(Path("麻疹 2024 #3.pdf"))
    '麻疹_2024_3'
    """
    stem = unicodedata.normalize("NFC", file.stem)
    return re.sub(r"[^\w.-]+", "_", stem).strip("_.") or "document"


def _document(file: Path, with_figures: bool) -> Document:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    plain = PLAIN.get(file.suffix.lower())
    if plain is not None:
        sheets = plain(file, data)
    else:
        from harness.sources.pdf.reader import (
            read_pdf,  # every stage imports this module, few read a PDF
        )

        sheets = read_pdf(file, data, with_figures)
    cleaned = clean([sheet.text for sheet in sheets])
    if not any(text.strip() for text in cleaned.texts):
        raise InputError(f"{file}: the document has no text")
    name = _name(file)
    numbered = zip(sheets, cleaned.texts, strict=True)
    seen: set[str] = set()
    pages = tuple(
        Page(number, text, tuple(_figures(name, number, sheet, seen)) if with_figures else ())
        for number, (sheet, text) in enumerate(numbered, start=1)
    )
    counts = Counter(cleaned.counts)
    for sheet in sheets:
        counts.update(sheet.counts)
    counts["equal_figures_removed"] = sum(len(sheet.found) for sheet in sheets) - len(seen)
    return Document(name, hashlib.sha256(data).hexdigest(), pages, dict(counts))


def _figures(document: str, page: int, sheet: Sheet, seen: set[str]) -> Iterator[Figure]:
    """Number the figures of a page; one that the document showed before is left out."""
    new: list[Found] = []
    for found in sheet.found:
        if found.content not in seen:
            seen.add(found.content)
            new.append(found)
    for number, found in enumerate(new, start=1):
        yield Figure(
            f"{document}#{page}.f{number}",
            document,
            page,
            found.box,
            found.picture.png,
            found.picture.sha256,
            found.kind,
        )
