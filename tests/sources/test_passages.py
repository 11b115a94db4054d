import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from harness.errors import ConfigError, InputError, UnknownNameError
from harness.llm import Calls
from harness.sources import (
    Captioner,
    Document,
    Index,
    NoCaptioner,
    Passages,
    build_passages,
    read_corpus,
)
from tests.sources.figures import ScriptedCaptioner, document, figure

ROOT = Path(__file__).parents[2]
REPORT = document(
    "第一頁的文字。", "第二頁的文字，有圖。", figures=[figure("d#2.f1"), figure("d#2.f2")]
)


def build(
    tmp_path: Path,
    contents: str,
    *documents: Document,
    captioner: Captioner | None = None,
    **settings: int,
) -> Passages:
    index = Index(contents=contents, **settings)
    return build_passages(
        documents or (REPORT,), index, captioner or ScriptedCaptioner(), Calls(None), tmp_path
    )


def test_text_holds_the_pages_only(tmp_path: Path) -> None:
    """Passages are named by document, page and piece; figures are not captioned."""
    captioner = ScriptedCaptioner()

    built = build(tmp_path, "text", captioner=captioner, chunk_size=8)

    assert [(p.id, p.page, p.origin, p.text) for p in built.passages] == [
        ("d#1.1", 1, "text", "第一頁的文字。"),
        ("d#2.1", 2, "text", "第二頁的文字，"),
        ("d#2.2", 2, "text", "有圖。"),
    ]
    assert (captioner.asked, built.captions) == ([], ())


def test_caption_adds_one_passage_a_figure(tmp_path: Path) -> None:
    """The text is unchanged; each caption is a passage with the id of its figure."""
    text, captioned = build(tmp_path, "text"), build(tmp_path, "caption")

    assert captioned.passages[:2] == text.passages
    assert [(p.id, p.origin, p.text) for p in captioned.passages[2:]] == [
        ("d#2.f1", "caption", "A chart, d#2.f1."),
        ("d#2.f2", "caption", "A chart, d#2.f2."),
    ]
    assert [bool(caption.text) for caption in captioned.captions] == [True, True]


def test_ctx_puts_the_page_in_front(tmp_path: Path) -> None:
    """Each caption comes after the text of its own page."""
    built = build(tmp_path, "ctx")

    assert built.passages[-1].text == "第二頁的文字，有圖。\n\nA chart, d#2.f2."


def test_ctx_never_cuts_the_caption(tmp_path: Path) -> None:
    """A long page is cut at a sentence, a long caption is not cut."""
    long = "字" * 3000
    page = document("一二三四五。六七八九十。" * 50, figures=[figure("d#1.f1")])

    built = build(
        tmp_path, "ctx", page, captioner=ScriptedCaptioner(said={"d#1.f1": long}), context_size=20
    )

    assert built.passages[-1].text == f"一二三四五。六七八九十。一二三四五。\n\n{long}"


def test_ctx_without_room_for_a_page(tmp_path: Path) -> None:
    """With a context size of 0 the passage is the caption alone."""
    assert build(tmp_path, "ctx", context_size=0).passages[-1].text == "A chart, d#2.f2."


def test_missing_captions_are_counted(tmp_path: Path) -> None:
    """Of three pictures one fails and one has an empty caption: the run records 1 of 3."""
    figures = [figure(f"d#1.f{i}") for i in (1, 2, 3)]
    captioner = ScriptedCaptioner(said={"d#1.f2": ""}, fails=["d#1.f3"])

    built = build(tmp_path, "caption", document("Text.", figures=figures), captioner=captioner)

    assert sum(bool(caption.text) for caption in built.captions) == 1
    assert len(built.captions) == 3
    assert (built.counts["captions"], built.counts["figures"]) == (1, 3)
    assert [p.id for p in built.passages] == ["d#1.1", "d#1.f1"]
    assert [c.error for c in built.captions] == [None, None, "the endpoint does not answer"]


def test_no_caption_at_all_is_an_error(tmp_path: Path) -> None:
    """An index of captions without one would be the index of text under another name."""
    with pytest.raises(InputError, match="none of the 2 figures has a caption") as error:
        build(tmp_path, "caption", captioner=ScriptedCaptioner(fails=["d#2.f1", "d#2.f2"]))

    assert "the endpoint does not answer" in str(error.value)
    assert "\n" not in str(error.value)


def test_captions_need_a_captioner(tmp_path: Path) -> None:
    """An index of captions without a captioner is refused, one of text is not."""
    with pytest.raises(ConfigError, match=r"index\.contents=ctx needs captions"):
        build(tmp_path, "ctx", captioner=NoCaptioner())

    assert build(tmp_path, "text", captioner=NoCaptioner()).passages


def test_corpus_without_figures_is_the_same_under_all_contents(tmp_path: Path) -> None:
    """A corpus without figures is not an error, whatever the contents."""
    plain = document("Text.")

    assert build(tmp_path, "caption", plain).passages == build(tmp_path, "text", plain).passages
    assert build(tmp_path, "caption", plain).captions == ()


def test_equal_passages_are_kept_once(tmp_path: Path) -> None:
    """The first of equal passages is kept, across documents too, and the others are counted."""
    twice = document("Header line.", "Header line.", "Other.")
    again = document("Header line.", name="e")

    built = build(tmp_path, "text", twice, again)

    assert [p.id for p in built.passages] == ["d#1.1", "d#3.1"]
    assert built.counts["passages_left_out"] == 2


def test_passages_without_words_are_left_out(tmp_path: Path) -> None:
    """Bullets and rules are not passages; a page number is, if the page has nothing else."""
    built = build(tmp_path, "text", document("•••", "13", ""))

    assert [p.id for p in built.passages] == ["d#2.1"]


def test_no_words_at_all(tmp_path: Path) -> None:
    """A corpus without letters and digits cannot be indexed."""
    with pytest.raises(InputError, match="no words"):
        build(tmp_path, "text", document("•••"))


def test_decomposed_corpus_gives_the_same_passages(tmp_path: Path) -> None:
    """Ids and texts are those of the composed corpus, and the change is counted."""
    for folder, form in (("nfc", "NFC"), ("nfd", "NFD")):
        (tmp_path / folder).mkdir()
        text = unicodedata.normalize(form, "ガイドラインです。ゴールはどこですか。")
        (tmp_path / folder / "a.txt").write_text(text, encoding="utf-8")
    composed, decomposed = (
        build(tmp_path, "text", *read_corpus([str(tmp_path / folder)]), chunk_size=10)
        for folder in ("nfc", "nfd")
    )

    assert composed.passages == decomposed.passages
    assert (
        decomposed.counts["characters_normalised"] > 0 == composed.counts["characters_normalised"]
    )


def test_counts_say_what_was_done(tmp_path: Path) -> None:
    """The counts of reading and of building are recorded together, with the numbers cut."""
    counts = build(tmp_path, "caption").counts

    assert counts == {
        "blanks_removed": 2, "documents": 1, "pages": 2, "figures": 2, "captions": 2,
        "passages": 4, "passages_left_out": 0, "numbers_cut": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"chunk_size": 0}, r"index\.chunk_size=0"),
        ({"chunk_overlap": -1}, r"index\.chunk_overlap=-1"),
        ({"chunk_size": 10, "chunk_overlap": 10}, r"index\.chunk_overlap=10"),
        ({"context_size": -1}, r"index\.context_size=-1"),
    ],
)
def test_impossible_settings_name_the_key(
    tmp_path: Path, settings: dict[str, int], key: str
) -> None:
    """An invalid size is a one-line error with the key and the value."""
    with pytest.raises(ConfigError, match=key):
        build(tmp_path, "text", **settings)


def test_unknown_contents(tmp_path: Path) -> None:
    """The error suggests the nearest name."""
    with pytest.raises(UnknownNameError, match="did you mean 'caption'"):
        build(tmp_path, "captions")


def test_demo_is_cut_without_a_number_cut(tmp_path: Path) -> None:
    """At every size from 20 to 1000 no number of the demo or the census is cut."""
    for corpus in ("plurality", "census"):
        documents = read_corpus([str(ROOT / "testsets" / corpus / "documents")], figures=False)
        for size in (20, 47, 200, 500, 1000):
            assert build(tmp_path, "text", *documents, chunk_size=size).counts["numbers_cut"] == 0


SCRIPT = """
import hashlib, sys
from pathlib import Path
from harness.llm import Calls
from harness.sources import Index, NoCaptioner, build_passages, read_corpus
documents = read_corpus([sys.argv[1]])
built = build_passages(documents, Index(), NoCaptioner(), Calls(None), Path(sys.argv[2]))
content = built.passages, [figure.sha256 for d in documents for figure in d.figures]
print(hashlib.sha256(repr(content).encode()).hexdigest())
"""


@pytest.mark.slow
def test_passages_do_not_depend_on_the_process(tmp_path: Path) -> None:
    """Two processes with different hash seeds give the same ids, texts and pictures."""
    corpus = str(ROOT / "testsets" / "census" / "documents")
    prints = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, corpus, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(prints) == 1
    assert len(prints.pop().strip()) == 64
