"""Grading: serve the page, or read, write, merge and compare grades as files."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.analysis.statistics.kappa import Kappa, kappa
from harness.config.composition import Composition
from harness.config.paths import shown_path, user_path
from harness.config.schema import GradeSettings, Study
from harness.errors import ConfigError, InputError
from harness.files import input_path, write_whole
from harness.grade.session import (
    GradingSession,
    check_grader,
    open_session,
    prospects,
    warn_of_model_grades,
)
from harness.grade.sheet import read_table, table, unrecorded_rows
from harness.questions import (
    CaptionGrade,
    Gradebook,
    Subject,
    disputes,
    latest_grades,
    subject_of,
)
from harness.questions.grades import G
from harness.records import Grade
from harness.render.notation import one_line, plain
from harness.text import shortened

if TYPE_CHECKING:
    from harness.analysis.results import CorrectedDifference
    from harness.grade.desk import Desk
    from harness.grade.evidence_pages import EvidencePages

log = logging.getLogger(__name__)

WORDS = {1: "right", 0: "wrong"}
MOST_CHANGES = 6
"""Changes whose prospect the page shows."""
LONGEST = 70
"""Characters of an answer in the list of disputes."""


def grade(settings: GradeSettings, how: Composition) -> None:
    """Do the one thing that the settings ask for: the page, unless a file is named."""
    from harness.judge import language
    from harness.studies.loaded_study import report_language

    of_study = language(settings.study.language)
    settings = replace(settings, language=report_language(settings.language, of_study))
    tasks: dict[str, Callable[[GradingSession, Path], None]] = {
        "merge": merge_grades,
        "read": read_grades,
        "write": write_grades,
    }
    chosen = [name for name in tasks if getattr(settings, name)]
    if len(chosen) > 1:
        raise ConfigError(f"{'= and '.join(chosen)}= exclude each other: give one at a time")
    session = open_session(settings, how)
    if not chosen:
        serve_page(session)
    for name in chosen:
        tasks[name](session, user_path(getattr(settings, name)))
    session.chosen.check()


def serve_page(session: GradingSession) -> None:
    """Serve the page until it is stopped, then print how many items are graded."""
    from harness.grade.server import listening, page_on, site

    check_grader(session)
    desks, settings = make_desks(session), session.settings
    files = site(list(desks), settings.language, settings.study.language)
    with listening(settings.port) as opened:
        server, link = page_on(opened, desks, files)
        print(f"grade here: {link}\n(this computer only; Ctrl-C stops)", flush=True)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[opened])
    for kind, desk in desks.items():
        count = f"{len(desk.queue.graded)} of {len(desk.queue.order)}"
        print(f"{kind}: {count} graded by {session.grader}")
    print(f"next: {session.how.command('report')}")


def make_desks(session: GradingSession) -> "dict[str, Desk[Any]]":
    """Return a desk for each kind of thing there is to grade: answers, captions."""
    from harness.analysis.results import Prospect
    from harness.grade.desk import AnswerDesk, CaptionDesk, Queue

    policy, grader = session.settings.policy, session.grader
    desks: dict[str, Desk[Any]] = {}
    if session.answers:
        current = {about: answer.edition for about, answer in session.answers.items()}
        again = second_looks(session, session.grades)
        draws, rows = prospects(session)
        queue = Queue(session.grades, session.answers, grader, policy, again, current, draws)
        pages = corpus_pages(session.settings.study)
        order = [row for kind in Prospect for row in rows if row.prospect is kind]
        prospect = [prospect_slots(row) for row in order[:MOST_CHANGES]]
        desks["answers"] = AnswerDesk(queue, session.answers, pages, prospect)
    if session.captions:
        again = second_looks(session, session.caption_grades)
        captions = Queue(session.caption_grades, session.captions, grader, policy, again)
        desks["captions"] = CaptionDesk(captions, session.captions)
    if not desks:
        raise InputError("the runs have no answer and no caption: there is nothing to grade")
    return desks


def prospect_slots(row: "CorrectedDifference") -> dict[str, Any]:
    """Return what the page says of one change: which sentence, and what fills its slots."""
    from harness.analysis.findings import value_text

    left, right = value_text(row.change.left), value_text(row.change.right)
    return {
        "prospect": row.prospect,
        "change": plain(f"{row.change.factor} {left} → {right}"),
        "needed": row.needed,
        "equal": row.questions - row.changed,
        "questions": row.questions,
    }


def corpus_pages(study: Study) -> "EvidencePages":
    """Return the pages of the corpus; if its files are missing, grading works without them."""
    from harness.grade.evidence_pages import EvidencePages
    from harness.sources import named_files

    try:
        paths = [str(input_path(path)) for path in study.corpus]
        return EvidencePages(named_files(paths, study.follow_links))
    except InputError as error:
        log.warning("no pictures of pages: %s", error)
        return EvidencePages({})


def second_looks(session: GradingSession, book: Gradebook[G]) -> tuple[Subject, ...]:
    """Return what graders disagree on, if a second look is asked for."""
    grades = session.current_grades(book.read())  # warns of outdated grades in any case
    return disputes(grades) if session.settings.second_look else ()


def read_grades(session: GradingSession, file: Path) -> None:
    """Add the grades of a table to the test set's grades."""
    if not file.is_file():
        raise InputError(f"{file}: no such file; read= takes a .csv")
    if file.suffix != ".csv":
        raise InputError(
            f"{file}: read= takes a .csv; write the template with write=grades.csv and fill in "
            "its column 'grade'; merge= takes a grades.jsonl"
        )
    grades = read_table(file, session.grades.read(), session.grader)
    others = sorted({one_line(new.grader) for new in grades} - {session.grader})
    if others and session.settings.grader is not None:
        raise InputError(
            f"{file}: its column 'grader' says {', '.join(others)} beside new grades, but grader="
            f"{session.grader} is given; correct the column, or leave grader= out"
        )
    warn_of_model_grades(session, grades)
    session.current_grades(grades)  # warns of outdated grades
    session.grades.add(grades)
    unknown = sum(subject_of(new) not in session.answers for new in grades)
    note = f"; {unknown} of them for answers that none of these runs has" if unknown else ""
    print(f"{len(grades)} new grades added to {shown_path(session.grades.path)}{note}")
    print(f"next: {session.how.command('report')}")


def write_grades(session: GradingSession, file: Path) -> None:
    """Write answers and grades as a table."""
    if file.suffix != ".csv":
        raise ConfigError(f"write={file.name}: give a name that ends in .csv")
    known = session.grades.read()
    if file.exists() and (count := unrecorded_rows(file, known, session.grader)):
        raise ConfigError(
            f"{shown_path(file)} is not overwritten: {count} of its rows have grades or notes that "
            f"are not recorded yet. Give another name, or add the rows that have a grade first: "
            f"{session.how.command('grade', f'read={shown_path(file)}')}"
        )
    draws, _ = prospects(session)
    text = table(session.answers, session.current_grades(known), session.grader, draws)
    write_whole(file, text.encode("utf-8-sig", "replace"))
    print(f"{shown_path(file)}: write 1, 0 or unclear into the column 'grade', then")
    print(f"next: {session.how.command('grade', f'read={shown_path(file)}')}")


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
    print_agreement(session, session.current_grades(book.read()))


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
        print(agreement_sentence(first, second, kappa(by_grader[first], by_grader[second])))
    found = disputes(grades)
    for about in found:
        opinions = [
            f"{one_line(grader)} {WORDS[opinion]}"
            for grader, theirs in by_grader.items()
            if (opinion := theirs.get(about)) is not None
        ]
        print(f"  {one_line(about[0])[:20]}: {', '.join(opinions)}: {beginning(session, about)}")
    if found:
        print(f"next: {session.how.command('grade', 'second_look=true')}")


def agreement_sentence(first: str, second: str, found: Kappa) -> str:
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
    return shortened(text, LONGEST)
