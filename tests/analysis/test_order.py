import pytest

from harness.text import as_number, natural


@pytest.mark.parametrize(
    "names",
    [
        ["ctx_k2", "ctx_k4", "ctx_k9", "ctx_k10", "ctx_k16"],
        [f"q{n}" for n in range(1, 13)],
        ["2024", "a", "a1", "b"],
    ],
)
def test_names_sort_as_people_count(names: list[str]) -> None:
    """k10 comes after k9, and q12 after q2."""
    shuffled = [*names[1::2], *names[::2]]

    assert sorted(shuffled, key=natural) == names


def test_numbers_are_numbers() -> None:
    """Only real numbers order a sweep: neither text nor a switch."""
    assert [as_number(v) for v in (4, 0.5, "4", True, None)] == [4.0, 0.5, None, None, None]
