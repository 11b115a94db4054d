"""Several graders: their files brought together, and how far they agree."""

from itertools import combinations
from pathlib import Path
from typing import Any

from harness.analysis.statistics.kappa import Kappa, kappa
from harness.config.paths import shown_path
from harness.errors import InputError
from harness.grade.session import Sitting, warn_of_machines
from harness.questions import CaptionGrade, Gradebook, Subject, disputed, last_words
from harness.records import Grade
from harness.render.printable import one_line

SAID = {1: "right", 0: "wrong"}
LONGEST = 70
"""Characters of an answer in the list of disputes."""


def merge(at: Sitting, file: Path) -> None:
    """Take in another grader's file, and say how far the graders agree."""
    other = gradebook(file)
    book: Gradebook[Any] = at.grades if other.kind is Grade else at.caption_grades
    grades = other.read()
    warn_of_machines(at, grades)
    new = book.merge(grades)
    print(
        f"{new} of {len(grades)} grades taken into {shown_path(book.path)}; the others were there"
    )
    compare(at, at.counting(book))


def gradebook(file: Path) -> Gradebook[Any]:
    """Return a file of grades: of answers or of captions, by what its first line says."""
    if not file.is_file():
        raise InputError(f"{file}: no such file; merge= takes another grader's grades.jsonl")
    captions = b'"image_sha256"' in file.read_bytes().lstrip().partition(b"\n")[0]
    return Gradebook(file, CaptionGrade if captions else Grade)


def compare(at: Sitting, grades: list[Any]) -> None:
    """Print how far each two graders agree, and what they dispute."""
    said: dict[str, dict[Subject, int | None]] = {}
    for (about, grader), grade in last_words(grades).items():
        said.setdefault(grader, {})[about] = grade.grade
    for first, second in combinations(said, 2):
        print(agreement(first, second, kappa(said[first], said[second])))
    found = disputed(grades)
    for about in found:
        opinions = [
            f"{one_line(grader)} {SAID[opinion]}"
            for grader, opinions in said.items()
            if (opinion := opinions.get(about)) is not None
        ]
        print(f"  {one_line(about[0])[:20]}: {', '.join(opinions)}: {beginning(at, about)}")
    if found:
        print(f"next: {at.command('second_look=true')}")


def agreement(first: str, second: str, found: Kappa[Subject]) -> str:
    """Say how far two graders agree, and what chance alone would bring."""
    one, other = one_line(first), one_line(second)
    if found.right is None or found.expected is None:
        return f"{one} and {other}: nothing that both called right or wrong"
    beyond = "kappa is undefined: both gave everything the same grade"
    if found.kappa is not None:
        beyond = f"Cohen's kappa {found.kappa:.2f}"
    if found.low is not None and found.high is not None:
        beyond += f" [{found.low:.2f}, {found.high:.2f}]"
    unclear = f"; {found.unclear} left out as unclear" if found.unclear else ""
    return (
        f"{one} and {other}: the same grade on {found.agreed} of {found.n}; {beyond} "
        f"(right by {one} {found.right[0]:.0%}, by {other} {found.right[1]:.0%}; chance alone "
        f"would agree on {found.expected:.0%}){unclear}"
    )


def beginning(at: Sitting, about: Subject) -> str:
    """Return how an answer or caption begins, where a run at hand holds it."""
    given = at.answers.get(about) or at.captions.get(about)
    text = one_line(given.text) if given else "(no run at hand holds this text)"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
