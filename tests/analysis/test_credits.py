"""What a change turned in every pair of runs that makes it, beside what chance turns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from harness.analysis import Analysis, Finding, RunFacts, Severity, StudyTable, analyse, study_table
from harness.analysis.results import Credit
from harness.records import Floats, Question, Response
from harness.render import sentence, words
from tests.analysis.conftest import CELLS, VARIANTS

Builder = Callable[..., StudyTable]

DEMO = ("101101", "000000", "000000", "000000", "111110", "000000", "000110", "000000", "111111",
        "000001", "000000", "000000")  # fmt: skip
"""Right (1) or wrong (0) in the six variants, one of the demo's graded questions after another."""


def six_variants(grades: Floats) -> StudyTable:
    """Return the demo's and the article's design with these grades, (runs, questions)."""
    leaves = [dict(zip(("contents", "top_k", "prompt"), v, strict=True)) for v in VARIANTS.values()]
    return graded_study(list(VARIANTS), leaves, grades[:, :, None].tolist())


def graded_study(
    names: Sequence[str],
    leaves: Sequence[dict[str, object]],
    grades: Sequence[Sequence[Sequence[float | None]]],
    text: Callable[[str, str, int], str] = lambda run, question, repeat: f"{run}{question}{repeat}",
) -> StudyTable:
    """Build a study from the grade of each repeat: [run][question][repeat]."""
    ids = [f"q{at + 1}" for at in range(len(grades[0]))]
    return study_table(
        [RunFacts(name, name, leaves=own) for name, own in zip(names, leaves, strict=True)],
        [Question(q, f"ask {q}", "reference", "text") for q in ids],
        [],
        {name: [] for name in names},
        {
            name: [
                Response(q, at, f"ask {q}", "reference", "text", text(name, q, at))
                for q, repeats in zip(ids, own, strict=True)
                for at in range(len(repeats))
            ]
            for name, own in zip(names, grades, strict=True)
        },
        {
            (name, q, at): None if grade is None else int(grade)
            for name, own in zip(names, grades, strict=True)
            for q, repeats in zip(ids, own, strict=True)
            for at, grade in enumerate(repeats)
        },
    )


def of_kind(found: Analysis, kind: str) -> list[Finding]:
    return [finding for finding in found.findings if finding.kind == kind]


def credits_of(study: StudyTable) -> tuple[Credit, ...]:
    return analyse(study).credits


def turned(cells: Floats, changes: Sequence[Credit]) -> np.ndarray:
    """Count what each credit's change turned in all its pairs, in (..., runs, questions)."""
    names = list(VARIANTS)
    counts = []
    for one in changes:
        pairs = [(names.index(left), names.index(right)) for left, right in one.contrasts]
        deltas = np.stack([cells[..., j, :] - cells[..., i, :] for i, j in pairs])
        sign = 1 if one.direction == "won" else -1
        counts.append((deltas == sign).all(axis=0).sum(axis=-1))
    return np.array(counts)


@pytest.mark.parametrize(
    ("grades", "number", "expected", "p"),
    [
        (np.array([[int(mark) for mark in row] for row in DEMO]).T, 7, 5.7, 0.30),
        (np.array(CELLS["grades"]), 6, 7.3, 0.87),
    ],
    ids=["demo", "article"],
)
def test_chances_are_those_of_shuffled_runs(
    grades: Floats, number: int, expected: float, p: float
) -> None:
    """All that turned under some change, against 4,000 shuffles of the runs of each question."""
    found = credits_of(six_variants(grades.astype(float)))
    copies = np.broadcast_to(grades.astype(float), (4_000, *grades.shape))
    shuffled = turned(np.random.default_rng(5).permuted(copies, axis=1), found)

    assert sum(len(one.questions) for one in found) == number
    assert sum(one.expected for one in found) == pytest.approx(expected, abs=0.05)
    assert (shuffled.sum(axis=0) >= number).mean() == pytest.approx(p, abs=0.03)
    for one, counts in zip(found, shuffled, strict=True):
        assert one.expected == pytest.approx(counts.mean(), abs=0.06)
        if one.p is not None:
            assert one.p == pytest.approx((counts >= len(one.questions)).mean(), abs=0.03)


def test_the_articles_top_k_is_not_credited() -> None:
    """q1 and q5 turned right twice. Of the four questions that change 2, 3, 3 and 5 of 6 runs are
    right: two wrong and two right by chance in 1/15, 1/10, 1/10 and 0 shuffles."""
    found = analyse(six_variants(np.array(CELLS["grades"], float)))

    [top_k, _] = [one for one in found.credits if one.change.factor == "top_k"]
    assert (top_k.direction, top_k.questions) == ("won", ("q1", "q5"))
    assert top_k.expected == pytest.approx(1 / 15 + 1 / 10 + 1 / 10)
    both = [1 / 15 * 1 / 10 * 9 / 10] * 2 + [14 / 15 / 100, 1 / 1500]
    assert top_k.p == pytest.approx(sum(both))
    assert top_k.p_adjusted == pytest.approx(4 * top_k.p)
    assert not of_kind(found, "credit")
    lines = {f.factor: f for f in of_kind(found, "turned_in_every_contrast")}
    assert sentence(lines["top_k"], words("en")) == (
        "q1, q5 turned right in each of the 2 contrasts of top_k 4 -> 9; by chance 0.267 such "
        "questions are expected (p = 0.022, after correction 0.088)."
    )
    assert lines["contents"].questions == ("q2",)
    assert lines["contents"].severity is Severity.CHANGE


SQUARE = [{"a": a, "b": b} for a, b in product((0, 1), repeat=2)]
NAMES = ["00", "01", "10", "11"]


def square(*questions: str) -> StudyTable:
    """Return a study of two factors; a question is its right (1) and wrong (0) by run."""
    return graded_study(NAMES, SQUARE, [[[int(q[at])] for q in questions] for at in range(4)])


def test_a_change_is_credited_beyond_chance() -> None:
    """a turned four questions in both pairs: each by chance in 1 of 6 shuffles, all in 1 of 1,296;
    the four lines of a and b are corrected for."""
    found = analyse(square("0011", "0011", "0011", "0011", "1111"))

    [credit] = of_kind(found, "credit")
    assert (credit.factor, credit.questions) == ("a", ("q1", "q2", "q3", "q4"))
    assert credit.names == {"left_value": "0", "right_value": "1", "direction": "won"}
    assert credit.numbers == pytest.approx(
        {"contrasts": 2, "expected": 4 / 6, "p": 6**-4, "p_adjusted": 4 * 6**-4}
    )
    assert credit.severity is Severity.FINDING
    assert not of_kind(found, "turned_in_every_contrast")
    assert sentence(credit, words("en")) == (
        "a 0 -> 1 won q1, q2, q3, q4: turned right in each of the 2 contrasts that make this "
        "change, while chance turns 0.667 such questions (p < 0.001, after correction 0.003)."
    )


def test_one_pair_of_runs_is_not_credited() -> None:
    """Six questions turned wrong under the one contrast: said by that contrast, with its chance."""
    found = analyse(
        graded_study(["A", "B"], [{"k": 1}, {"k": 2}], [[[1]] * 6 + [[0]], [[0]] * 6 + [[0]]])
    )

    assert [one.p_adjusted for one in found.credits] == [None, None]
    assert [len(one.questions) for one in found.credits] == [0, 6]
    assert not of_kind(found, "credit")
    assert not of_kind(found, "turned_in_every_contrast")


def test_a_change_read_backwards_is_the_same_change() -> None:
    """Runs 0 -> 1 in one pair and 1 -> 0 in the other, in the order of the study: two pairs."""
    leaves: list[dict[str, object]] = [
        {"index": "text", "k": 1},
        {"index": "ctx", "k": 1},
        {"index": "ctx", "k": 2},
        {"index": "text", "k": 2},
    ]
    study = graded_study(["A", "B", "C", "D"], leaves, [[[0]], [[1]], [[1]], [[0]]])

    won = next(one for one in credits_of(study) if one.change.factor == "index")

    assert won.contrasts == (("A", "B"), ("D", "C"))
    assert won.questions == ("q1",)


def test_runs_over_other_corpora_are_shuffled_apart() -> None:
    """One of two runs is right over either corpus: the change turns it by chance in 1/2 * 1/2;
    in one pool of four it would be 1/6."""
    study = square("0101")
    runs = tuple(replace(run, corpus=run.name[0], leaves={"b": run.name[1]}) for run in study.runs)

    won, lost = credits_of(replace(study, runs=runs))

    assert won.contrasts == (("00", "01"), ("10", "11"))
    assert (won.expected, lost.expected) == (0.25, 0.25)


def test_a_question_unknown_in_one_run_has_no_chance_to_turn() -> None:
    """b is known in both pairs for q1 only: 2 of 4 runs are right, so 1 of 6 shuffles turns it."""
    grades: list[list[list[float | None]]] = [[[0], [0]], [[1], [1]], [[0], [0]], [[1], [None]]]

    found = credits_of(graded_study(NAMES, SQUARE, grades))

    won = next(one for one in found if one.change.factor == "b")
    assert (won.questions, won.expected) == (("q1",), pytest.approx(1 / 6))


def test_two_pairs_may_share_a_run() -> None:
    """Without captions no captioner acts, so one run is before the change in both pairs: one run
    of three is wrong, and by chance it is that one in 1 of 3 shuffles; never two."""
    study = graded_study(["A", "B", "C"], [{}, {}, {}], [[[0]], [[1]], [[1]]])
    leaves = ({"index": "text"}, {"index": "ctx", "eye": "x"}, {"index": "ctx", "eye": "y"})
    off = (frozenset({"eye"}), frozenset(), frozenset())
    runs = tuple(
        replace(run, leaves=own, inactive=out)
        for run, own, out in zip(study.runs, leaves, off, strict=True)
    )

    won, lost, *_ = credits_of(replace(study, runs=runs))

    assert won.contrasts == (("A", "B"), ("A", "C"))
    assert (won.questions, won.expected, won.p) == (("q1",), *[pytest.approx(1 / 3)] * 2)
    assert (lost.questions, lost.expected, lost.p) == ((), 0, 1)


REPEATS = [[[1, 0, 0]] * 3, [[1, 1, 0]] * 3]
"""Three questions: one of three repeats right, then two of three."""


def test_a_share_of_repeats_turns_nothing() -> None:
    """From 1/3 to 2/3 the share right changed by a third, and no answer turned right."""
    found = analyse(graded_study(["A", "B"], [{"k": 1}, {"k": 2}], REPEATS))

    assert found.outcomes.informative == ()
    assert found.outcomes.partly_right == ("q1", "q2", "q3")
    assert found.outcomes.known == 3
    assert all(not one.questions for one in found.credits)
    assert not of_kind(found, "informative")
    [changed] = of_kind(found, "answers_changed")
    assert changed.groups == {"gained": (), "lost": (), "partly": ("q1", "q2", "q3")}
    assert (changed.numbers["gained"], changed.numbers["discordant"]) == (0, 3)
    assert changed.numbers["mean"] == pytest.approx(1 / 3)
    assert sentence(changed, words("en")) == (
        "k 1 -> 2 (A against B): no answer turned right or wrong in every repeat; the share right "
        "over repeats changed on q1, q2, q3, by +0.333 over all questions; 3 of 3 questions "
        "changed, p = 0.25, so this is consistent with chance."
    )


def test_every_repeat_must_turn() -> None:
    """Wrong three times, then right three times is turned; wrong, then right twice is not."""
    grades = [[[0, 0, 0], [0, 0, 0], [1, 1, 1]], [[1, 1, 1], [1, 1, 0], [0, 0, 0]]]
    found = analyse(graded_study(["A", "B"], [{"k": 1}, {"k": 2}], grades))

    assert found.outcomes.turned("A", "B") == (("q1",), ("q3",))
    assert found.outcomes.turned("B", "A") == (("q3",), ("q1",))
    assert found.outcomes.informative == ("q1", "q3")
    assert found.outcomes.partly_right == ("q2",)
    [changed] = of_kind(found, "answers_changed")
    assert changed.groups == {"gained": ("q1",), "lost": ("q3",), "partly": ("q2",)}


@pytest.mark.parametrize("same", [True, False])
def test_repeats_that_are_all_the_same_are_noted(same: bool) -> None:
    """Three repeats of one text: the seed had no effect. One other text, and nothing is said."""
    study = graded_study(
        ["A", "B"],
        [{"k": 1}, {"k": 2}],
        REPEATS,
        lambda *answer: "27" if not same and answer == ("A", "q1", 2) else "28",
    )

    notes = of_kind(analyse(study), "repeats_identical")

    assert [note.run for note in notes] == (["A", "B"] if same else ["B"])
    assert notes[-1].numbers == {"repeats": 3, "questions": 3}
    assert notes[-1].severity is Severity.NOTE


def flips(random: np.random.Generator, questions: int, runs: int) -> Floats:
    """Draw grades of which 20 % flip and nothing else acts."""
    right = np.repeat(random.random((1, questions)) < 0.55, runs, axis=0)
    return np.where(random.random(right.shape) < 0.2, ~right, right).astype(float)


def test_where_nothing_acts_hardly_anything_is_learnt() -> None:
    """24 studies of six variants: at most 0.1 credits a report, and no other result by chance."""
    random = np.random.default_rng(11)
    learnt = [
        finding.kind
        for _ in range(24)
        for finding in analyse(six_variants(flips(random, 13, 6))).findings
        if finding.severity is Severity.FINDING
    ]

    assert set(learnt) <= {"credit"}
    assert len(learnt) <= 2
