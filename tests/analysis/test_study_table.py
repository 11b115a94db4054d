import numpy as np
import pytest

from harness.analysis import MetricFacts, RunFacts, score_cube, study_table
from harness.records import Layer, Question, Response, Score

METRIC = MetricFacts("faithfulness", Layer.GENERATION)


def score(question: str, value: float | None, repeat: int = 0, **facts: object) -> Score:
    row = {"metric": "faithfulness", "units": None, "status": "ok", "judge": None, **facts}
    return Score(question, repeat, value=value, **row)  # type: ignore[arg-type]


def response(question: str, repeat: int = 0, text: str | None = "text") -> Response:
    return Response(question, repeat, "ask", "reference", "text", text)


def test_scores_are_joined_by_key_and_not_by_position() -> None:
    """Rows that come in another order land on their own questions."""
    rows = [score("q4", 0.75), score("q2", None, status="judge_failed"), score("q3", 0.15)]

    cube = score_cube(["r"], ["q1", "q2", "q3", "q4"], [METRIC], {"r": rows})

    assert cube.values[0, :, 0].tolist() == pytest.approx([np.nan, np.nan, 0.15, 0.75], nan_ok=True)
    assert cube.statuses[0, :, 0].tolist() == ["", "judge_failed", "ok", "ok"]


def test_repeats_are_averaged_first() -> None:
    """Three repeats of a question are one value; one that is NA is left out of it."""
    rows = [score("q1", 1.0, 0, units=4), score("q1", 0.5, 1, units=2), score("q1", None, 2)]

    cube = score_cube(["r"], ["q1"], [METRIC], {"r": rows})

    assert cube.values.item() == 0.75
    assert cube.units.item() == 2
    assert cube.statuses.item() == "ok"


def test_the_order_of_repeats_parts_no_equal_means() -> None:
    """0.1, 0.2, 0.3 and 0.3, 0.2, 0.1 have one mean, to the bit."""
    rows = {
        "p": [score("q1", value, n) for n, value in enumerate((0.1, 0.2, 0.3))],
        "q": [score("q1", value, n) for n, value in enumerate((0.3, 0.2, 0.1))],
    }

    values = score_cube(["p", "q"], ["q1"], [METRIC], rows).values

    assert values[0] == values[1]


def test_the_number_of_repeats_parts_no_equal_means() -> None:
    """A third, scored in one repeat of two, equals a third scored in both: no win by a rounding."""
    rows = {
        "p": [score("q1", 1 / 3, 0), score("q1", None, 1, status="no_claims")],
        "q": [score("q1", 1 / 3, 0), score("q1", 1 / 3, 1)],
    }

    values = score_cube(["p", "q"], ["q1"], [METRIC], rows).values

    assert values[0] == values[1]


def test_all_repeats_missing_is_na_with_the_first_reason() -> None:
    """NA is never zero."""
    rows = [score("q1", None, 0, status="no_claims"), score("q1", float("nan"), 1, status="budget")]

    cube = score_cube(["r"], ["q1"], [METRIC], {"r": rows})

    assert np.isnan(cube.values.item())
    assert cube.statuses.item() == "no_claims"


def test_binary_looks_at_single_scores() -> None:
    """A metric of zeros and ones stays one where repeats average to a half."""
    ones = [score("q1", 1.0, 0), score("q1", 0.0, 1)]

    assert score_cube(["r"], ["q1"], [METRIC], {"r": ones}).binary == (True,)
    assert score_cube(["r"], ["q1"], [METRIC], {"r": [score("q1", 0.5)]}).binary == (False,)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([score("q1", 1.0), score("q1", 1.0)], "two scores for r, q1, faithfulness, repeat 0"),
        ([score("q9", 1.0)], "unknown question 'q9'"),
        ([score("q1", 1.0, metric="bleu")], "unknown metric 'bleu'"),
    ],
)
def test_rows_that_fit_nowhere_stop_the_report(rows: list[Score], message: str) -> None:
    """A doubled or stray row is an error, never dropped."""
    with pytest.raises(ValueError, match=message):
        score_cube(["r"], ["q1"], [METRIC], {"r": rows})


def test_a_row_without_a_variant_stops_the_report() -> None:
    """A run without facts is an error, not lost from the tables."""
    with pytest.raises(ValueError, match="unknown run 'None'; known: r"):
        score_cube(["r"], ["q1"], [METRIC], {"None": [score("q1", 1.0)]})


def test_doubled_names_are_refused() -> None:
    """Two runs, questions or repeats of one name are an error."""
    run, question = RunFacts("r", "r"), Question("q1", "ask", "reference", "text")
    with pytest.raises(ValueError, match="run occurs twice: r"):
        study_table([run, run], [question], [], {}, {})
    with pytest.raises(ValueError, match="question occurs twice: q1"):
        study_table([run], [question, question], [], {}, {})
    with pytest.raises(ValueError, match="repeat of q1 in r: occurs twice: 0"):
        study_table([run], [question], [], {}, {"r": [response("q1"), response("q1")]})


def test_questions_stand_in_natural_order() -> None:
    """q2 comes before q10, however the test set has them."""
    questions = [Question(q, "ask", "reference", "text") for q in ("q10", "q2", "q1")]

    study = study_table([RunFacts("r", "r")], questions, [], {}, {})

    assert study.scores.questions == ("q1", "q2", "q10")


def test_right_and_wrong_prefer_a_person() -> None:
    """A human grade beats `answer_match`, a failure is wrong, and no rule at all is NA."""
    match = MetricFacts("answer_match", Layer.OVERALL)
    study = study_table(
        [RunFacts("r", "r")],
        [Question(q, "ask", "reference", "text") for q in ("q1", "q2", "q3", "q4")],
        [match],
        {"r": [score(q, 1.0, metric="answer_match") for q in ("q1", "q2")]},
        {
            "r": [
                response("q1"),
                response("q2"),
                response("q3", text=None),
                response("q4"),
            ]
        },
        {("r", "q1", 0): 0},
    )

    assert study.right.values[0].tolist() == pytest.approx([0.0, 1.0, 0.0, np.nan], nan_ok=True)
    assert study.right.origins[0].tolist() == ["grade", "answer_match", "error", ""]
    assert study.right.errors[0].tolist() == [0, 0, 1, 0]


def test_what_a_person_calls_unclear_nothing_decides() -> None:
    """Neither right nor wrong, although `answer_match` would say right."""
    study = study_table(
        [RunFacts("r", "r")],
        [Question("q1", "ask", "reference", "text")],
        [MetricFacts("answer_match", Layer.OVERALL)],
        {"r": [score("q1", 1.0, metric="answer_match")]},
        {"r": [response("q1")]},
        {("r", "q1", 0): None},
    )

    assert np.isnan(study.right.values.item())
    assert study.right.origins.item() == ""


def test_right_and_wrong_average_repeats() -> None:
    """Two of three repeats right is two thirds of a question."""
    study = study_table(
        [RunFacts("r", "r")],
        [Question("q1", "ask", "reference", "text")],
        [],
        {},
        {"r": [response("q1", n) for n in range(2)] + [response("q1", 2, None)]},
        {("r", "q1", 0): 1, ("r", "q1", 1): 1},
    )

    assert study.right.values.item() == pytest.approx(2 / 3)
    assert study.right.origins.item() == "grade"
