"""Cleaning of text for an index: one Unicode form, nothing invisible, no blanks inside words.

It is done once, when a document is read, and each change is counted.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.text import WITHOUT_BLANKS

_LINE_BREAKS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_HALF_WIDTH_KANA = re.compile(r"[\uff65-\uff9f]+")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
_GAP = re.compile(
    rf"(?<=[{WITHOUT_BLANKS}])[ \t\u00a0\u2000-\u200a\u202f\u3000]+(?=[{WITHOUT_BLANKS}])"
)
_BROKEN_WORD = re.compile(r"(\S{0,80}?)([^\W\d_]+)\u00ad\n?([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class CleanText:
    """The texts of a document's pages."""

    texts: tuple[str, ...]
    counts: Mapping[str, int]
    """Characters normalised to NFC, control characters and blanks removed, words joined."""


def clean(texts: Sequence[str]) -> CleanText:
    """Clean the pages of one document.

    >>> cleaned = clean(["青嶼 燈 塔於 1931 年\\0 in 1931"])
    >>> cleaned.texts
    ('青嶼燈塔於 1931 年 in 1931',)
    >>> cleaned.counts["blanks_removed"], cleaned.counts["controls_removed"]
    (2, 1)
    """
    visible = [_visible(text) for text in texts]
    known = Counter(word.lower() for part in visible for word in _WORD.findall(part.text))
    joined = [_joined(part.text, known) for part in visible]
    counts: Counter[str] = Counter()
    for part in (*visible, *joined):
        counts.update(part.counts)
    return CleanText(tuple(part.text for part in joined), dict(counts))


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    counts: Mapping[str, int]


def _visible(text: str) -> _Part:
    """Return the text in NFC, its kana in full width, without invisible characters."""
    text = _LINE_BREAKS.sub("\n", text)
    text, removed = _INVISIBLE.subn("", text)
    composed = _HALF_WIDTH_KANA.sub(lambda kana: unicodedata.normalize("NFKC", kana[0]), text)
    composed = unicodedata.normalize("NFC", composed)
    changed = 0 if composed == text else (Counter(text) - Counter(composed)).total()
    return _Part(composed, {"controls_removed": removed, "characters_normalised": changed})


def _joined(text: str, known: Mapping[str, int]) -> _Part:
    """Return the text without blanks between Han, hyphens at line ends and superfluous space."""

    def whole_word(word: re.Match[str]) -> str:
        before, left, right = word.groups()
        hyphenated, whole = f"{left}-{right}", left + right
        usual = known[hyphenated.lower()] and not known[whole.lower()]
        keeps_hyphen = usual or right[0].isupper() or "/" in before
        return before + (hyphenated if keeps_hyphen else whole)

    hyphens = text.count("\u00ad")
    if hyphens:
        text = _BROKEN_WORD.sub(whole_word, text).replace("\u00ad", "")
    blanks = sum(len(gap) for gap in _GAP.findall(text))
    lines = "\n".join(line.rstrip() for line in _GAP.sub("", text).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", lines).strip("\n")
    return _Part(text, {"blanks_removed": blanks, "hyphens_resolved": hyphens})
