import pytest
from rich.cells import cell_len

from harness.render.terminal import NO_END, NO_START, wrap_columns

TEXTS = [
    "q1、q5 由錯變對，q7 由對變錯；8 題中有 3 題改變，McNemar p = 1.0，可能只是偶然。",
    "この判定者が人とどれだけ一致するかは、まだ測定されていません（「未測定」）。",
    "a plain English sentence, with punctuation; and a_very_long_name_without_any_break.",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [6, 10, 17, 40])
def test_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    """Every line fits, and together they hold the text."""
    lines = wrap_columns(text, width)

    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize("text", TEXTS[:2])
def test_no_line_begins_with_a_full_stop(text: str) -> None:
    """Closing marks stay with what they close, opening ones with what they open."""
    lines = wrap_columns(text, 20)

    assert not any(line[0] in NO_START for line in lines)
    assert not any(line[-1] in NO_END for line in lines)


def test_no_break_space_holds() -> None:
    """A name and its number stay together."""
    assert wrap_columns("ctx_k9\N{NO-BREAK SPACE}0.642 rest", 8) == [
        "ctx_k9\N{NO-BREAK SPACE}0",
        ".642",
        "rest",
    ]
    assert wrap_columns("so ctx\N{NO-BREAK SPACE}0.6 on", 8) == [
        "so",
        "ctx\N{NO-BREAK SPACE}0.6",
        "on",
    ]


def test_nothing_is_one_empty_line() -> None:
    """An empty text takes a line."""
    assert wrap_columns("", 10) == [""]
