"""Test sets and human grades, as people write them: read, checked, fingerprinted."""

import csv
import hashlib
import io
import json
import logging
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from harness.errors import InputError, pick, unknown
from harness.records import EvidencePlace, Grade, Question

log = logging.getLogger(__name__)

SOURCES = ("text", "image", "both", "none")
KEYS = tuple(field.name for field in fields(Question))
SHAPING = ("id", "question", "reference", "source", "answers", "evidence", "answerable")
"""The keys that can change a result; tags and who verified it cannot."""


@dataclass(frozen=True, slots=True)
class TestSet:
    """The questions of one file, in its order."""

    name: str
    path: Path
    questions: tuple[Question, ...]

    @property
    def fingerprint(self) -> str:
        """SHA-256 over everything in the questions that can change a result."""
        return fingerprint(self.questions)


def fingerprint(questions: Iterable[Question]) -> str:
    """SHA-256 over the questions, whatever their order in the file."""
    rows = sorted((shaping(question) for question in questions), key=lambda row: str(row["id"]))
    text = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def shaping(question: Question) -> dict[str, object]:
    """Return what of a question can change a result, ready for JSON."""
    row = asdict(question)
    return {key: row[key] for key in SHAPING}


def question_line(question: Question) -> str:
    """Return a question as a line of `questions.jsonl`."""
    row = {key: value for key, value in asdict(question).items() if value not in ((), None)}
    row["evidence"] = [
        {key: value for key, value in asdict(place).items() if value is not None}
        for place in question.evidence
    ]
    return json.dumps(row, ensure_ascii=False) + "\n"


def read_testset(path: Path) -> TestSet:
    """Read `questions.jsonl` (or `.csv`) from a file, or from the folder that holds it."""
    file = find_file(path)
    read = read_csv_rows if file.suffix == ".csv" else read_json_rows
    questions = tuple(question_from(row) for row in read(file))
    if not questions:
        raise InputError(f"{file}: the test set is empty; write one question a line")
    repeated = [name for name, count in Counter(q.id for q in questions).items() if count > 1]
    if repeated:
        raise InputError(f"{file}: question id '{repeated[0]}' stands on more than one line")
    texts = Counter(question.question for question in questions)
    for question in questions:
        if texts[question.question] > 1:
            log.warning("%s: question '%s' shares its wording with another", file, question.id)
    name = file.parent.name if file.stem == "questions" else file.stem
    return TestSet(name, file, questions)


def find_file(path: Path) -> Path:
    """Return the questions file that a path or a test set's folder stands for."""
    if path.is_file():
        return path
    for name in ("questions.jsonl", "questions.csv"):
        if (path / name).is_file():
            return path / name
    beside = path.parent if path.parent.is_dir() else None
    names = [p.name for p in beside.iterdir() if p.is_dir()] if beside else []
    raise InputError(f"no test set at {path}: " + unknown(path.name, names, "test set"))


def select(questions: Sequence[Question], ids: Sequence[str], limit: int | None) -> list[Question]:
    """Return the questions named (all where none is), the first `limit` of them."""
    table = {question.id: question for question in questions}
    chosen = [pick(table, name, "question") for name in ids] or list(questions)
    if limit is not None and limit < 1:
        raise InputError(f"limit={limit}: give 1 or more, or leave it out for every question")
    return chosen[:limit]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file that a person wrote, and where it stands."""

    values: dict[str, object]
    where: str
    """`file:line`"""

    def wrong(self, message: str) -> InputError:
        """Return the error that names this line."""
        return InputError(f"{self.where}: {message}")

    def only(self, known: Iterable[str]) -> None:
        """Raise where a key is none of these."""
        names = tuple(known)
        for key in self.values:
            if key not in names:
                raise self.wrong(unknown(key, names, "key"))

    def text(self, key: str) -> str | None:
        """Return a key's text, None where it is absent or null."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(f"'{key}' must be text, found {value!r}")
        return value

    def required(self, key: str) -> str:
        """Return a key's text, which must be there and hold more than blanks."""
        text = self.text(key)
        if text is None or not text.strip():
            found = "missing" if text is None else "empty"
            raise self.wrong(f"'{key}' is {found}; write its text")
        return text

    def items(self, key: str) -> list[object]:
        """Return a key's list, empty where it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(f"'{key}' must be a list")
        return value


def read_json_rows(file: Path) -> list[Row]:
    """Return each line's object; blank lines are passed over."""
    rows = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            values = json.loads(line, object_pairs_hook=no_double_keys)
        except ValueError as error:
            raise InputError(f"{where}: not a JSON object on one line ({error})") from None
        if not isinstance(values, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(values).__name__}")
        rows.append(Row(values, where))
    return rows


def read_csv_rows(file: Path) -> list[Row]:
    """Return each row as text, but JSON in the cells that hold more than text.

    Only an empty cell is missing: 'None', 'NA' and 'null' are answers like any other.
    """
    rows = []
    reader = csv.DictReader(io.StringIO(read_text(file), newline=""))
    for record in reader:
        row = Row(
            {key: cell for key, cell in record.items() if cell != ""}, f"{file}:{reader.line_num}"
        )
        if None in record or None in record.values():
            raise row.wrong("the row and the header differ in their number of cells")
        for key in row.values.keys() & {"answers", "evidence", "tags", "answerable"}:
            try:
                row.values[key] = json.loads(str(row.values[key]))
            except ValueError:
                raise row.wrong(f"the cell '{key}' must hold JSON") from None
        rows.append(row)
    return rows


def read_text(file: Path) -> str:
    """Return a UTF-8 file's text, with or without a byte-order mark."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def no_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object, refusing a key that stands twice (JSON would keep the last)."""
    double = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if double:
        raise ValueError(f"the key '{double[0]}' stands twice")
    return dict(pairs)


def question_from(row: Row) -> Question:
    """Return one question, or raise naming the place and the key that is wrong."""
    row.only(KEYS)
    source = row.text("source") or "text"
    if source not in SOURCES:
        raise row.wrong(unknown(source, SOURCES, "source"))
    answerable = row.values.get("answerable", True)
    if not isinstance(answerable, bool):
        raise row.wrong(f"'answerable' must be true or false, found {answerable!r}")
    return Question(
        id=row.required("id"),
        question=row.required("question"),
        reference=row.required("reference"),
        source=source,
        answers=tuple(answer_group(row, entry) for entry in row.items("answers")),
        evidence=tuple(evidence_place(row, entry) for entry in row.items("evidence")),
        answerable=answerable,
        tags=tuple(str(tag) for tag in row.items("tags")),
        verified_by=row.text("verified_by"),
        verified_on=row.text("verified_on"),
    )


def answer_group(row: Row, entry: object) -> tuple[str, ...]:
    """Return a group of accepted spellings; a lone text is a group of one."""
    group = [entry] if isinstance(entry, str) else entry
    if not isinstance(group, list) or not group:
        raise row.wrong("each group in 'answers' must list at least one accepted spelling")
    for spelling in group:
        if not isinstance(spelling, str) or not has_content(spelling):
            raise row.wrong(f"the spelling {spelling!r} in 'answers' would match anything")
    return tuple(group)


def has_content(text: str) -> bool:
    """Say whether a letter or digit of any script stands in the text."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def evidence_place(row: Row, entry: object) -> EvidencePlace:
    """Return where an answer stands: document, page, and a quote or a figure."""
    if not isinstance(entry, dict):
        raise row.wrong("each 'evidence' is an object with document, page, and quote or figure")
    place = Row(entry, row.where)
    place.only(field.name for field in fields(EvidencePlace))
    page = entry.get("page")
    if not isinstance(page, int) or isinstance(page, bool) or page < 1:
        raise row.wrong(f"'evidence' page must be 1 or more, found {page!r}")
    quote, figure = place.text("quote"), place.text("figure")
    if (quote is None) == (figure is None):
        raise row.wrong("'evidence' needs either a quote or a figure")
    return EvidencePlace(place.required("document"), page, quote, figure)


def read_grades(file: Path) -> list[Grade]:
    """Return people's verdicts, in the order they were given; none where there is no file."""
    return [grade_from(row) for row in read_json_rows(file)] if file.exists() else []


def grade_from(row: Row) -> Grade:
    """Return one grade, or raise naming the place and the key that is wrong."""
    row.only(field.name for field in fields(Grade))
    grade = row.values.get("grade")
    if grade is not None and (isinstance(grade, bool) or grade not in (0, 1)):
        raise row.wrong(f"'grade' must be 1 (right), 0 (wrong) or null (unclear), found {grade!r}")
    return Grade(
        question_id=row.required("question_id"),
        response_sha256=row.required("response_sha256"),
        grade=int(grade) if isinstance(grade, int | float) else None,
        grader=row.required("grader"),
        time=row.text("time"),
        note=row.text("note"),
        policy=row.text("policy"),
    )


def verdict_by_text(grades: Iterable[Grade]) -> dict[tuple[str, str], int]:
    """Return (question id, response hash) -> 1 right, 0 wrong, by most of the graders.

    A grader's last word counts; where graders are evenly split nothing is said.
    """
    last = {(g.question_id, g.response_sha256, g.grader): g.grade for g in grades}
    words: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (question, text, _), grade in last.items():
        if grade is not None:
            words[question, text].append(grade)
    return {
        key: int(2 * sum(given) > len(given))
        for key, given in words.items()
        if 2 * sum(given) != len(given)
    }


def response_sha256(response: str) -> str:
    """Return the key under which a person's grade of this text is kept."""
    return hashlib.sha256(response.encode("utf-8", "replace")).hexdigest()
