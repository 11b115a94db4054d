"""Passages: what an index is built from, the text of the corpus in pieces and its captions.

Text is cut where a reader of Chinese, Japanese or English would cut it.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from harness.errors import ConfigError, InputError, pick
from harness.llm import Calls
from harness.records import Passage
from harness.sources.captions import Caption, Captioner, NoCaptioner, captions_of
from harness.sources.documents import Document

CLOSING = "。．，、！？；：）】》〉」』”’ー々％‰°)\\]}»›,.!?;:%"
"""Characters that no passage begins with, as the inside of a regular expression's brackets."""
_OPENING = "(（「『《〈【\\[{«‹“‘$€£¥+−–-"
_MARKS = "\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f"
_REST = rf"[{CLOSING}]*+\s*+(?![{CLOSING}])"
"""Closing marks and blanks that stay with the text before them."""
SEPARATORS = (
    # The end of a sentence or a line; not the stop of "1." at the head of an item, nor leaders.
    rf"[。！？]{_REST}|\n{_REST}"
    rf"|(?<=[\w%\"'”’)\]])(?<!\b\d)(?<!\b\d\d)[.!?]{{1,3}}+[”’\"')\]]*+\s++(?![{CLOSING}])",
    rf"[；;]{_REST}",
    rf"(?:(?<!\d)[，,、：:]|[，,、：:](?!\d)){_REST}",
    rf"\s++(?![{CLOSING}])",
    # At last between any two characters, but not after a digit and not before a closing mark.
    rf"(?<![\d.,，．:：/{_OPENING}])(?!\s*+[{CLOSING}{_MARKS}])(?=.)",
)
"""Regular expressions, from the best place to cut to the worst."""
NUMBER = re.compile(r"\d+(?:[.,，．]\d+)*(?:\s?[%％‰])?")


def split(text: str, size: int, overlap: int = 0) -> list[str]:
    """Return the text in pieces of at most `size` characters, cut at the best places available.

    A piece is longer only if it has no place to cut, such as a run of digits.

    >>> split("第一段講人口。彰化縣的發生率最高，為1.05。", 20)
    ['第一段講人口。', '彰化縣的發生率最高，為1.05。']
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=list(SEPARATORS),
        is_separator_regex=True,
        keep_separator="end",
        chunk_size=size,
        chunk_overlap=overlap,
    )
    return splitter.split_text(text)


def head(text: str, size: int) -> str:
    """Return the beginning of a text, cut at the last good place within `size` characters.

    >>> head("第一段講人口。彰化縣的發生率最高，為1.05。", 20)
    '第一段講人口。彰化縣的發生率最高，'
    """
    if len(text) <= size:
        return text
    for separator in SEPARATORS:
        ends = [match.end() for match in re.finditer(separator, text[: size + 1])]
        good = [end for end in ends if size / 2 <= end <= size]
        if good:
            return text[: good[-1]].rstrip()
    return ""


def count_cut_numbers(text: str, pieces: Sequence[str], overlap: int = 0) -> int:
    """Count the pieces of a text, in order, that begin or end inside a number.

    What is not a part of the text, such as a heading that an index content adds, is skipped.

    >>> count_cut_numbers("最高，為1.05。", ["最高，為1.", "05。"])
    2
    """
    inside = {at for number in NUMBER.finditer(text) for at in range(*number.span())[1:]}
    cut = end = 0
    for piece in pieces:
        start = text.find(piece, max(end - overlap, 0))
        if start >= 0:
            end = start + len(piece)
            cut += start in inside or end in inside
    return cut


@dataclass
class Index:
    """Which parts of a corpus are put into an index, and in what pieces."""

    contents: str = "text"
    """text: the pages. caption: one more passage for each figure. ctx: the same, with the text of
    its page before each caption. Or another name in `CONTENTS`."""
    chunk_size: int = 500
    """Maximum characters of a passage of text; a caption is never cut."""
    chunk_overlap: int = 0
    """Characters that a passage may repeat of the one before."""
    context_size: int = 1000
    """Maximum characters of the page before a caption (ctx)."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The parameters of the contents' function: what its passages are built from.

        Raises:
            UnknownNameError: `contents` is not a name in `CONTENTS`.
        """
        build = pick(CONTENTS, self.contents, "index contents")
        return tuple(inspect.signature(build).parameters)

    @property
    def wants_captions(self) -> bool:
        """Whether figures are looked for and captioned: the contents need `captions`."""
        return "captions" in self.needs

    @property
    def unused(self) -> frozenset[str]:
        """Settings that the contents do not need, and that are no factors of a run therefore."""
        return frozenset(f.name for f in fields(self)) - {"contents", *self.needs}


@dataclass(frozen=True, slots=True)
class Passages:
    """Everything that goes into one index."""

    passages: tuple[Passage, ...]
    captions: tuple[Caption, ...]
    """One for each figure that was to be captioned, whether or not it could be."""
    counts: Mapping[str, int]
    """For `run.json`: what was read, changed, left out, cut."""


Contents = Callable[..., Iterator[Passage]]
"""A function whose parameter names are what it needs: `documents`, `captions` (those that have a
text) and settings of `Index`. A passage's id is `document#page.<piece>`, unique in the index; its
origin is `text` or `caption`."""


def text_only(
    documents: Sequence[Document], chunk_size: int, chunk_overlap: int
) -> Iterator[Passage]:
    """Yield the text of the pages in pieces."""
    for document in documents:
        for page in document.pages:
            for number, piece in enumerate(split(page.text, chunk_size, chunk_overlap), start=1):
                name = f"{document.name}#{page.number}.{number}"
                yield Passage(name, document.name, page.number, "text", piece)


def with_captions(
    documents: Sequence[Document],
    captions: Sequence[Caption],
    chunk_size: int,
    chunk_overlap: int,
) -> Iterator[Passage]:
    """Yield the text in pieces, then the captions."""
    yield from text_only(documents, chunk_size, chunk_overlap)
    for caption in captions:
        where = (caption.figure, caption.document, caption.page)
        yield Passage(*where, "caption", caption.text)


def with_captions_in_context(
    documents: Sequence[Document],
    captions: Sequence[Caption],
    chunk_size: int,
    chunk_overlap: int,
    context_size: int,
) -> Iterator[Passage]:
    """Yield the text in pieces, then each caption after the text of its page."""
    texts = {(d.name, page.number): page.text for d in documents for page in d.pages}
    contexts = [head(texts[caption.document, caption.page], context_size) for caption in captions]
    in_context = [
        replace(caption, text=f"{context}\n\n{caption.text}".strip())
        for caption, context in zip(captions, contexts, strict=True)
    ]
    yield from with_captions(documents, in_context, chunk_size, chunk_overlap)


CONTENTS: dict[str, Contents] = {
    "text": text_only,
    "caption": with_captions,
    "ctx": with_captions_in_context,
}


def build_passages(
    documents: Sequence[Document],
    index: Index,
    captioner: Captioner,
    calls: Calls,
    cache: Path,
) -> Passages:
    """Return the passages of an index: the same for the same corpus, settings and captions.

    Args:
        documents: The corpus, read with its figures if the contents of the index want captions.
        index: The settings.
        captioner: Called if the contents of the index want captions.
        calls: The store of the model calls that a captioner makes.
        cache: The folder in which `captions/` and `figures/` are cached.

    Raises:
        ConfigError: a setting is invalid.
        InputError: none of the figures could be captioned, or the corpus has no words.
    """
    _check(index, captioner)
    figures = [figure for document in documents for figure in document.figures]
    captions: tuple[Caption, ...] = ()
    if index.wants_captions:
        captions = captions_of(figures, captioner, calls, cache)
    with_text = [caption for caption in captions if caption.text]
    if captions and not with_text:
        reason = next((c.error for c in captions if c.error), "no text was found in them")
        raise InputError(
            f"none of the {len(captions)} figures has a caption: index.contents={index.contents} "
            f"would be the same as text; captioner={captioner.label}: {reason}"
        )
    known = {**asdict(index), "documents": documents, "captions": with_text}
    given = {name: pick(known, name, "parameter of index contents") for name in index.needs}
    candidates = list(CONTENTS[index.contents](**given))
    first: dict[str, Passage] = {}
    for passage in candidates:
        if any(map(str.isalnum, passage.text)):
            first.setdefault(passage.text, passage)
    passages = tuple(first.values())
    if not passages:
        raise InputError("the corpus has no words to index")
    counts = Counter[str]()
    for document in documents:
        counts.update(document.counts)
    counts.update(
        documents=len(documents),
        pages=sum(len(document.pages) for document in documents),
        figures=len(figures),
        captions=len(with_text),
        passages=len(passages),
        passages_left_out=len(candidates) - len(passages),
        numbers_cut=_numbers_cut(documents, candidates, index.chunk_overlap),
    )
    return Passages(passages, captions, dict(counts))


def _check(index: Index, captioner: Captioner) -> None:
    if index.chunk_size < 1:
        raise ConfigError(f"index.chunk_size={index.chunk_size} must be at least 1")
    if not 0 <= index.chunk_overlap < index.chunk_size:
        raise ConfigError(
            f"index.chunk_overlap={index.chunk_overlap} must be at least 0 and below "
            f"index.chunk_size={index.chunk_size}"
        )
    if index.context_size < 0:
        raise ConfigError(f"index.context_size={index.context_size} must be at least 0")
    if index.wants_captions and isinstance(captioner, NoCaptioner):
        raise ConfigError(
            f"index.contents={index.contents} needs captions; choose captioner=ocr or vision"
        )


def _numbers_cut(documents: Sequence[Document], passages: Sequence[Passage], overlap: int) -> int:
    """Count the passages that begin or end inside a number of their page."""
    pieces: dict[tuple[str, int | None], list[str]] = {}
    for passage in passages:
        if passage.origin == "text":
            pieces.setdefault((passage.document, passage.page), []).append(passage.text)
    return sum(
        count_cut_numbers(page.text, pieces.get((document.name, page.number), []), overlap)
        for document in documents
        for page in document.pages
    )
