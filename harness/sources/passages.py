"""What an index is built from: the corpus as text, as captions, or as both together."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError, InputError, pick
from harness.llm import Calls
from harness.records import Passage
from harness.sources.captions import Caption, Captioner, NoCaptioner, captions_of
from harness.sources.documents import Document
from harness.sources.splitting import count_cut_numbers, head, split


@dataclass
class Index:
    """What of a corpus is put into an index, and in what pieces."""

    contents: str = "text"
    """text: the pages. caption: one more passage for each figure. ctx: the same, but each
    caption has the text of its page in front."""
    chunk_size: int = 500
    """Characters of a passage of text at most; a caption is never cut."""
    chunk_overlap: int = 0
    """Characters that a passage may repeat of the one before."""
    context_size: int = 1000
    """Characters of the page in front of a caption at most (ctx)."""


@dataclass(frozen=True, slots=True)
class Passages:
    """All that goes into one index."""

    passages: tuple[Passage, ...]
    captions: tuple[Caption, ...]
    """One for each figure that was to be captioned, whether it could be or not."""
    counts: Mapping[str, int]
    """For `run.json`: what was read, changed, left out, cut."""


Contents = Callable[[Sequence[Document], Sequence[Caption], Index], Iterator[Passage]]


def text_only(
    documents: Sequence[Document], captions: Sequence[Caption], index: Index
) -> Iterator[Passage]:
    """Yield the text of the pages in pieces."""
    for document in documents:
        for page in document.pages:
            pieces = split(page.text, index.chunk_size, index.chunk_overlap)
            for number, piece in enumerate(pieces, start=1):
                name = f"{document.name}#{page.number}.{number}"
                yield Passage(name, document.name, page.number, "text", piece)


def with_captions(
    documents: Sequence[Document], captions: Sequence[Caption], index: Index
) -> Iterator[Passage]:
    """Yield the text in pieces, then the captions."""
    yield from text_only(documents, captions, index)
    for caption in captions:
        yield _captioned(caption, caption.text)


def with_captions_in_context(
    documents: Sequence[Document], captions: Sequence[Caption], index: Index
) -> Iterator[Passage]:
    """Yield the text in pieces, then each caption behind the text of its page."""
    yield from text_only(documents, captions, index)
    texts = {(d.name, page.number): page.text for d in documents for page in d.pages}
    for caption in captions:
        context = head(texts[caption.document, caption.page], index.context_size)
        yield _captioned(caption, f"{context}\n\n{caption.text}".strip())


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
        documents: The corpus, read with its figures unless the index is made of text only.
        index: The settings.
        captioner: Asked where the contents of the index want captions.
        calls: The store of the model calls that a captioner makes.
        cache: Captions and pictures are kept here under `captions/` and `figures/`.

    Raises:
        ConfigError: the settings cannot be.
        InputError: there are figures and not one could be captioned, or there are no words.
    """
    contents = pick(CONTENTS, index.contents, "index contents")
    _check(index, captioner)
    figures = [figure for document in documents for figure in document.figures]
    captions: tuple[Caption, ...] = ()
    if contents is not text_only:
        captions = captions_of(figures, captioner, calls, cache)
    said = [caption for caption in captions if caption.text]
    if captions and not said:
        reason = next((c.error for c in captions if c.error), "no text was found in them")
        raise InputError(
            f"captions 0 of {len(captions)}: index.contents={index.contents} would be the same "
            f"as text; captioner={captioner.label}: {reason}"
        )
    made = list(contents(documents, said, index))
    first = {passage.text: passage for passage in reversed(made) if _has_words(passage.text)}
    passages = tuple(passage for passage in made if first.get(passage.text) is passage)
    if not passages:
        raise InputError("the corpus has no words to index")
    counts = Counter[str]()
    for document in documents:
        counts.update(document.counts)
    counts.update(
        documents=len(documents),
        pages=sum(len(document.pages) for document in documents),
        figures=len(figures),
        captions=len(said),
        passages=len(passages),
        passages_left_out=len(made) - len(passages),
        numbers_cut=_numbers_cut(documents, made, index.chunk_overlap),
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
    if index.contents != "text" and isinstance(captioner, NoCaptioner):
        raise ConfigError(
            f"index.contents={index.contents} needs captions; choose captioner=ocr or vision"
        )


def _captioned(caption: Caption, text: str) -> Passage:
    return Passage(caption.figure, caption.document, caption.page, "caption", text)


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _numbers_cut(documents: Sequence[Document], passages: Sequence[Passage], overlap: int) -> int:
    """Count the passages that begin or end inside of a number of their page."""
    pieces: dict[tuple[str, int | None], list[str]] = {}
    for passage in passages:
        if passage.origin == "text":
            pieces.setdefault((passage.document, passage.page), []).append(passage.text)
    return sum(
        count_cut_numbers(page.text, pieces.get((document.name, page.number), []), overlap)
        for document in documents
        for page in document.pages
    )
