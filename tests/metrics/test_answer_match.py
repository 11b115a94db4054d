"""Does a response hold an accepted answer, however it is spelt."""

import pytest

from harness.metrics.answer_match import char_f1, matches, normalise, to_digits, tokens


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


NUMBERS: list[tuple[str, str, bool]] = [
    # Decimal commas.
    ("5", "2,5 %", False),
    ("2", "2,5 %", False),
    ("2.5 %", "2,5 %", True),
    ("2,5", "It is 2.50 m wide.", True),
    ("25", "2,5", False),
    ("0.125", "0,125 g", True),
    ("125", "0,125 g", False),
    ("3.1416", "π = 3,1416", True),
    ("1416", "π = 3,1416", False),
    ("1234.5", "1234,5 m", True),
    ("27.5", "塔高27,5公尺", True),
    ("5", "塔高27,5公尺", False),
    # A comma between three digits parts thousands; several commas part a list.
    ("1234", "1,234 people", True),
    ("1.234", "1,234 people", False),
    ("3", "chapters 1,2,3", True),
    ("2", "chapters 1, 2 and 3", True),
    ("2020", "in 2019,2020", True),
    ("5", "３，５ 人", True),
    ("1234567.89", "1,234,567.89", True),
    # Points that part thousands.
    ("1234567", "1.234.567 Einwohner", True),
    ("234", "1.234.567 Einwohner", False),
    ("1234.56", "1.234,56 €", True),
    ("1.234", "1.234 km", True),
    ("1234", "1.234 km", False),
    ("3.2.1", "3.2.1", True),
    # Indian grouping.
    ("25000", "₹1,25,000", False),
    ("125000", "₹1,25,000", True),
    ("1,25,000", "125000 rupees", True),
    ("1234567.8", "12,34,567.80", True),
    ("34", "12,34,567", False),
    # Blanks of any width.
    ("345", "12\u00a0345 inhabitants", False),
    ("12345", "12\u00a0345 inhabitants", True),
    ("12345", "12\u202f345", True),
    ("12345", "12\u2009345", True),
    ("12345", "12\u2007345人", True),
    ("5", "5 000 000", False),
    ("5,000,000", "5 000 000", True),
    ("1234.5", "1 234,5", True),
    ("1234.5", "1 234.5", True),
    ("12345", "約１２　３４５人", True),
    ("300", "in 2020 300 people", True),
    ("67", "12 345 67", True),
    ("300", "In Q3 300 were sold.", True),
    ("27", "27 m", True),
    # Apostrophes.
    ("234", "CHF 1'234", False),
    ("1234", "CHF 1'234", True),
    ("1234567.5", "1’234’567.50", True),
    ("234", "1＇234", False),
    # Exponents.
    ("1", "1e6", False),
    ("1000000", "1e6", True),
    ("1,000,000", "1E+6 people", True),
    ("0.0015", "1.5e-3", True),
    ("1.5", "1.5e−3", False),
    ("2,500,000", "2.5 × 10⁶", True),
    ("2.5", "2.5 × 10⁶", False),
    ("10", "2.5 × 10⁶", False),
    ("0.00025", "2,5×10⁻⁴", True),
    ("2500000", r"$2.5 \times 10^{6}$", True),
    ("1000000", "１ｅ６", True),
    ("12", "10¹²", True),
    ("112", "10¹²", False),
    ("5", "5 eggs", True),
    # Minus signs.
    ("-5", "–5 °C", True),
    ("-5", "at −5 °C", True),
    ("-5", "－５度", True),
    ("-5", "氣溫是-5度", True),
    ("5", "–5 °C", False),
    ("-5.5", "–5,5", True),
    ("-3", "-5–-3", True),
    ("-3", "from –5 to –3", True),
    # Ranges.
    ("27", "27–30 m", True),
    ("30", "27–30 m", True),
    ("-30", "27–30 m", False),
    ("-30", "27 –30 m", False),
    ("1935", "1931-1935", True),
    ("-1935", "1931-1935", False),
    ("2000", "1,000–2,000", True),
    ("-3", "1月–3月", False),
    ("-30", "27%–30%", False),
    # Ids.
    ("27", "room B-27", False),
    ("-27", "room B-27", False),
    ("B-27", "room B-27", True),
    ("B27", "room b‑27", True),
    ("27", "Ｂ－２７号室", False),
    ("27", "B–27", False),
    ("9001", "ISO-9001", False),
    ("27", "在B-27展示", False),
    ("27", "file b_27", False),
    ("1931", "02-MAY-1931", True),
    ("1931", "pre-1931", True),
    ("B-27", "27", False),
    ("27", "B−27", False),
    ("27", "Ｂ‒27", False),
    ("-5", "‒5 °C", True),
    ("-5", "minus 5 degrees", True),
    ("5", "minus 5 degrees", False),
    ("5", "10 minus 5", True),
    ("-5", "気温はマイナス5度", True),
    ("5", "氣溫為零下五度", False),
    ("-5", "氣溫為零下５度", True),
    ("234", "1´234", False),
    ("1234", "1ʼ234", True),
    ("1000", "1_000", True),
    ("2500000", "2.5*10**6", True),
    ("2", "2½", False),
    ("2.5", "2½ hours", True),
    ("27.5", "二十七點五公尺", True),
    ("27", "二十七点五メートル", False),
    ("3.5", "下午三點五十分", False),
    ("2.5", "二点五倍", True),
    ("3.5", "兩兩點五", False),
    # Dates.
    ("1931", "1931-05-02", True),
    ("1931-05-02", "on 1931-05-02.", True),
    ("5", "1931-05-02", False),
    ("-5", "1931-05-02", False),
    ("1931年5月2日", "１９３１年５月２日", True),
    ("2", "2/5/1931", True),
    ("5", "2.5.1931", True),
    ("2.5", "2.5.1931", False),
    # Width and numerals.
    ("27", "２７", True),
    ("27", "全角の２７です", True),
    ("27", "二十七公尺", True),
    ("2.5", "２．５", True),
]
"""Accepted answer, response, whether it is right."""


@pytest.mark.parametrize(("spelling", "text", "right"), NUMBERS)
def test_numbers_are_read_as_people_write_them(spelling: str, text: str, right: bool) -> None:
    """Separators, minus signs and exponents belong to a number, a part of it is no answer."""
    assert held(spelling, text) is right
    assert held(spelling, f"It is {text}") is right


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


def test_a_fraction_joins_no_number() -> None:
    """5⅓ metres are neither 51/3 nor 5 metres and a third of another number."""
    assert tokens("5⅓ m").words != tokens("51/3 m").words
    assert tokens("5⅓ m").words == tokens("5 ⅓ m").words
