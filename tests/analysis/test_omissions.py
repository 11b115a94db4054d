import pytest

from harness.analysis.omissions import omitted_facts


@pytest.mark.parametrize(
    ("text", "claims", "facts"),
    [
        (
            "It is 27 metres tall. It was opened in 1931. It was built by the river guild.",
            ["It is 27 metres tall."],
            ("1931",),
        ),
        ("Opened in May by Ada of NASA.", ["It was opened."], ("May", "Ada", "NASA")),
        ("Its ferry is called \"north star\" today.", ["It has a ferry."], ("north star",)),
        ("It costs 1,234.50 dollars, or 2 000 in all.", ["1234.5 dollars."], ("2 000",)),
        ("塔高27公尺，1931年啟用。", ["塔高２７．０公尺。"], ("1931",)),
        ("塔高27公尺，由林文雄設計。", ["塔高27公尺。"], ("由林文雄設計",)),
        ("展品包括《清明上河圖》。", ["有展品。"], ("清明上河圖",)),
        ("塔はエッフェルが建てた。高さは27メートル。", ["高さは27メートルです。"], ("エッフェル",)),
        ("塔高27公尺。", [], ("27",)),
    ],
)  # fmt: skip
def test_facts_that_are_in_no_claim(text: str, claims: list[str], facts: tuple[str, ...]) -> None:
    """Numbers are compared by value, names without case; whole clauses where names are hidden."""
    assert omitted_facts(text, claims) == facts


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("It is 27 metres tall.", ["The tower is 27.0 metres tall."]),
        ("1. It is tall [3].\n2. It is old.", ["It is tall.", "It is old."]),
        ("However, The Tower was opened by ADA AMES.", ["The tower was opened by Ada Ames."]),
        ("Yes, it is tall. It was built by the guild.", ["It is tall."]),
        ("塔高27公尺，由河川公會建造。", ["塔高27公尺。", "塔由河川公會建造。"]),
        ("2019年共有12件，其中彰化縣最多。", ["2019年共有12件。", "彰化縣的件數最多。"]),
        ("塔高27公尺，但資料沒有提到設計者。", ["塔高27公尺。"]),
        ("資料沒有說明設計者是誰。", []),
        ("", []),
    ],
)
def test_nothing_left_out(text: str, claims: list[str]) -> None:
    """List numbers, citations, lower-case words and remarks on what is unknown are no facts."""
    assert omitted_facts(text, claims) == ()
