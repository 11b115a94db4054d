from dataclasses import replace

from harness.analysis import RunFacts
from harness.analysis.changes import Design
from harness.analysis.interactions import squares
from harness.analysis.results import Change, MissingRun


def run(name: str, k: int = 4, prompt: str = "default") -> RunFacts:
    return RunFacts(name, name, {"prompt": prompt}, {"top_k": k, "prompt.text": prompt})


def test_a_complete_square_is_found_once() -> None:
    """Four runs over two factors are one square, read upwards, whichever diagonal is met first."""
    runs = [run("d9", 9), run("s9", 9, "strict"), run("d4"), run("s4", 4, "strict")]

    [square] = squares(Design(runs))

    assert (square.first.factor, square.second.factor) == ("prompt", "top_k")
    assert square.second == Change("top_k", 4, 9)
    assert square.corners == (2, 3, 0, 1)
    assert square.missing == ()
    numbers = [replace(r, leaves={**r.leaves, "n": r.choices["prompt"] == "strict"}) for r in runs]
    both = [
        replace(r, choices={}, leaves={"top_k": r.leaves["top_k"], "n": int(bool(r.leaves["n"]))})
        for r in numbers
    ]
    [square] = squares(Design(list(reversed(both))))
    assert (square.first, square.second) == (Change("top_k", 4, 9), Change("n", 0, 1))
    assert square.corners == (1, 3, 0, 2)


def test_a_square_of_three_names_the_fourth() -> None:
    """Whether two factors depend on each other needs the missing run."""
    [square] = squares(Design([run("d4"), run("d9", 9), run("s4", 4, "strict")]))

    assert None in square.corners
    assert square.missing == (MissingRun(("variant=d9", "prompt=strict")),)


def test_two_runs_in_two_factors_are_no_square() -> None:
    """Only what a single further run would complete is offered."""
    assert squares(Design([run("d4"), run("s9", 9, "strict")])) == []


def test_a_square_that_is_the_sum_of_two_is_left_out() -> None:
    """Over k = 2, 4, 9 and two prompts there are three squares, of which two say it all."""
    runs = [run(f"{p}{k}", k, p) for p in ("default", "strict") for k in (9, 2, 4)]

    values = [(square.second.left, square.second.right) for square in squares(Design(runs))]

    assert sorted(values) == [(2, 4), (4, 9)]


def test_names_lie_between_by_the_order_of_runs() -> None:
    """Three prompts in the study's order: the outer pair is the sum of the inner two."""
    runs = [run(f"{p}{k}", k, p) for k in (2, 9) for p in ("brief", "default", "strict")]

    values = {(square.first.left, square.first.right) for square in squares(Design(runs))}

    assert values == {("brief", "default"), ("default", "strict")}
