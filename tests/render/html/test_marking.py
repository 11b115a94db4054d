"""Texts in pieces: differences by character or word, and wording shared with a claim."""

import time

from hypothesis import given
from hypothesis import strategies as st

from harness.render.html.marking import shared_wording, text_changes, tokens


def kinds(text: str, claims: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the marked pieces."""
    return [
        (piece.kind, piece.text) for piece in shared_wording(text, claims) if piece.kind != "same"
    ]


@given(st.text())
def test_nothing_is_lost(text: str) -> None:
    """The tokens of a text, and its pieces, make the text again."""
    assert "".join(tokens(text)) == text
    assert "".join(piece.text for piece in shared_wording(text, [(text, "entailed")])) == text


@given(st.text(max_size=40), st.text(max_size=40))
def test_both_texts_can_be_read_off(base: str, text: str) -> None:
    """Without what is gone the pieces are the text, without what was added they are its base."""
    pieces = text_changes(base, text)
    if pieces is not None:
        assert "".join(piece.text for piece in pieces if piece.kind != "gone") == text
        assert "".join(piece.text for piece in pieces if piece.kind != "added") == base


def test_one_character_can_turn_a_sentence() -> None:
    """Chinese is compared by character: the one that negates is marked alone."""
    pieces = text_changes("我同意這個說法。", "我不同意這個說法。")

    assert pieces is not None
    assert [piece.text for piece in pieces if piece.kind == "added"] == ["不"]


def test_unlike_texts_are_not_marked() -> None:
    """Where next to nothing is common, marks would be confetti."""
    assert text_changes("The tower is 27 metres high.", "資料中沒有答案") is None


def test_a_phrase_of_everyday_words_is_no_shared_wording() -> None:
    """Three words in common say nothing; the wording of the claim itself is marked."""
    text = "It is in the north. The old tower stands 27 metres tall there."

    assert kinds(text, [("is in the", "entailed")]) == []
    assert kinds(text, [("the old tower stands 27 metres", "contradicted")]) == [
        ("contradicted", "The old tower stands 27 metres")
    ]


def test_long_texts_take_little_time() -> None:
    """A word of ten thousand letters, or ten thousand equal characters, costs no seconds."""
    start = time.process_time()
    for text in ("w" * 10_000, "長" * 10_000, "ab " * 5_000):
        text_changes(text, text + "x")
        shared_wording(text, [(text, "entailed")])

    assert time.process_time() - start < 10
