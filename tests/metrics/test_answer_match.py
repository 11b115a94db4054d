"""Does a response hold an accepted answer, however it is spelt."""

import pytest

from harness.metrics import char_f1, matches, normalise


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
