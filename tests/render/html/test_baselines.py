"""What the page embeds to compare runs with a baseline: the numbers and words of the report."""

import json
from dataclasses import replace

import pytest

from harness.analysis.results import Confounded
from harness.render import LANGUAGES, words
from harness.render.html.baselines import baseline_view, choices
from harness.render.html.questions import MOST_ANSWERS, details_shown
from harness.render.notation import signed, signed_quantity
from tests.render.html.pages import Shown, shown

ENGLISH = words("en")


def view(study: Shown, language: str = "en") -> dict:
    """Return what the page embeds, as its script reads it."""
    found = baseline_view(study.analysis, study.details, words(language))
    return json.loads(json.dumps(found, allow_nan=False))


def test_differences_are_written_as_in_the_report() -> None:
    """Each contrast has its mean, its interval and its verdict; an undefined end is left out."""
    study = shown(names=("k2", "k4", "k6"))
    found = view(study)

    for contrast in study.analysis.contrasts:
        at = [found["runs"].index(run) for run in (contrast.left, contrast.right)]
        factor, left, right, rows = found["pairs"][f"{at[0]},{at[1]}"]
        assert (factor, left, right) == (
            contrast.change.factor,
            str(contrast.change.left),
            str(contrast.change.right),
        )
        for metric, row in zip(found["metrics"], rows, strict=True):
            one = contrast.difference(metric)
            assert one is not None
            write = signed_quantity if metric in study.analysis.unbounded else signed
            ends = [] if one.low is None else [write(one.low), write(one.high)]
            assert row == [one.verdict, write(one.mean), *ends]
            assert found["verdicts"][one.verdict][0] == ENGLISH.get("verdicts", one.verdict)


def test_won_and_lost_questions_follow_from_the_scores() -> None:
    """The scores on the page give the questions that the analysis calls won and lost."""
    study = shown(names=("k2", "k4", "k6"))
    found = view(study)

    for contrast in study.analysis.contrasts:
        left, right = (found["runs"].index(run) for run in (contrast.left, contrast.right))
        for one in contrast.differences:
            by = found["metrics"].index(one.metric)
            gains = [
                (b - a) * found["better"][by] if None not in (a, b) else 0
                for a, b in zip(found["values"][by][left], found["values"][by][right], strict=True)
            ]
            questions = study.analysis.outcomes.questions
            assert one.won == tuple(q for q, g in zip(questions, gains, strict=True) if g > 0)
            assert one.lost == tuple(q for q, g in zip(questions, gains, strict=True) if g < 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_confounded_pair_names_its_factors(language: str) -> None:
    """Two runs that differ in two factors have no difference, and the reason names both."""
    study = shown()
    change = study.analysis.contrasts[0].change
    pair = Confounded("k2", "k4", (replace(change, factor="prompt"), change), (), ())
    confounded = replace(study.analysis, contrasts=(), confounded=(pair,))

    reason = view(replace(study, analysis=confounded), language)["pairs"]["0,1"]

    assert "top_k" in reason
    assert "prompt" in reason
    assert language != "en" or reason == "not comparable: differs in prompt and top_k"


@pytest.mark.parametrize("reason", ["corpus", "unknown_corpus", "testset"])
def test_runs_over_other_documents_are_not_comparable(reason: str) -> None:
    """A pair that differs in what was asked or searched has the reason for a difference."""
    study = shown()
    apart = replace(study.analysis, contrasts=(), incomparable=((("k2",), ("k4",), reason),))

    said = view(replace(study, analysis=apart))["pairs"]["0,1"]

    assert said == ENGLISH.on_page(f"incomparable_{reason}")


def test_a_narrowed_report_starts_with_its_baseline() -> None:
    """The baseline that narrowed the report is chosen at first, otherwise the first run."""
    study = shown()
    narrowed = replace(study, analysis=replace(study.analysis, baseline="k4"))

    for one, name in ((study, "k2"), (narrowed, "k4")):
        assert choices(view(one), ENGLISH)[0]["chosen"] == name


def test_controls_without_a_choice_are_left_out() -> None:
    """Tags are offered where questions have some, sources where there are two."""
    study = shown()
    tagged = tuple(replace(one, tags=("chart",)) for one in study.details.questions)
    one_source = tuple(replace(one, source="text") for one in study.details.questions)

    def offered(questions: tuple) -> list[str]:
        details = replace(study.details, questions=questions)
        found = baseline_view(study.analysis, details, ENGLISH)
        return [one["name"] for one in choices(found, ENGLISH)]

    assert "tag" not in offered(study.details.questions)
    assert "tag" in offered(tagged)
    assert "source" in offered(study.details.questions)
    assert "source" not in offered(one_source)


def test_without_grades_the_first_metric_is_the_measure() -> None:
    """Where right and wrong are not known, questions are filtered by what is scored."""
    study = shown()
    unknown = tuple(
        replace(row, cells=(None,) * 4, known=0) for row in study.analysis.outcomes.rows
    )
    outcomes = replace(study.analysis.outcomes, rows=unknown)
    found = view(replace(study, analysis=replace(study.analysis, outcomes=outcomes)))
    (by,) = (one for one in choices(found, ENGLISH) if one["name"] == "by")

    assert by["chosen"] == "context_precision"
    assert found["totals"] == ["", ""]


def test_scores_of_repeats_are_averaged() -> None:
    """A question asked three times has the mean of what was scored, NA left out."""
    study = shown(ids=("q1",))
    row = next(row for row in study.details.scores["k2"] if row.metric == "faithfulness")
    rows = tuple(replace(row, repeat=at, value=value) for at, value in enumerate((1.0, None, 0.5)))
    found = view(replace(study, details=replace(study.details, scores={"k2": rows})))

    values = found["values"][found["metrics"].index("faithfulness")]

    assert values == [[0.75], [None]]


def test_answers_of_a_large_study_are_kept_for_informative_questions() -> None:
    """Of more answers than fit the page holds those to whole questions, informative ones first."""
    runs = [f"v{at}" for at in range(40)]
    study = shown(names=runs, ids=[f"q{at}" for at in range(70)], passages=1)

    kept = details_shown(study.analysis, study.details)

    questions = {row.question_id for row in kept.responses["v0"]}
    assert sum(map(len, kept.responses.values())) == len(questions) * len(runs) <= MOST_ANSWERS
    assert questions <= set(study.analysis.outcomes.informative)
    assert {row.question_id for row in kept.scores["v0"]} == questions
