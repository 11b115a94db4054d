"""How numbers and texts are written, so that they look alike in the terminal, Markdown and HTML."""

import functools
import math
import re
from collections.abc import Callable

from harness.text import ACTIVE

NA = "NA"
"""Written for a number that is undefined; the reason is given beside it."""

Number = float | int | None


def or_na(write: Callable[[float], str]) -> Callable[[Number], str]:
    """Write NA where there is no number."""

    @functools.wraps(write)
    def written(number: Number) -> str:
        # adding 0.0 turns -0.0 into 0.0
        return NA if number is None or not math.isfinite(number) else write(number + 0.0)

    return written


@or_na
def count(number: float) -> str:
    """Write a whole number, or a median between two of them.

    >>> count(8), count(6.5), count(1234567), count(None)
    ('8', '6.5', '1234567', 'NA')
    """
    return f"{number:.0f}" if number.is_integer() else f"{number:.3g}"


@or_na
def mean(number: float) -> str:
    """Write a score or share to three digits.

    >>> mean(0.3816), mean(1), mean(-0.0)
    ('0.382', '1.000', '0.000')
    """
    return f"{number:.3f}"


@or_na
def signed(number: float) -> str:
    """Write a difference of scores; one that rounds to zero keeps its sign.

    >>> signed(0.25), signed(-0.0004), signed(0)
    ('+0.250', '-0.000', '0.000')
    """
    return f"{number:+.3f}" if number else "0.000"


@or_na
def quantity(number: float) -> str:
    """Write seconds, tokens or counts: about three significant digits, two for tiny numbers.

    >>> [quantity(n) for n in (0.0124, 4, 12.34, 1.234, 5120.4, 0.000312)]
    ['0.012', '4', '12.3', '1.23', '5120', '0.00031']
    """
    size = abs(number)
    if 0 < size < 0.01:
        return f"{number:.2g}"
    digits = 0 if size >= 100 or number.is_integer() else 1 if size >= 10 else 3 - (size >= 1)
    return f"{number:.{digits}f}"


@or_na
def signed_quantity(number: float) -> str:
    """Write a difference of seconds, tokens or counts.

    >>> signed_quantity(5), signed_quantity(-0.0124)
    ('+5', '-0.012')
    """
    return ("+" if number > 0 else "") + quantity(number)


@or_na
def probability(number: float) -> str:
    """Write a p-value.

    >>> [probability(p) for p in (1, 0.5, 0.03125, 0.0078125, 0.0001)]
    ['1.0', '0.5', '0.031', '0.008', '<0.001']
    """
    if number < 0.001:
        return "<0.001"
    written = f"{number:.3f}".rstrip("0")
    return written + "0" if written.endswith(".") else written


def p(number: Number) -> str:
    """Write a p-value with its letter.

    >>> p(0.5), p(0.0001), p(None)
    ('p = 0.5', 'p < 0.001', 'p = NA')
    """
    written = probability(number)
    return f"p < {written[1:]}" if written.startswith("<") else f"p = {written}"


@or_na
def percent(number: float) -> str:
    """Write a share; only 1 is written as 100 %, and only 0 as 0 %.

    >>> percent(0.857), percent(0.999), percent(1)
    ('86 %', '99 %', '100 %')
    """
    whole = round(100 * number)
    return f"{min(max(whole, 1), 99) if 0 < number < 1 else whole} %"


@or_na
def signed_percent(number: float) -> str:
    """Write a relative change, which may exceed 1.

    >>> signed_percent(0.19), signed_percent(-0.0016), signed_percent(1.5), signed_percent(0)
    ('+19 %', '-0.2 %', '+150 %', '0 %')
    """
    digits = 0 if abs(number) >= 0.0095 or not number else 1
    return f"{100 * number:+.{digits}f} %" if number else "0 %"


@or_na
def small(number: float) -> str:
    """Write a level such as 0.05 / 28 to three significant digits.

    >>> small(0.05 / 28), small(0.05)
    ('0.00179', '0.05')
    """
    return f"{number:.3g}"


def interval(low: Number, high: Number, write: Callable[[Number], str] = signed) -> str:
    """Write the two ends of an interval.

    >>> interval(-0.0004, 0.31), interval(None, None)
    ('[-0.000, +0.310]', 'NA')
    """
    return NA if low is None or high is None else f"[{write(low)}, {write(high)}]"


def bar(low: float, middle: float, high: float, most: float, width: int = 12) -> str:
    """Draw an interval around zero in characters, on a scale from -most to +most.

    >>> bar(-0.2, 0.3, 0.8, 1), bar(0.5, 0.5, 0.5, 1)
    ('.....(|-o--).', '......|..o...')
    """
    low, middle, high, zero = (
        round((min(max(at / most, -1.0), 1.0) + 1) / 2 * width) for at in (low, middle, high, 0.0)
    )
    drawn = ["-" if low <= at <= high else "." for at in range(width + 1)]
    for at, sign in ((low, "("), (high, ")"), (zero, "|"), (middle, "o")):
        drawn[at] = sign
    return "".join(drawn)


def plain(text: str) -> str:
    """Return the text with each active character as the sign for an unreadable one.

    >>> plain(chr(27) + "[31mred")
    '�[31mred'
    """
    return ACTIVE.sub("\ufffd", text)


_FORMULA = re.compile(r"'*[=+\-@＝＋－＠\t\r\n]")


def csv_cell(text: str) -> str:
    """Return the text with a quote in front where a spreadsheet would evaluate it as a formula.

    One that has quotes there already gets one more, so that `text_of_cell` returns the text.

    >>> [csv_cell(text) for text in ("=1+1", "'=1", "＝1", "it's -1")]
    ["'=1+1", "''=1", "'＝1", "it's -1"]
    """
    return f"'{text}" if _FORMULA.match(text) else text


def text_of_cell(cell: str) -> str:
    """Return the text of a cell that `csv_cell` has made.

    >>> [text_of_cell(csv_cell(text)) for text in ("=1+1", "'=1", "it's -1")]
    ['=1+1', "'=1", "it's -1"]
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def one_line(text: str) -> str:
    """Return plain text whose line ends and tabs are single spaces.

    >>> one_line("a  b" + chr(10) + " c")
    'a  b c'
    """
    return re.sub(r"\s*[\t\n\r\u2028\u2029]\s*", " ", plain(text)).strip()


STYLES: dict[str, Callable[[Number], str]] = {
    write.__name__: write
    for write in (
        *(count, mean, signed, quantity, signed_quantity),
        *(p, probability, percent, small),
    )
}
"""What a slot may name after its colon."""
