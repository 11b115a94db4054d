"""Chinese and Japanese numerals as digits, where they are surely numbers."""

import re

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
_NUMBER = re.compile(
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
        every: Read lone numerals as numbers too, whatever stands beside them.

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
    found = _NUMBER.fullmatch(numeral)
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
