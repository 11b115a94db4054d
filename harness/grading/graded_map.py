"""Grades that someone kept as a map: variant -> question -> 1 or 0."""

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError, pick
from harness.provenance import now
from harness.questions import (
    Subject,
    last_words,
    question_sha256,
    read_testset,
    response_sha256,
)
from harness.questions.rows import no_double_keys, read_text
from harness.records import Grade
from harness.store import Run

log = logging.getLogger(__name__)


def read_map(
    file: Path, runs: Sequence[Run], known: Iterable[Grade], grader: str, policy: str | None
) -> list[Grade]:
    """Return the grades of a map, as grades of the texts that the runs hold now.

    What the grader said already is not said twice.

    Variants that answered alike share one grade. Where the map grades equal texts differently,
    neither is taken and a warning says so: one of them must be a slip.

    Raises InputError or UnknownNameError for a variant or question that no run has.
    """
    wanted = map_of(file)
    named = {name: run for run in runs for name in (str(run.facts()["variant"]), run.name)}
    said: dict[tuple[Subject, str], dict[str, int | None]] = defaultdict(dict)
    for variant, cells in wanted.items():
        run = pick(named, variant, f"variant in {file}")
        texts = texts_of(run)
        asked = {q.id: question_sha256(q) for q in read_testset(run.path).questions}
        for question, grade in cells.items():
            text = pick(texts, question, f"question of {variant}")
            if text is None:
                log.warning("%s: %s has no answer to %s: left out", file, variant, question)
            else:
                said[(question, response_sha256(text)), asked[question]][variant] = grade
    before = last_words(known)
    found = []
    for (about, edition), by_variant in said.items():
        grade, *others = set(by_variant.values())
        if not others:
            old = before.get((about, grader))
            if old is None or old.grade != grade:
                found.append(Grade(*about, grade, grader, now(), None, policy, edition))
        else:
            log.warning(
                "%s: %s answered %s alike and are graded differently; left out: grade it by hand",
                file,
                ", ".join(by_variant),
                about[0],
            )
    return found


def texts_of(run: Run) -> dict[str, str | None]:
    """Return question id -> the first answer to it, None where the system failed."""
    texts: dict[str, str | None] = {}
    for row in run.responses():
        texts.setdefault(row.question_id, row.response)
    return texts


def map_of(file: Path) -> Mapping[str, Mapping[str, int | None]]:
    """Return variant -> question -> grade, each value checked."""
    try:
        found: Any = json.loads(read_text(file), object_pairs_hook=no_double_keys)
    except ValueError as error:
        raise InputError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict) or not all(isinstance(cells, dict) for cells in found.values()):
        raise InputError(f'{file}: write {{"variant": {{"question": 1}}}}, with 1, 0 or null')
    for variant, cells in found.items():
        for question, grade in cells.items():
            if grade is not None and (isinstance(grade, float) or grade not in (0, 1)):
                raise InputError(
                    f"{file}: {variant}, {question}: a grade is 1, 0 or null, found {grade!r}"
                )
    return {
        variant: {q: None if grade is None else int(grade) for q, grade in cells.items()}
        for variant, cells in found.items()
    }
