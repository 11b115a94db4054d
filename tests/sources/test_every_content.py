"""What holds for every index content of the table, and how a user adds one."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.errors import UnknownNameError
from harness.llm import Calls
from harness.records import Passage
from harness.sources import CONTENTS, Document, Index, NoCaptioner, build_passages
from tests.conftest import Command, Study
from tests.sources.figures import ScriptedCaptioner, document, figure

each_content = pytest.mark.parametrize("contents", CONTENTS)


def build(tmp_path: Path, contents: str) -> tuple[Passage, ...]:
    figures = [figure("d#1.f1"), figure("d#2.f1")]
    report = document("一頁。" * 30, "二頁，1.05。" * 30, figures=figures)
    index = Index(contents=contents, chunk_size=40)
    built = build_passages([report], index, ScriptedCaptioner(), Calls(None), tmp_path)
    return built.passages


@each_content
def test_ids_are_unique_and_name_the_page(tmp_path: Path, contents: str) -> None:
    """An id is document, page and piece, and no two passages share one."""
    passages = build(tmp_path, contents)

    assert len({p.id for p in passages}) == len(passages)
    for passage in passages:
        assert passage.id.startswith(f"{passage.document}#{passage.page}.")
        assert passage.origin == ("caption" if ".f" in passage.id else "text")
        assert passage.similarity is None
        assert passage.text == passage.text.strip() != ""


@each_content
def test_text_of_every_page_is_there(tmp_path: Path, contents: str) -> None:
    """Captions are added to the text and do not replace it."""
    text = [p for p in build(tmp_path, contents) if p.origin == "text"]

    assert {p.page for p in text} == {1, 2}


@each_content
def test_captions_are_there_if_the_content_wants_them(tmp_path: Path, contents: str) -> None:
    """The function's parameters declare what it needs, and an unused setting is not one of them."""
    index = Index(contents=contents)

    origins = {passage.origin for passage in build(tmp_path, contents)}

    assert ("caption" in origins) == index.wants_captions
    assert index.unused.isdisjoint(index.needs)


def test_no_two_contents_are_the_same(tmp_path: Path) -> None:
    """If there are figures, the variants of the study differ in their passages."""
    built = {contents: build(tmp_path, contents) for contents in CONTENTS}

    assert len(set(built.values())) == len(CONTENTS)


def first_lines(documents: Sequence[Document]) -> Iterator[Passage]:
    """A content of text only: the first line of each page, after the document's name."""
    for each in documents:
        for page in each.pages:
            line = f"{each.name}: {page.text.splitlines()[0]}"
            yield Passage(f"{each.name}#{page.number}.1", each.name, page.number, "text", line)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the table."""
    monkeypatch.setitem(CONTENTS, "lines", first_lines)


@pytest.mark.usefixtures("lines")
def test_a_content_of_text_only_from_configuration_to_run(command: Command, study: Study) -> None:
    """It is chosen by its name, needs no captioner, and settings it does not use are no factors."""
    words = [word for word in study.words if "chunk_size" not in word]

    done = command("collect", *words, "captioner=none", "variant=text_k4", "index=lines")

    assert done.returncode == 0, done.stderr
    (folder,) = (study.folder / "runs" / "small").glob("text_k4*")
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["factors"]["leaves"]["index.contents"] == "lines"
    assert record["factors"]["inactive"] == [
        "captioner",
        "index.chunk_overlap",
        "index.chunk_size",
        "index.context_size",
    ]
    assert record["made_with"]["ingest"]["passages"] == 1


@pytest.mark.usefixtures("lines")
def test_what_a_content_adds_to_a_page_cuts_no_number(tmp_path: Path) -> None:
    """Its passages need not be parts of their pages, and no captioner is called."""
    index = Index(contents="lines")

    built = build_passages([document("1.05\n2")], index, NoCaptioner(), Calls(None), tmp_path)

    assert [passage.text for passage in built.passages] == ["d: 1.05"]
    assert built.counts["numbers_cut"] == 0


def test_a_need_that_does_not_exist_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misspelt parameter is refused with the names that there are."""
    monkeypatch.setitem(CONTENTS, "wrong", lambda document: iter(()))
    index = Index(contents="wrong")

    with pytest.raises(UnknownNameError, match="did you mean 'documents'"):
        build_passages([document("a")], index, NoCaptioner(), Calls(None), tmp_path)
