"""A corpus read from files and folders: PDF, text, Markdown, tables, web pages, Word.

Its text is cleaned once, when a document is read, and each change is counted: one Unicode form,
nothing invisible, no blanks inside words.
"""

import hashlib
import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.errors import InputError, check_size
from harness.sources.documents import Document, Figure, Page, RawPage
from harness.sources.loaders import LOADERS, read_markdown, read_other, read_text
from harness.text import WITHOUT_BLANKS, document_name, fold_name, sha256

MARKDOWN = (".md", ".markdown")
PLAIN = {
    ".txt": read_text,
    **dict.fromkeys(MARKDOWN, read_markdown),
    **dict.fromkeys(LOADERS, read_other),
}
KINDS = (".pdf", *PLAIN)
KNOWN = ", ".join(KINDS)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".svg")
"""Skipped in a folder: a picture counts where a Markdown file shows it."""

_LINE_BREAKS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_HALF_WIDTH_KANA = re.compile(r"[\uff65-\uff9f]+")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
_GAP = re.compile(
    rf"(?<=[{WITHOUT_BLANKS}])[ \t\u00a0\u2000-\u200a\u202f\u3000]+(?=[{WITHOUT_BLANKS}])"
)
_BROKEN_WORD = re.compile(r"(\S{0,80}?)([^\W\d_]+)\u00ad\n?([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def read_corpus(
    paths: Sequence[str], figures: bool = True, follow_links: bool = False
) -> tuple[Document, ...]:
    """Return the documents of all files and folders, in the order of their names.

    Folders are read recursively. Hidden files are skipped, and pictures count only where a
    Markdown file shows them.

    Args:
        paths: Files and folders.
        figures: Whether to look for figures; an index of text only does not need them.
        follow_links: Whether links out of the corpus are followed.

    Raises:
        InputError: a file cannot be read, or as `named_files` raises it.
    """
    files = named_files(paths, follow_links)
    documents = [_document(file, figures) for file in files.values()]
    return tuple(sorted(documents, key=lambda document: document.name))


def named_files(paths: Sequence[str], follow_links: bool = False) -> dict[str, Path]:
    """Return document name -> file, for all files and folders; linked folders are read as well.

    Raises:
        InputError: a path is missing or not a known kind of file, two files have the same name, a
            name is not UTF-8, a link leads nowhere or out of the corpus, or there are no files.
    """
    corpus = [Path(path) for path in paths]
    found: dict[Path, Path] = {}
    for file in (file for path in corpus for file in _files(path, corpus, follow_links)):
        real = file.resolve()
        same = (found.get(real, file), file)
        found[real] = min(same, key=lambda each: (each.name != real.name, each))
    files = sorted(found.values())
    if not files:
        raise InputError(
            f"the corpus is empty: no {KNOWN} in {', '.join(paths)}"
            if paths
            else "the corpus is empty: give study.corpus=[<file or folder>]"
        )
    names: dict[str, Path] = {}
    for file in files:
        other = names.setdefault(fold_name(_name(file)), file)
        if other != file:
            raise InputError(f"{file} and {other} would both be named '{_name(file)}'; rename one")
    return {_name(file): file for file in files}


def corpus_hashes(
    paths: Sequence[str], largest_mb: int | None = None, follow_links: bool = False
) -> dict[str, str]:
    """Return file name -> SHA-256 of everything that is read from it, each file once.

    The key is the name without folders, since passages are named after it. The hash of a Markdown
    file includes the pictures that it shows. Raises InputError where a file is larger than
    `largest_mb`; a Word file counts decompressed.
    """
    hashes = {}
    for file in named_files(paths, follow_links).values():
        check_size(file, _size(file), largest_mb)
        digest = hashlib.sha256(file.read_bytes())
        if file.suffix.lower() in MARKDOWN:
            for page in read_markdown(file, file.read_bytes()):
                for figure in page.figures:
                    digest.update(figure.content.encode())
        hashes[file.name] = digest.hexdigest()
    return dict(sorted(hashes.items()))


def _size(file: Path) -> int:
    """Return the bytes of a file, of a Word file those of its parts, decompressed."""
    size = file.stat().st_size
    if file.suffix.lower() == ".docx":
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as parts:
            size = sum(part.file_size for part in parts.infolist())
    return size


def _files(path: Path, corpus: Sequence[Path], follow_links: bool) -> Iterator[Path]:
    """Yield the documents of a path; a folder that several links lead to is read once."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    waiting, read = [path], set[Path]()
    while waiting:
        place = waiting.pop()
        if not place.is_dir():
            if place.suffix.lower() not in KINDS:
                raise InputError(f"{place}: unknown kind of document; known: {KNOWN}")
            yield place
        elif place.resolve() not in read:
            read.add(place.resolve())
            for entry in place.iterdir():
                if entry.name.startswith("."):
                    continue
                _check_name_and_link(entry, corpus, follow_links)
                if entry.is_dir() or (entry.is_file() and entry.suffix.lower() not in PICTURES):
                    waiting.append(entry)


def _check_name_and_link(path: Path, corpus: Sequence[Path], follow_links: bool) -> None:
    """Raise InputError where a name is not UTF-8, or a link is dangling or leads elsewhere."""
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    if shown != str(path):
        raise InputError(f"{shown}: the name is not UTF-8; rename the file or folder")
    if not path.is_symlink():
        return
    if not path.exists():
        raise InputError(
            f"{path}: the target of the link does not exist ({os.readlink(path)}); remove it"
        )
    real = path.resolve()
    if not follow_links and not any(real.is_relative_to(each.resolve()) for each in corpus):
        raise InputError(
            f"{path}: the link leads out of the corpus, to {real}; remove it, or give "
            "study.follow_links=true to read it"
        )


def _name(file: Path) -> str:
    """Return the name of a file's document, also if the file's name has no letter or digit."""
    return document_name(file.name) or "document"


def _document(file: Path, with_figures: bool) -> Document:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    plain = PLAIN.get(file.suffix.lower())
    if plain is not None:
        pages = plain(file, data)
    else:
        # Imported here since every stage imports this module, but few read a PDF.
        from harness.sources.pdf import read_pdf

        pages = read_pdf(file, data, with_figures)
    texts, counts = clean([page.text for page in pages])
    if not any(text.strip() for text in texts):
        raise InputError(f"{file}: the document has no text")
    name = _name(file)
    numbered = zip(pages, texts, strict=True)
    seen: set[str] = set()
    clean_pages = tuple(
        Page(number, text, tuple(_figures(name, number, page, seen)) if with_figures else ())
        for number, (page, text) in enumerate(numbered, start=1)
    )
    for page in pages:
        counts.update(page.counts)
    counts["equal_figures_removed"] = sum(len(page.figures) for page in pages) - len(seen)
    return Document(name, sha256(data), clean_pages, dict(counts))


def _figures(document: str, number: int, page: RawPage, seen: set[str]) -> Iterator[Figure]:
    """Number the figures of a page, without those that the document has shown before."""
    place = 0
    for raw in page.figures:
        if raw.content not in seen:
            seen.add(raw.content)
            place += 1
            name = f"{document}#{number}.f{place}"
            yield Figure(name, document, number, raw.box, raw.png, raw.sha256, raw.kind)


def clean(texts: Sequence[str]) -> tuple[list[str], Counter[str]]:
    """Return the texts of one document's pages cleaned, and how often each change was made.

    The changes are characters normalised to NFC, control characters and blanks removed, and words
    joined.

    >>> texts, counts = clean(["青嶼 燈 塔於 1931 年\\0 in 1931"])
    >>> texts
    ['青嶼燈塔於 1931 年 in 1931']
    >>> counts["blanks_removed"], counts["controls_removed"]
    (2, 1)
    """
    counts = Counter[str]()
    visible = [_visible(text, counts) for text in texts]
    known = Counter(word.lower() for text in visible for word in _WORD.findall(text))
    return [_joined(text, known, counts) for text in visible], counts


def _visible(text: str, counts: Counter[str]) -> str:
    """Return the text in NFC, its kana in full width, without invisible characters."""
    text = _LINE_BREAKS.sub("\n", text)
    text, removed = _INVISIBLE.subn("", text)
    composed = _HALF_WIDTH_KANA.sub(lambda kana: unicodedata.normalize("NFKC", kana[0]), text)
    composed = unicodedata.normalize("NFC", composed)
    changed = 0 if composed == text else (Counter(text) - Counter(composed)).total()
    counts.update(controls_removed=removed, characters_normalised=changed)
    return composed


def _joined(text: str, known: Mapping[str, int], counts: Counter[str]) -> str:
    """Return the text without blanks between Han, hyphens at line ends and superfluous space."""

    def whole_word(word: re.Match[str]) -> str:
        before, left, right = word.groups()
        hyphenated, whole = f"{left}-{right}", left + right
        usual = known[hyphenated.lower()] and not known[whole.lower()]
        keeps_hyphen = usual or right[0].isupper() or "/" in before
        return before + (hyphenated if keeps_hyphen else whole)

    hyphens = text.count("\u00ad")
    if hyphens:
        text = _BROKEN_WORD.sub(whole_word, text).replace("\u00ad", "")
    blanks = sum(len(gap) for gap in _GAP.findall(text))
    lines = "\n".join(line.rstrip() for line in _GAP.sub("", text).split("\n"))
    counts.update(blanks_removed=blanks, hyphens_resolved=hyphens)
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n")
