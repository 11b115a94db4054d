import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.llm import Calls
from harness.sources.captions import captions_of
from tests.sources.figures import ScriptedCaptioner, figure


def test_captions_and_pictures_are_kept(tmp_path: Path) -> None:
    """A caption is cached by the hashes of picture and captioner, the picture by its own hash."""
    shown = figure()

    (caption,) = captions_of([shown], ScriptedCaptioner(), Calls(None), tmp_path)

    assert (caption.figure, caption.page, caption.box) == (shown.id, 1, shown.box)
    assert (caption.captioner, caption.text, caption.confidence) == (
        "scripted",
        "A chart, d#1.f1.",
        0.9,
    )
    assert (tmp_path / "figures" / f"{shown.sha256}.png").read_bytes() == shown.png
    (kept,) = (tmp_path / "captions").iterdir()
    assert kept.name.startswith(f"{shown.sha256}-")
    assert json.loads(kept.read_text(encoding="utf-8"))["text"] == "A chart, d#1.f1."
    assert len(list(tmp_path.rglob("*.part"))) == 0


def test_nothing_is_captioned_twice(tmp_path: Path) -> None:
    """A second build captions nothing and returns the same captions."""
    first, second = ScriptedCaptioner(), ScriptedCaptioner()
    figures = [figure("d#1.f1"), figure("d#2.f1")]

    before = captions_of(figures, first, Calls(None), tmp_path)
    after = captions_of(figures, second, Calls(None), tmp_path)

    assert before == after
    assert first.asked == ["d#1.f1", "d#2.f1"]
    assert second.asked == []


def test_another_captioner_does_not_use_the_cache(tmp_path: Path) -> None:
    """Whatever shapes a caption is part of the name of its cache file."""
    captions_of([figure()], ScriptedCaptioner(), Calls(None), tmp_path)
    other = ScriptedCaptioner(said={"d#1.f1": "A map."})

    (caption,) = captions_of([figure()], other, Calls(None), tmp_path)

    assert caption.text == "A map."
    assert other.asked == ["d#1.f1"]


def test_equal_pictures_are_shown_once(tmp_path: Path) -> None:
    """Two documents with one picture: captioned once, two captions, each with its own place."""
    original = figure("a#1.f1")
    copy = replace(original, id="b#7.f2", document="b", page=7)
    captioner = ScriptedCaptioner()

    captions = captions_of([original, copy], captioner, Calls(None), tmp_path)

    assert captioner.asked == ["a#1.f1"]
    assert [(c.figure, c.document, c.page) for c in captions] == [
        ("a#1.f1", "a", 1),
        ("b#7.f2", "b", 7),
    ]
    assert captions[0].text == captions[1].text


def test_failures_are_not_remembered(tmp_path: Path) -> None:
    """A failed caption is made again, the others are taken from the cache."""
    figures = [figure("d#1.f1"), figure("d#2.f1")]
    failing = ScriptedCaptioner(fails=["d#2.f1"])

    _, missing = captions_of(figures, failing, Calls(None), tmp_path)
    second = ScriptedCaptioner()
    _, had = captions_of(figures, second, Calls(None), tmp_path)

    assert (missing.text, missing.readable) == ("", False)
    assert missing.error == "the endpoint does not answer"
    assert second.asked == ["d#2.f1"]
    assert had.text == "A chart, d#2.f1."


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"text": "half"}'])
def test_damaged_files_are_written_again(tmp_path: Path, damage: str) -> None:
    """A cached caption that cannot be read is made again."""
    captions_of([figure()], ScriptedCaptioner(), Calls(None), tmp_path)
    (kept,) = (tmp_path / "captions").iterdir()
    kept.write_text(damage)

    (caption,) = captions_of([figure()], ScriptedCaptioner(), Calls(None), tmp_path)

    assert caption.text == "A chart, d#1.f1."
    assert json.loads(kept.read_text(encoding="utf-8"))["text"] == "A chart, d#1.f1."


def _caption_all(folder: Path) -> list[str]:
    figures = [figure(f"d#{page}.f1") for page in range(1, 6)]
    return [c.text for c in captions_of(figures, ScriptedCaptioner(), Calls(None), folder)]


@pytest.mark.slow
def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    """Two processes that write at the same time do not damage a file."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.map(_caption_all, [tmp_path, tmp_path])

    assert first == second
    assert len(list((tmp_path / "captions").glob("*.json"))) == 5
    assert len(list(tmp_path.rglob("*.part"))) == 0


def test_a_damaged_caption_or_picture_is_made_again(tmp_path: Path) -> None:
    """A cached text that says something else is not used; one without a hash is older, and is."""
    shown = figure()
    before = captions_of([shown], ScriptedCaptioner(), Calls(None), tmp_path)
    (kept,) = (tmp_path / "captions").iterdir()
    content = json.loads(kept.read_text("utf-8"))
    kept.write_text(json.dumps(content | {"text": "A chart, d#1.g1."}), "utf-8")
    picture = tmp_path / "figures" / f"{shown.sha256}.png"
    picture.write_bytes(shown.png[:-1])

    assert captions_of([shown], ScriptedCaptioner(), Calls(None), tmp_path) == before
    assert json.loads(kept.read_text("utf-8")) == content
    assert picture.read_bytes() == shown.png
    del content["sha256"]
    kept.write_text(json.dumps(content), "utf-8")
    again = ScriptedCaptioner()
    assert captions_of([shown], again, Calls(None), tmp_path) == before
    assert again.asked == []
