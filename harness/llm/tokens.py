"""Token estimates of a text, without the model's own tokenizer."""

import re
from functools import lru_cache

IMAGE_TOKENS = 256
"""Allowed for an image. Models differ (85 to 1,600); this only has to catch hopeless cases."""

MESSAGE_TOKENS = 4
"""Allowed for what a chat template puts around a message."""

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\s+|[ -~]|[^\x00-\x7f]")
_CJK = re.compile(r"[⺀-鿿가-힣豈-﫿＀-￯\U00020000-\U0003ffff]")
_WORDS = re.compile(r"[A-Za-z]{2,}")


@lru_cache(maxsize=1024)
def estimate_tokens(text: str) -> int:
    """Return how many tokens `text` may take, estimated rather too high than too low.

    A Chinese, Japanese or Korean character counts one; a quarter of the characters, the
    usual rule of thumb, would let a prompt four times too long pass.

    >>> estimate_tokens("燈塔" * 1600)
    3200
    >>> estimate_tokens("The lighthouse is 27 metres high.")
    9
    """
    return sum(_piece_tokens(piece) for piece in _PIECES.findall(text))


@lru_cache(maxsize=1024)
def fewest_tokens(text: str) -> int:
    """Return how many tokens `text` takes at the very least.

    A token seldom spans two words, and no tokenizer in use packs Chinese tighter than two
    characters and a half a token: a model that reports less has not read all of it.

    >>> fewest_tokens("the lighthouse is high"), fewest_tokens("燈塔的高度")
    (4, 2)
    """
    return len(_WORDS.findall(text)) + int(len(_CJK.findall(text)) * 0.4)


def _piece_tokens(piece: str) -> int:
    if piece[0].isascii() and piece[0].isalpha():
        return -(-len(piece) // 6)
    if piece.isspace():
        return 1 if len(piece) > 1 else 0
    return 1 if len(piece.encode("utf-8", "surrogatepass")) < 4 else 2
