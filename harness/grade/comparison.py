"""A comparison of graders: another grader's file merged in, and how far they agree."""

from itertools import combinations
from pathlib import Path
from typing import Any

from harness.analysis.statistics.kappa import Kappa, kappa
from harness.config.paths import shown_path
from harness.errors import InputError
from harness.grade.session import GradingSession, warn_of_model_grades
from harness.questions import CaptionGrade, Gradebook, Subject, disputes, latest_grades
from harness.records import Grade
from harness.render.notation import one_line

WORDS = {1: "right", 0: "wrong"}
LONGEST = 70
"""Characters of an answer in the list of disputes."""


def merge_grades(session: GradingSession, file: Path) -> None:
    """Merge another grader's file into the test set's grades, and print the agreement."""
    other = open_gradebook(file)
    book: Gradebook[Any] = session.grades if other.kind is Grade else session.caption_grades
    grades = other.read()
    warn_of_model_grades(session, grades)
    new = book.merge(grades)
    print(
        f"{new} of {len(grades)} grades added to {shown_path(book.path)}; the others were already "
        "in it"
    )
    print_agreement(session, session.current_grades(book))


def open_gradebook(file: Path) -> Gradebook[Any]:
    """Return a file of grades: of answers or of captions, by its first line."""
    if not file.is_file():
        raise InputError(f"{file}: no such file; merge= takes another grader's grades.jsonl")
    captions = b'"image_sha256"' in file.read_bytes().lstrip().partition(b"\n")[0]
    return Gradebook(file, CaptionGrade if captions else Grade)


def print_agreement(session: GradingSession, grades: list[Any]) -> None:
    """Print how far each pair of graders agrees, and what they dispute."""
    by_grader: dict[str, dict[Subject, int | None]] = {}
    for (about, grader), grade in latest_grades(grades).items():
        by_grader.setdefault(grader, {})[about] = grade.grade
    for first, second in combinations(by_grader, 2):
        print(agreement(first, second, kappa(by_grader[first], by_grader[second])))
    found = disputes(grades)
    for about in found:
        opinions = [
            f"{one_line(grader)} {WORDS[opinion]}"
            for grader, theirs in by_grader.items()
            if (opinion := theirs.get(about)) is not None
        ]
        print(f"  {one_line(about[0])[:20]}: {', '.join(opinions)}: {beginning(session, about)}")
    if found:
        print(f"next: {session.command('second_look=true')}")


def agreement(first: str, second: str, found: Kappa[Subject]) -> str:
    """Say how far two graders agree, and how far chance alone would make them agree."""
    one, other = one_line(first), one_line(second)
    if found.right is None or found.expected is None:
        return f"{one} and {other}: no answer that both graded right or wrong"
    statistic = "kappa is undefined: both gave everything the same grade"
    if found.kappa is not None:
        statistic = f"Cohen's kappa {found.kappa:.2f}"
    if found.low is not None and found.high is not None:
        statistic += f" [{found.low:.2f}, {found.high:.2f}]"
    unclear = f"; {found.unclear} left out as unclear" if found.unclear else ""
    return (
        f"{one} and {other}: the same grade on {found.agreed} of {found.n}; {statistic} "
        f"(right by {one} {found.right[0]:.0%}, by {other} {found.right[1]:.0%}; chance alone "
        f"would agree on {found.expected:.0%}){unclear}"
    )


def beginning(session: GradingSession, about: Subject) -> str:
    """Return the beginning of an answer or caption, if one of the runs has it."""
    given = session.answers.get(about) or session.captions.get(about)
    text = one_line(given.text) if given else "(none of these runs has this text)"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
