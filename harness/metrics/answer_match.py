"""Does a response hold an accepted answer, however it is spelt.

Evened out before comparing: compatibility forms and width (NFKC), case, spaces and
punctuation, numbers by value (`harness.text.NUMBER`: 18.0 is 18; 2,5 is 2.5), Chinese numerals
that count (`to_digits`), and a few characters that are written in two ways (`TWO_WAYS`). Citation
marks, [3] or [1, 2], are no part of an answer. Not evened out: Traditional and Simplified as a
whole, 民國 and Western years, 萬 and million, percent and %.

Words are whole words, but the last may carry an English ending (`ENDINGS`). A number is never
part of another, nor of a name or date: 3 is not in 13, 3.5, -3, H3, B-3 or 1931-05-03.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.text import CHARACTER_TOKENS, CITATION, NUMBER, fold, shortest_number

DIGITS = {"〇": 0, "○": 0, "零": 0} | {c: n for n, c in enumerate("一二三四五六七八九", 1)}
DIGITS |= {"兩": 2, "两": 2}
UNITS = {"千": 1000, "百": 100, "十": 10}
UNITS_ALONE = {"千", "百"}
CIRCLES = {"〇", "○"}

COUNTERS_OF_ONE = "年月日季期號号歲岁歳例成割倍級级樓萬万億亿兆"
COUNTERS = COUNTERS_OF_ONE + (
    "時时秒週度元円圓个個名人件次項项種种類类組组位章頁页條条回番台戶戸户家間间隻只張张筆宗起世"
    "つヶヵかカ箇"
)
"""What follows a lone numeral that counts. 一 has fewer: 一個, 一次, 一起 often count nothing.

Left out on purpose: 分 (十分 is "very"), 周 (四周 is "around"), 點 (一點 is "a little").
"""

_RUN = re.compile(f"[{''.join(DIGITS)}{''.join(UNITS)}]+")
_DIGIT = "[一二三四五六七八九兩两]"
# 三點五 is 3.5, but 三點五十分 and 三點五分 are times.
_DECIMAL = re.compile(rf"({_RUN.pattern})[點点]([〇零一二三四五六七八九]+)(?![十百分刻])")
_NUMERAL = re.compile(
    rf"(?:(?P<千>{_DIGIT}?)千)?(?:零?(?P<百>{_DIGIT}?)百)?(?:零?(?P<十>{_DIGIT}?)十)?"
    rf"(?P<ones>(?:零|(?<=十)){_DIGIT})?"
)


def to_digits(text: str, every: bool = False) -> str:
    """Return the text with its numerals up to 9999 written in digits.

    A lone numeral becomes a digit only after 第 or before a counter, since 三重 and 一般 count
    nothing; 二〇一六 is read digit by digit. 萬 and 億 stay (三萬 is 3萬), and so does what has
    two readings: 三四個, 一百五.

    Args:
        text: Half-width text.
        every: Read lone numerals as numbers too, whatever precedes or follows them.

    >>> to_digits("第三季，四月有十二人，二〇一六年三千零五件")
    '第3季，4月有12人，2016年3005件'
    >>> to_digits("一般民眾、三重區、四川、數十人")
    '一般民眾、三重區、四川、數十人'
    """

    def read(run: re.Match[str]) -> str:
        numeral = run[0]
        if len(numeral) == 1 and not every and not _counts(text, run.start()):
            return numeral
        value = _value(numeral)
        return numeral if value is None else value

    def read_decimal(number: re.Match[str]) -> str:
        whole = _value(number[1])
        return f"{whole}.{''.join(str(DIGITS[c]) for c in number[2])}" if whole else number[0]

    text = _DECIMAL.sub(read_decimal, text)
    return _RUN.sub(read, text)


def _counts(text: str, at: int) -> bool:
    """Return whether the lone numeral at this place counts something."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    counters = COUNTERS_OF_ONE if text[at] == "一" else COUNTERS
    return before == "第" or (after != "" and after in counters and before not in {*"數数幾几"})


def _value(numeral: str) -> str | None:
    """Return a run of numerals in digits, or None where it has no one reading."""
    if not set(numeral) & UNITS.keys():
        return _digit_by_digit(numeral)
    found = _NUMERAL.fullmatch(numeral)
    if found is None or numeral in UNITS_ALONE:
        return None
    value = DIGITS[found["ones"][-1]] if found["ones"] else 0
    for unit, size in UNITS.items():
        if found[unit] is not None:
            value += size * DIGITS.get(found[unit], 1)
    return str(value)


def _digit_by_digit(numeral: str) -> str | None:
    """Return 二〇一六 as 2016, but not 三四 (three or four), 兩兩 or ○○ (a name left out)."""
    if len(numeral) == 1:
        return None if numeral in CIRCLES else str(DIGITS[numeral])
    zeros = set(numeral) & {*CIRCLES, "零"}
    approximate = len(numeral) == 2 and not zeros
    if approximate or set(numeral) == zeros or {*numeral} & {*"兩两"}:
        return None
    return "".join(str(DIGITS[character]) for character in numeral)


TWO_WAYS = str.maketrans(
    "內臺戶戸溫產說爲衞羣裏綫峯啓眞稅銳脫閱悅值黃靑錄淸緖步歲卽旣强册−‐‒",
    "内台户户温産説為衛群裡線峰啟真税鋭脱閲悦値黄青録清緒歩歳即既強冊---",
)
"""Characters on the left are compared as those on the right: printed forms of one character."""

ENDINGS = frozenset(("s", "es", "d", "ed", "ing"))
"""What may follow an accepted word of three letters or more: case finds cases."""

_WORD = rf"[^\W\d_{CHARACTER_TOKENS}]+"
_TOKEN = rf"(?s)(?P<number>{NUMBER})|[{CHARACTER_TOKENS}]|(?P<word>{_WORD})|[%‰°$€£¥+#]"

_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
# A letter, or a few capitals, and a hyphen begin a name, not a negative number: B-27, ISO-9001.
_NAME_BEFORE = re.compile(
    rf"(?<![^\W_{CHARACTER_TOKENS}])(?<![0-9]-)([A-Za-zＡ-Ｚａ-ｚ]|[A-ZＡ-Ｚ]{{2,4}})[-_‐‑‒–−－](?=\d)"
)
_HALVES = re.compile(r"(?<=\d)[¼½¾⅕⅖⅗⅘⅛⅜⅝⅞]")
_APOSTROPHES = str.maketrans("ʼ`´", "'''")
_MINUS_WORD = re.compile(r"(?:\bminus |マイナス|(?<![勝0-9])[負负]|零下|[氷冰]点下)(?=[0-9])")
_DATE = re.compile(r"(?<![0-9])[0-9]{4}-(?=([0-9]{2})-([0-9]{2})(?![0-9]))")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as it is compared."""

    words: tuple[str, ...]
    """Words, single characters of unspaced scripts, numbers in their shortest form."""

    glued: frozenset[int]
    """Places of numbers that end a name (H3, B-27) or are the month or day of a date (1931-05-02):
    no match may begin there."""


def normalise(text: str) -> str:
    """Return the text as it is compared, tokens parted by spaces.

    A text without a letter or digit comes to nothing, and never matches.

    >>> normalise("約１,２３４.50 件，第三季Ｑ４"), normalise("%")
    ('約 1234.5 件 第 3 季 q 4', '')
    """
    return " ".join(tokens(text).words)


def matches(text: str, answers: Sequence[Iterable[str]]) -> bool:
    """Return whether each group has a spelling that appears in the text.

    >>> matches("十二月最多，共 1,050 例", [["12月"], ["1050", "1050.0"]])
    True
    >>> matches("It lasted 13 days.", [["3"]])
    False
    """
    held = tokens(text)
    return all(any(_appears(spelling, held) for spelling in group) for group in answers)


def char_f1(text: str, reference: str) -> float:
    """Return the F1 of the characters that two texts share, order aside; 0 where one is empty.

    >>> round(char_f1("霧日最多為四月", "四月霧日最多"), 3)
    0.923
    """
    ours = Counter(normalise(text).replace(" ", ""))
    theirs = Counter(normalise(reference).replace(" ", ""))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def tokens(text: str, every_numeral: bool = False) -> Tokens:
    """Return the text's tokens; with `every_numeral`, lone Chinese numerals are numbers too."""
    plain = _MINUS_WORD.sub("-", to_digits(_plain(text), every_numeral))
    if not any(character.isalnum() for character in plain):
        return Tokens((), frozenset())
    words: list[str] = []
    glued = set()
    word_end = -1
    parts = {date.start(part) for date in _DATE.finditer(plain) for part in (1, 2)}
    for found in re.finditer(_TOKEN, plain):
        if found["number"]:
            if found.start() == word_end or found.start() in parts:
                glued.add(len(words))
            words.append(shortest_number(found["number"]))
        else:
            words.append(found[0])
            word_end = found.end() if found["word"] else -1
    return Tokens(tuple(words), frozenset(glued))


def _appears(spelling: str, text: Tokens) -> bool:
    # Cut off from its counter, a numeral of the spelling may be one that counts in the text.
    wanted = {tokens(spelling).words, tokens(spelling, every_numeral=True).words} - {()}
    return any(
        _begins(words, text.words[at : at + len(words)])
        for words in wanted
        for at in range(len(text.words) - len(words) + 1)
        if at not in text.glued
    )


def _begins(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    """Return whether the words are those wanted, an English ending of the last one aside."""
    if wanted[:-1] != found[:-1]:
        return False
    last, here = wanted[-1], found[-1]
    inflects = len(last) > 2 and last.isascii() and last.isalpha() and here.startswith(last)
    return here == last or (inflects and here[len(last) :] in ENDINGS)


def _plain(text: str) -> str:
    """Return the text in one width and case, without what cannot be seen."""
    # A full-width comma parts thousands only between full-width digits: 第３，100 人.
    parted = re.sub("，(?![０-９]{3})", "， ", text.translate(_APOSTROPHES))
    parted = _HALVES.sub(lambda part: f"{unicodedata.numeric(part[0]):g}"[1:], parted)
    # 10² must not become 102.
    raised = _SUPERSCRIPT.sub(lambda power: f"^{fold(power[0])} ", parted)
    plain = fold("".join(map(_character, _NAME_BEFORE.sub(r"\1", raised))))
    return CITATION.sub(" ", unicodedata.normalize("NFKC", plain).translate(TWO_WAYS))


def _character(character: str) -> str:
    """Return the character, changed so that NFKC joins no other character to a number."""
    if unicodedata.category(character) == "Cf":
        return ""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    # 5½ must not become 51/2.
    numeric = unicodedata.numeric(character, None) is not None
    if numeric and unicodedata.normalize("NFKC", character) != character:
        return f" {character} "
    return character
