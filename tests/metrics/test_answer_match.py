"""Does a response hold an accepted answer, however it is spelt."""

import pytest

from harness.metrics.answer_match import char_f1, matches, normalise, to_digits


def held(spelling: str, text: str) -> bool:
    return matches(text, [[spelling]])


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("18浬", "射程為 18.0 浬。"),
        ("18.0 浬", "18浬"),
        ("2.40kg", "2.4 kg"),
        ("1234", "共１，２３４件"),
        ("1,234", "1234 cases"),
        ("2,247,000", "2247000"),
        ("1234", "1\u202f234"),
        ("0.5", ".5"),
        ("７２", "第72位"),
        ("72.5%", "約 72.5 ％"),
        ("四月", "4月"),
        ("4 月", "四月最多"),
        ("04月", "4月"),
        ("十二", "共12例"),
        ("12", "共十二例"),
        ("第3季", "第三季"),
        ("第 4 季", "第四季"),
        ("三", "共三類"),
        ("三", "答案是三。"),
        ("七成二", "七成二左右"),
        ("2021", "2021Q4"),
        ("Q4", "2021 q4"),
        ("PM2.5", "PM 2.5"),
        ("covid-19", "COVID 19"),
        ("19", "COVID-19"),
        ("techlash", "科技反感（Techlash）"),
        ("straße", "STRASSE"),
        ("ガイド", "ｶﾞｲﾄﾞ"),
        ("ジョン・マッカーシー", "ジョンマッカーシー"),
        ("臺灣", "台灣"),
        ("內容", "内容"),
        ("Anderson & Rosenberg", "Anderson and Rosenberg (1998); Anderson, Rosenberg"),
        ("55-64", "55–64"),
        ("3月", "1月-3月"),
        ("-5", "it fell to −5 °C"),
        ("case", "All cases rose."),
        ("decreas", "It decreased."),
        ("don't", "I don’t"),
        ("km2", "10 km²"),
        ("10", "10²"),
        ("3.1.2", "version 3.1.2"),
        ("C++", "in c++"),
        ("ab", "a\u200bb"),
        ("34", "٣٤"),
        ("五", "五"),
    ],
)
def test_same_answer_in_another_spelling(spelling: str, text: str) -> None:
    """Width, case, spaces, separators and number forms do not matter."""
    assert held(spelling, text)


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("3", "There were 13 days"),
        ("3", "3.5"),
        ("3", "3,500"),
        ("3", "-3"),
        ("3", "H3 and Q3"),
        ("3", "三重區"),
        ("3", "十三"),
        ("三", "十三"),
        ("1", "一般民眾"),
        ("10", "十分重要"),
        ("10", "數十人"),
        ("1.05", "105"),
        ("1.05", "1.50"),
        ("105", "1.05"),
        ("1.50", "1.05"),
        ("100", "10²"),
        ("102", "10²"),
        ("51", "5½"),
        ("3.1", "3.1.2"),
        ("3100", "第3，100人"),
        ("4月", "十四月"),
        ("4月", "14 月"),
        ("50%", "50 people"),
        ("30000", "3萬"),
        ("male", "female"),
        ("art", "article"),
        ("seven", "seventeen"),
        ("no", "not"),
        ("C++", "C"),
        ("2016", "民國105年"),
        ("a b c", "a b"),
        ("3", "It lasted 13 days [3]."),
        ("2", "It lasted 13 days [1, 2]."),
    ],
)
def test_another_answer(spelling: str, text: str) -> None:
    """No part of a number, a name or a word is an answer, nor is another value."""
    assert not held(spelling, text)


@pytest.mark.parametrize("spelling", ["", " ", "%", "、。", "——", "\u200b", "○"])
def test_spelling_that_comes_to_nothing_never_matches(spelling: str) -> None:
    """A spelling without letter or digit normalises to nothing, and matches nothing."""
    assert normalise(spelling) == ""
    assert not held(spelling, "50 % of all，○")
    assert not held(spelling, "")


def test_values_are_compared_as_declared() -> None:
    """18.0 浬 is 18浬; 1.05 is not 1.50; 105 is not 1.05."""
    assert normalise("18.0 浬") == normalise("18浬") == "18 浬"
    assert normalise("1.05") != normalise("1.50")
    assert normalise("105") != normalise("1.05")


def test_numbers_have_one_form() -> None:
    """Zeros that change nothing go; a minus before nothing goes."""
    assert normalise("007; 0.00; -0; -1.50; +5") == "7 0 0 -1.5 + 5"


def test_groups_must_all_appear() -> None:
    """One spelling of each group is enough, and no group may be left out."""
    answers = [["2021"], ["第四季", "Q4"]]

    assert matches("2021 年第 4 季", answers)
    assert not matches("2021 年", answers)
    assert not matches("2021", [["2021"], []])


def test_char_f1_takes_order_aside() -> None:
    """Shared characters count as often as both have them: 2 of 3 and 2 gives 0.8."""
    assert char_f1("aab", "aa") == pytest.approx(2 * 2 / 5)
    assert char_f1("霧日最多為四月", "四月霧日最多") == pytest.approx(12 / 13)
    assert char_f1("同じ文。", "同じ 文") == 1.0
    assert char_f1("", "") == char_f1("a", "b") == 0.0


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
