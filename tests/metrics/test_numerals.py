"""Chinese and Japanese numerals: read where they count, left alone where they do not."""

import pytest

from harness.metrics.numerals import to_digits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("四月", "4月"),
        ("第三季", "第3季"),
        ("第一", "第1"),
        ("十二", "12"),
        ("十月", "10月"),
        ("二十世紀", "20世紀"),
        ("九十九", "99"),
        ("一百五十", "150"),
        ("一百零五", "105"),
        ("三千零五", "3005"),
        ("千九百四十五年", "1945年"),
        ("兩千", "2000"),
        ("兩個", "2個"),
        ("二〇一六年", "2016年"),
        ("二○一六", "2016"),
        ("五〇年代", "50年代"),
        ("一〇五", "105"),
        ("三萬五千", "3萬5000"),
        ("十億", "10億"),
        ("七成", "7成"),
        ("零度", "0度"),
        ("四つ", "4つ"),
    ],
)
def test_counting_numerals_are_read(text: str, expected: str) -> None:
    """A numeral that counts becomes digits; 萬 and 億 stay."""
    assert to_digits(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "一般", "一些", "一個", "一起", "統一", "三重區", "四川", "百貨", "千葉", "萬一",
        "十分", "四周", "一點", "數十人", "幾百", "三四個", "一百五", "三三兩兩", "兩兩",
        "○○縣", "〇", "百", "千", "百千",
    ],
)  # fmt: skip
def test_other_numerals_are_left(text: str) -> None:
    """A numeral that is part of a word, or has two readings, stays as it is."""
    assert to_digits(text) == text


def test_lone_numerals_on_request() -> None:
    """A numeral cut off from its counter is read where the caller knows it counts."""
    assert to_digits("三", every=True) == "3"
    assert to_digits("百", every=True) == "百"
    assert to_digits("○", every=True) == "○"
