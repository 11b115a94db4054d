"""What `harness.grade` does: serve the page, or take grades in, give them out, compare them."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config.composition import Composition
from harness.config.paths import project_path, shown_path
from harness.config.schema import Grade as Settings
from harness.errors import ConfigError, InputError, pick
from harness.files import write_whole
from harness.grade.comparison import merge
from harness.grade.desk import editions
from harness.grade.session import Sitting, check_person, sitting, warn_of_machines
from harness.grade.sheet import read_map, read_table, table
from harness.questions import Gradebook, Subject, disputed, still_meant, subject
from harness.questions.grades import G

if TYPE_CHECKING:
    from harness.grade.evidence_pages import Pages

log = logging.getLogger(__name__)


def grade(settings: Settings, how: Composition) -> None:
    """Do the one thing that is asked for."""
    from harness.render import LANGUAGES

    pick(LANGUAGES, settings.language, "language")
    tasks: dict[str, Callable[[Sitting, Path], None]] = {
        "merge": merge,
        "read": read,
        "write": write,
    }
    wanted = [name for name in tasks if getattr(settings, name)]
    if len(wanted) > 1:
        raise ConfigError(f"{'= and '.join(wanted)}= are {len(wanted)} things: one at a time")
    at = sitting(settings, how)
    if not wanted:
        open_page(at)
    for name in wanted:
        tasks[name](at, project_path(getattr(settings, name)))


def open_page(at: Sitting) -> None:
    """Serve the page until it is stopped, then say how far it came."""
    from harness.grade.page import site
    from harness.grade.server import listening, page_on

    check_person(at)
    desks, settings = desks_of(at), at.settings
    files = site(list(desks), settings.language, settings.study.language)
    with listening(settings.port) as opened:
        page = page_on(opened, desks, files)
        print(f"grade here: {page.link}\n(this computer only; Ctrl-C stops)", flush=True)
        page.serve()
    for kind, desk in desks.items():
        print(f"{kind}: {len(desk.queue.graded)} of {len(desk.queue.order)} graded by {at.grader}")
    print(f"next: python -m harness.report {at.how.study_words}")


def desks_of(at: Sitting) -> dict[str, Any]:
    """Return a desk for each kind of thing there is to grade: answers, captions."""
    from harness.grade.desk import AnswerDesk, CaptionDesk, Desk
    from harness.grade.queue import Queue

    policy = at.settings.policy
    desks: dict[str, Desk[Any]] = {}
    if at.answers:
        asked = {about: answer.edition for about, answer in at.answers.items()}
        looks = again(at, at.grades)
        queue = Queue(at.grades, list(at.answers), at.grader, policy, looks, asked)
        desks["answers"] = AnswerDesk(queue, at.answers, pages_of(at.settings.study.corpus))
    if at.captions:
        looks = again(at, at.caption_grades)
        told = Queue(at.caption_grades, list(at.captions), at.grader, policy, looks)
        desks["captions"] = CaptionDesk(told, at.captions)
    if not desks:
        raise InputError("the runs hold no answer and no caption: there is nothing to grade")
    return desks


def pages_of(corpus: Sequence[str]) -> "Pages":
    """Return the pages of the corpus; where it is not at hand, grading goes on without them."""
    from harness.grade.evidence_pages import Pages
    from harness.sources import named_files

    try:
        return Pages(named_files([str(project_path(path)) for path in corpus]))
    except InputError as error:
        log.warning("no pictures of pages: %s", error)
        return Pages({})


def again(at: Sitting, book: Gradebook[G]) -> tuple[Subject, ...]:
    """Return what graders disagree on, where a second look is asked for."""
    grades = at.counting(book)  # says what no longer counts, asked for or not
    return disputed(grades) if at.settings.second_look else ()


def read(at: Sitting, file: Path) -> None:
    """Take in a table, or a map variant -> question -> 1 or 0."""
    if not file.is_file():
        raise InputError(f"{file}: no such file; read= takes a .csv or a .json")
    if file.suffix == ".csv":
        found = read_table(file, at.grades.read(), at.grader)
    elif file.suffix == ".json":
        known = at.counting(at.grades)
        found = read_map(file, at.runs, known, at.grader, at.settings.policy)
    else:
        raise InputError(f"{file}: read= takes a .csv or a .json; merge= takes a grades.jsonl")
    warn_of_machines(at, found)
    still_meant(found, editions(at.answers.values()))  # says which of them will not count
    at.grades.add(found)
    strangers = sum(subject(new) not in at.answers for new in found)
    of_old = f"; {strangers} of answers that no run at hand holds" if strangers else ""
    print(f"{len(found)} new grades taken into {shown_path(at.grades.path)}{of_old}")
    print(f"next: python -m harness.report {at.how.study_words}")


def write(at: Sitting, file: Path) -> None:
    """Write answers and grades as a table."""
    if file.suffix != ".csv":
        raise ConfigError(f"write={file.name}: give a name that ends in .csv")
    text = table(at.answers, at.counting(at.grades), at.grader)
    write_whole(file, text.encode("utf-8-sig", "replace"))
    print(f"{shown_path(file)}: write 1, 0 or unclear into the column 'grade', then")
    print(f"next: {at.command(f'read={shown_path(file)}')}")
