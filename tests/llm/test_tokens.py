import pytest

from harness.llm.tokens import estimate_tokens, fewest_tokens

PARAGRAPH = (
    "The measles surveillance report of week 48 lists 27 imported cases, most of them among "
    "travellers who returned from areas with ongoing outbreaks; no deaths were reported."
)


def test_chinese_counts_a_token_a_character() -> None:
    """3,200 Chinese characters are at least 3,200 tokens, and not 800."""
    assert estimate_tokens("麻疹" * 1600) >= 3200


@pytest.mark.parametrize(
    "text", ["霧日最多為四月", "デング熱の報告数", "홍역 환자", "１９３１年", "𠮷野家"]
)
def test_every_east_asian_script_counts_in_full(text: str) -> None:
    """Kana, Hangul, full-width digits and rare ideographs count one token a character too."""
    assert estimate_tokens(text) >= len(text.replace(" ", ""))


def test_english_is_near_its_true_count() -> None:
    """The paragraph takes 34 tokens by cl100k_base: estimated above, but within a half."""
    assert 34 <= estimate_tokens(PARAGRAPH) <= 51


def test_fewest_is_below_what_real_tokenizers_need() -> None:
    """The lower bound lies below the paragraph's true 34 tokens, and above half of them."""
    assert 17 <= fewest_tokens(PARAGRAPH) <= 34


def test_fewest_for_chinese_is_under_half_a_token_a_character() -> None:
    """Some tokenizers pack two characters in a token: the lower bound allows for it."""
    assert fewest_tokens("麻疹" * 50) == 40


def test_bounds_are_in_order() -> None:
    """The lower bound never exceeds the estimate."""
    for text in ("", "  \n", PARAGRAPH, "麻疹 27 例", "{'a': [1, 2]}", "\ud83d", "x" * 400):
        assert fewest_tokens(text) <= estimate_tokens(text)


def test_empty_text() -> None:
    """An empty text has no tokens."""
    assert estimate_tokens("") == 0
