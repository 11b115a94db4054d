import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from harness.sources.corpus import clean


def cleaned(text: str) -> str:
    return clean([text])[0][0]


def test_blanks_between_han_are_removed() -> None:
    """A blank between Han is removed, one between Han and Latin or digits is kept."""
    texts, counts = clean(["青嶼 燈 塔於 1931 年", "built in 1931"])

    assert texts == ["青嶼燈塔於 1931 年", "built in 1931"]
    assert counts["blanks_removed"] == 2


def test_blanks_between_kana_and_after_punctuation_are_removed() -> None:
    """Kana and full-width punctuation are joined like Han; Hangul is not."""
    assert cleaned("こ れ は　本、 です。") == "これは本、です。"
    assert cleaned("한국어 문장 하나") == "한국어 문장 하나"


def test_decomposed_and_half_width_kana_become_one_form() -> None:
    """ガ in two code points, in half width and composed are the same text, counted once."""
    decomposed, half = unicodedata.normalize("NFD", "ガイド"), "ｶﾞｲﾄﾞ"

    texts, counts = clean([f"{decomposed} {half} ガイド"])

    assert texts == ["ガイドガイドガイド"]
    # カ, ト and two marks of the decomposed word; five half-width characters.
    assert counts["characters_normalised"] == 9


def test_width_is_kept_otherwise() -> None:
    """NFC is not NFKC: full-width letters, circled numbers and units are kept."""
    assert cleaned("ＡＩ ① ㎡ ﬁ") == "ＡＩ ① ㎡ ﬁ"


def test_control_characters_are_removed() -> None:
    """NUL, other controls, byte-order marks, zero-width blanks and lone surrogates are removed."""
    texts, counts = clean(["a\0b\x1fc\ufeff\u200b\ud800\ufffed\te\n"])

    assert texts == ["abcd\te"]
    assert counts["controls_removed"] == 6


def test_line_ends_become_one_kind() -> None:
    """Windows, old Mac and Unicode line ends become line feeds, with one empty line at most."""
    assert cleaned("a \r\nb\rc\u2028d\n\n\n\ne\n") == "a\nb\nc\nd\n\ne"


def test_words_broken_at_a_line_end_are_joined() -> None:
    """A hyphen that only breaks the line is removed, also a soft one that was typed."""
    texts, counts = clean(
        ["the dis\u00adability and a\u00ad\nnother, co\u00adope\u00adra\u00adtion"]
    )

    assert texts == ["the disability and another, cooperation"]
    assert counts["hyphens_resolved"] == 5


def test_words_with_a_hyphen_of_their_own_keep_it() -> None:
    """A hyphen is kept if the document spells the word so, before a capital, and in addresses."""
    text = "non-profit; a non\u00adprofit, the Mid\u00adWest, https://x.org/secure-and\u00adsafe"

    assert cleaned(text) == "non-profit; a non-profit, the Mid-West, https://x.org/secure-and-safe"


def test_usual_spelling_is_looked_up_on_all_pages() -> None:
    """The spelling on page 2, without a hyphen, decides on page 1."""
    assert clean(["re\u00adelection", "reelection re-election"])[0][0] == "reelection"


@given(st.text())
def test_cleaning_is_done_once(text: str) -> None:
    """Cleaning clean text changes nothing, and the result can be encoded."""
    once = cleaned(text)

    assert cleaned(once) == once
    assert "\0" not in once
    once.encode("utf-8")
