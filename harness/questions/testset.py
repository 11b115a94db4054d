"""A test set: its questions, read from the rows that people write, checked and fingerprinted.

An error of a row names its file and line.
"""

import csv
import io
import json
import logging
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from harness.errors import InputError, check_size, pick, unknown
from harness.records import EvidencePlace, Question
from harness.text import sha256

log = logging.getLogger(__name__)

SOURCES = ("text", "image", "both", "none")
KEYS = tuple(field.name for field in fields(Question))
SHAPING = ("id", "question", "reference", "source", "answers", "evidence", "answerable")
"""The keys that can change a result; tags and verification cannot."""
EXAMPLES = {
    "answerable": "true or false",
    "answers": '[["1974"], ["85", "eighty-five"]]',
    "evidence": '[{"document": "report", "page": 3, "quote": "..."}]',
    "tags": '["chart"]',
}
"""Columns of a CSV whose cells are JSON -> an example of their content."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file that a person wrote, and its place."""

    values: dict[str, object]
    where: str
    """`file:line`"""

    def error(self, message: str) -> InputError:
        """Return an error that names this row."""
        return InputError(f"{self.where}: {message}")

    def only(self, known: Iterable[str]) -> None:
        """Raise where a key is not one of these."""
        names = tuple(known)
        for key in self.values:
            if key not in names:
                raise self.error(unknown(key, names, "key"))

    def text(self, key: str) -> str | None:
        """Return a key's text; None if it is absent or null."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(f"'{key}' must be text, found {value!r}")
        return value

    def required(self, key: str) -> str:
        """Return a key's text, which must be present and not blank."""
        text = self.text(key)
        if text is None or not text.strip():
            found = "missing" if text is None else "empty"
            raise self.error(f"'{key}' is {found}; write its text")
        return text

    def items(self, key: str) -> list[object]:
        """Return a key's list; empty if it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.error(f"'{key}' must be a list")
        return value


@dataclass(frozen=True, slots=True)
class TestSet:
    """The questions of one file, in file order."""

    name: str
    path: Path
    questions: tuple[Question, ...]

    @property
    def fingerprint(self) -> str:
        """SHA-256 over everything in the questions that can change a result."""
        return fingerprint(self.questions)


def fingerprint(questions: Iterable[Question]) -> str:
    """SHA-256 over the questions, whatever their order in the file."""
    ordered = sorted(questions, key=lambda question: question.id)
    rows = [{key: row[key] for key in SHAPING} for row in map(asdict, ordered)]
    text = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text)


def question_line(question: Question) -> str:
    """Return a question as a line of `questions.jsonl`."""
    row = {key: value for key, value in asdict(question).items() if value not in ((), None)}
    row["evidence"] = [
        {key: value for key, value in asdict(place).items() if value is not None}
        for place in question.evidence
    ]
    return json.dumps(row, ensure_ascii=False) + "\n"


def read_testset(path: Path, largest_mb: int | None = None) -> TestSet:
    """Read `questions.jsonl` (or `.csv`) from a file, or from the folder that holds it."""
    file = find_file(path)
    check_size(file, file.stat().st_size, largest_mb)
    rows = read_csv_rows(file) if file.suffix == ".csv" else json_rows(file.read_bytes(), file)
    questions = tuple(map(read_question, rows))
    if not questions:
        raise InputError(f"{file}: the test set is empty; write one question a line")
    repeated = [name for name, count in Counter(q.id for q in questions).items() if count > 1]
    if repeated:
        raise InputError(f"{file}: question id '{repeated[0]}' occurs on more than one line")
    texts = Counter(question.question for question in questions)
    for question in questions:
        if texts[question.question] > 1:
            log.warning("%s: question '%s' has the same text as another", file, question.id)
        if (places := len(set(question.evidence))) < len(question.evidence):
            log.warning(
                "%s: question '%s' repeats a place in its evidence; it counts once (%d distinct)",
                *(file, question.id, places),
            )
    name = file.parent.name if file.stem == "questions" else file.stem
    return TestSet(name, file, questions)


def find_file(path: Path) -> Path:
    """Return the questions file of a path: the file itself, or the one in a test set's folder."""
    if path.is_file():
        return path
    for name in ("questions.jsonl", "questions.csv"):
        if (path / name).is_file():
            return path / name
    if path.is_dir():
        raise InputError(f"{path} has no questions.jsonl (or questions.csv); README has an example")
    beside = path.parent if path.parent.is_dir() else None
    names = [p.name for p in beside.iterdir() if p.is_dir()] if beside else []
    raise InputError(f"no test set at {path}: " + unknown(path.name, names, "test set"))


def select(questions: Sequence[Question], ids: Sequence[str], limit: int | None) -> list[Question]:
    """Return the questions of these ids (of all, if none is given), at most `limit` of them."""
    table = {question.id: question for question in questions}
    chosen = [pick(table, name, "question") for name in ids] or list(questions)
    if limit is not None and limit < 1:
        raise InputError(f"limit must be 1 or more (got {limit}); leave it out to use all")
    return chosen[:limit]


def read_question(row: FileRow) -> Question:
    """Return one question; raise InputError naming the place and the invalid key."""
    row.only(KEYS)
    source = row.text("source") or "text"
    if source not in SOURCES:
        raise row.error(unknown(source, SOURCES, "source"))
    answerable = row.values.get("answerable", True)
    if not isinstance(answerable, bool):
        raise row.error(f"'answerable' must be true or false, found {answerable!r}")
    answers = row.items("answers")
    if not answerable and answers:
        raise row.error("'answers' contradicts answerable=false: only a refusal is right then")
    if len(answers) > 1 and all(isinstance(entry, str) for entry in answers):
        raise row.error(
            '\'answers\' must be a list of lists: write [["85", "eighty-five"]] for two '
            'spellings of one answer, [["85"], ["1974"]] for two parts that must both appear'
        )
    return Question(
        id=row.required("id"),
        question=row.required("question"),
        reference=row.required("reference"),
        source=source,
        answers=tuple(answer_group(row, entry) for entry in answers),
        evidence=tuple(evidence_place(row, entry) for entry in row.items("evidence")),
        answerable=answerable,
        tags=tuple(str(tag) for tag in row.items("tags")),
        verified_by=row.text("verified_by"),
        verified_on=row.text("verified_on"),
    )


def answer_group(row: FileRow, entry: object) -> tuple[str, ...]:
    """Return a group of accepted spellings; a lone text is a group of one."""
    group = [entry] if isinstance(entry, str) else entry
    if not isinstance(group, list) or not group:
        raise row.error("each group in 'answers' must list at least one accepted spelling")
    for spelling in group:
        if not isinstance(spelling, str) or not any(
            unicodedata.category(character)[0] in "LN" for character in spelling
        ):  # it has no letter or digit of any script
            raise row.error(f"the spelling {spelling!r} in 'answers' would match any answer")
    return tuple(group)


def evidence_place(row: FileRow, entry: object) -> EvidencePlace:
    """Return where an answer is found: document, page, and a quote or a figure."""
    if not isinstance(entry, dict):
        raise row.error("each 'evidence' is an object with document, page, and quote or figure")
    place = FileRow(entry, row.where)
    place.only(field.name for field in fields(EvidencePlace))
    page = entry.get("page")
    if not isinstance(page, int) or isinstance(page, bool) or page < 1:
        raise row.error(f"'evidence' page must be 1 or more, found {page!r}")
    quote, figure = place.text("quote"), place.text("figure")
    if (quote is None) == (figure is None):
        raise row.error("'evidence' needs either a quote or a figure")
    return EvidencePlace(place.required("document"), page, quote, figure)


def json_rows(content: bytes, file: Path) -> list[FileRow]:
    """Return the JSON object of each line of a file's content; blank lines are skipped."""
    lines = enumerate(decoded(content, file).split("\n"), start=1)
    return [json_row(line, f"{file}:{number}") for number, line in lines if line.strip()]


def json_row(line: str, where: str) -> FileRow:
    """Return the JSON object of a line."""
    try:
        values = json.loads(line, object_pairs_hook=no_double_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a JSON object on one line ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected a JSON object, found {type(values).__name__}")
    return FileRow(values, where)


def read_csv_rows(file: Path) -> list[FileRow]:
    """Return each row, with the JSON cells parsed and all others as text.

    Only an empty cell is missing: 'None', 'NA' and 'null' are texts like any other.
    """
    rows = []
    text = decoded(file.read_bytes(), file)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter(text))
    try:
        records = [(f"{file}:{reader.line_num}", record) for record in reader]
    except csv.Error as error:
        raise InputError(f"{file}:{reader.line_num}: not a row of CSV ({error})") from None
    for where, record in records:
        row = FileRow({key: cell for key, cell in record.items() if cell != ""}, where)
        if None in record or None in record.values():
            raise row.error("the row and the header differ in their number of cells")
        for key in sorted(row.values.keys() & EXAMPLES.keys()):
            cell = str(row.values[key])
            try:
                # spreadsheets write TRUE and FALSE
                row.values[key] = json.loads(cell.lower() if key == "answerable" else cell)
            except ValueError:
                raise row.error(f"the cell '{key}' must be JSON: {EXAMPLES[key]}") from None
        rows.append(row)
    return rows


def delimiter(text: str) -> str:
    r"""Return the delimiter of the cells: spreadsheets of many locales write semicolons or tabs.

    >>> delimiter("id;question\r\nq1;a, b, c"), delimiter("id\tquestion"), delimiter("id")
    (';', '\t', ',')
    """
    header = text.partition("\n")[0]
    return max(",;\t", key=header.count)


def decoded(content: bytes, file: Path) -> str:
    """Return the text of a UTF-8 file, with or without a byte-order mark; lines end in LF."""
    try:
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def no_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object; raise for a duplicate key, of which JSON would keep the last."""
    double = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if double:
        raise ValueError(f"the key '{double[0]}' occurs twice")
    return dict(pairs)
