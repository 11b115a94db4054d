from harness.sources.chart import Axis, Chart, Word, read_chart
from harness.sources.documents import Box

HEIGHT = 20


def word(text: str, x: float, y: float) -> Word:
    """A word 20 pixels high whose middle is at x, y; letters are 10 wide, Han 20."""
    half = sum(20 if ord(char) > 0x2E7F else 10 for char in text) / 2
    return Word(text, Box(x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2))


def sideways(text: str, x: float, y: float) -> Word:
    half = len(text) * 5
    return Word(text, Box(x - HEIGHT / 2, y - half, x + HEIGHT / 2, y + half))


def ticks(*values: str, x: float = 50) -> list[Word]:
    """A vertical axis, 100 pixels a step from y = 100."""
    return [word(value, x, 100 + 100 * i) for i, value in enumerate(values)]


def row(*labels: str, y: float = 60) -> list[Word]:
    """Labels under a chart, 120 pixels apart from x = 150."""
    return [word(label, 150 + 120 * i, y) for i, label in enumerate(labels)]


TITLE = word("Confirmed cases by region and year", 400, 560)


def test_bars_with_printed_values() -> None:
    """Each value is paired with the label under it, however high it is printed."""
    values = [word("18.7", 152, 410), word("4.2", 268, 180), word("12", 391, 300)]

    chart = read_chart(
        [TITLE, *ticks("0", "10", "20", "30"), *row("北部", "中部", "南部"), *values]
    )

    assert chart.values == (("北部", ("18.7",)), ("中部", ("4.2",)), ("南部", ("12",)))
    assert chart.titles == ("Confirmed cases by region and year",)
    assert chart.vertical == (Axis("", ("0", "10", "20", "30")),)
    assert chart.others == ()


def test_lying_bars_with_printed_values() -> None:
    """Values go to the name on the left that is nearest in height; the heading is not a name."""
    names = [
        word(text, 100, y)
        for text, y in (("Ages", 540), ("0 to 4", 500), ("5 to 9", 400), ("Older", 300))
    ]
    values = [
        word(text, x, y)
        for text, x, y in (("9.1", 300, 515), ("2.2", 200, 485), ("5", 250, 400), ("7.5", 280, 310))
    ]

    chart = read_chart([*names, *values])

    assert chart.values == (("0 to 4", ("9.1", "2.2")), ("5 to 9", ("5",)), ("Older", ("7.5",)))
    assert chart.titles == ("Ages",)


def test_table_is_read_by_rows() -> None:
    """A picture of a table gives each row's cells in their order."""
    cells = [
        word(text, x, y)
        for y, texts in (
            (400, ("Blind", "5", "1")),
            (300, ("Low", "4", "2")),
            (200, ("None", "3", "0")),
        )
        for x, text in zip((100, 300, 500), texts, strict=True)
    ]

    assert read_chart(cells).values == (
        ("Blind", ("5", "1")), ("Low", ("4", "2")), ("None", ("3", "0"))
    )  # fmt: skip


def test_axes_without_printed_values_give_none() -> None:
    """The ticks of an axis are not values of a label."""
    chart = read_chart([*ticks("0.0", "0.5", "1.0", "1.5"), *row("1900", "1910", "1920", "1930")])

    assert chart.values == ()
    assert chart.vertical[0].labels == ("0.0", "0.5", "1.0", "1.5")
    assert chart.horizontal == Axis("", ("1900", "1910", "1920", "1930"))


def test_misread_ticks_are_left_out() -> None:
    """3.51 among 0.5, 1.0 ... and a 10 between 65 and 75 are misread ticks."""
    scale = ticks("2.0", "2.5", "3.0", "3.51")
    feet = row("60", "65", "10", "75", "80", "85")

    chart = read_chart([*scale, *feet])

    assert chart.vertical[0].labels == ("2.0", "2.5", "3.0")
    assert chart.horizontal == Axis("", ("60", "65", "75", "80", "85"))
    assert chart.values == ()


def test_years_over_quarters_are_no_values() -> None:
    """Numbers in a row right above the labels are a second row of labels."""
    years = row("2016", "2017", "2018", y=90)

    chart = read_chart([*ticks("0", "100", "200"), *row("Q1", "Q2", "Q3"), *years])

    assert chart.values == ()
    assert chart.horizontal == Axis("", ("2016", "2017", "2018", "Q1", "Q2", "Q3"))


def test_logarithmic_axis_is_no_value() -> None:
    """Numbers that grow upwards in a column are an axis, evenly spaced or not."""
    scale = ticks("1", "10", "100", "1,000", x=50)
    scale = [
        Word(w.text, Box(w.box.left + 20, w.box.bottom, w.box.right + 20, w.box.top)) for w in scale
    ]

    chart = read_chart([*scale, *row("2020", "2021", "2022")])

    assert chart.values == ()
    assert chart.vertical[0].labels == ("1", "10", "100", "1,000")


def test_axis_titles() -> None:
    """Sideways text is the title of the axis beside it, text below the labels that of theirs."""
    left = [sideways("Deal", 20, 180), sideways("Count", 20, 240)]
    right = [sideways("Money invested", 560, 200)]
    scales = [*ticks("0", "50", "100"), *ticks("$0", "$5", "$10", x=520)]

    chart = read_chart([*left, *right, *scales, *row("A1", "B2", "C3"), word("Year", 270, 30)])

    assert [axis.title for axis in chart.vertical] == ["Deal Count", "Money invested"]
    assert chart.horizontal is not None
    assert chart.horizontal.title == "Year"


def test_sideways_text_beside_lying_bars() -> None:
    """If names are the labels of the vertical axis, sideways text is its title."""
    names = [word(text, 120, y) for text, y in (("Male", 500), ("Fema", 400), ("Both", 300))]
    values = [word(text, 300, y) for text, y in (("9.1", 500), ("5", 400), ("7.5", 300))]

    chart = read_chart([sideways("Group", 40, 400), *names, *values])

    assert chart.vertical == (Axis("Group", ()),)
    assert chart.values == (("Male", ("9.1",)), ("Fema", ("5",)), ("Both", ("7.5",)))


def test_lines_of_a_title_are_joined() -> None:
    """A title over two lines is one; Han lines are joined without a blank."""
    lines = [word("臺灣各縣市確定病例", 300, 560), word("及發生率統計圖表", 300, 536)]

    assert read_chart([*lines, *ticks("0", "1", "2")]).titles == (
        "臺灣各縣市確定病例及發生率統計圖表",
    )


def test_labels_read_as_one_are_taken_apart() -> None:
    """`1990 2000 2010`, `20192020` and `Q2Q3` are several labels."""
    feet = [word("1990 2000 2010", 300, 60), word("20202030", 500, 60)]

    chart = read_chart([*ticks("0", "1", "2"), *feet])

    assert chart.horizontal is not None
    assert chart.horizontal.labels == ("1990", "2000", "2010", "2020", "2030")


def test_diagram_has_only_text() -> None:
    """A diagram gives its words in reading order, and no axes."""
    words = [word("Retriever", 400, 300), word("Question", 100, 300), word("Answer", 250, 100)]

    assert read_chart(words) == Chart((), (), None, (), ("Question", "Retriever", "Answer"))


def test_legend_keys_and_signs_are_dropped() -> None:
    """A legend's key that was read as a dash or star is not part of its text."""
    words = [word("→×2032_2", 400, 300), word("★", 300, 100), word("--Total", 100, 300)]

    assert read_chart(words).others == ("Total", "2032_2")


def test_vertical_writing_is_read_from_the_right() -> None:
    """Columns of Japanese are returned in reading order."""
    columns = [sideways("縦に書いた行の二", 100, 200), sideways("縦に書いた行の一", 140, 200)]

    assert read_chart(columns).others == ("縦に書いた行の一", "縦に書いた行の二")


def test_stray_numbers_are_no_values() -> None:
    """One number among six labels is a remark, not the value of the label below it."""
    feet = row("甲一", "乙二", "丙三", "丁四", "戊五", "己六")

    chart = read_chart([*ticks("0", "10", "20"), *feet, word("7", 272, 220)])

    assert chart.values == ()
    assert "7" in chart.others


def test_nothing_read() -> None:
    """Without words the chart is empty."""
    assert read_chart([]) == Chart((), (), None, (), ())
