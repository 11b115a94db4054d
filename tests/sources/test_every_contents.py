"""What holds for all contents of an index, whoever adds one."""

from pathlib import Path

import pytest

from harness.llm import Calls
from harness.records import Passage
from harness.sources import CONTENTS, Index, build_passages
from tests.sources.figures import ScriptedCaptioner, document, figure

each_contents = pytest.mark.parametrize("contents", CONTENTS)


def build(tmp_path: Path, contents: str) -> tuple[Passage, ...]:
    figures = [figure("d#1.f1"), figure("d#2.f1")]
    report = document("一頁。" * 30, "二頁，1.05。" * 30, figures=figures)
    index = Index(contents=contents, chunk_size=40)
    built = build_passages([report], index, ScriptedCaptioner(), Calls(None), tmp_path)
    return built.passages


@each_contents
def test_ids_are_unique_and_say_where(tmp_path: Path, contents: str) -> None:
    """An id is document, page and piece, and no two passages share one."""
    passages = build(tmp_path, contents)

    assert len({p.id for p in passages}) == len(passages)
    for passage in passages:
        assert passage.id.startswith(f"{passage.document}#{passage.page}.")
        assert passage.origin == ("caption" if ".f" in passage.id else "text")
        assert passage.similarity is None
        assert passage.text == passage.text.strip() != ""


@each_contents
def test_text_of_every_page_is_there(tmp_path: Path, contents: str) -> None:
    """Captions come on top of the text, never in its place."""
    text = [p for p in build(tmp_path, contents) if p.origin == "text"]

    assert {p.page for p in text} == {1, 2}


def test_no_two_contents_are_the_same(tmp_path: Path) -> None:
    """Where there are figures the variants of the study differ in their passages."""
    built = {contents: build(tmp_path, contents) for contents in CONTENTS}

    assert len(set(built.values())) == len(CONTENTS)
