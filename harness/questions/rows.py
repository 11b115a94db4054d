"""The rows of a file that a person wrote: read, and errors that name file and line."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError, unknown

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


def read_json_rows(file: Path) -> list[FileRow]:
    """Return the JSON object of each line; blank lines are skipped."""
    lines = enumerate(read_text(file).split("\n"), start=1)
    return [json_row(line, f"{file}:{number}") for number, line in lines if line.strip()]


def json_row(line: str, where: str) -> FileRow:
    """Return the JSON object of a line."""
    try:
        values = json.loads(line, object_pairs_hook=no_double_keys)
    except ValueError as error:
        raise InputError(f"{where}: not a JSON object on one line ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected a JSON object, found {type(values).__name__}")
    return FileRow(values, where)


def read_csv_rows(file: Path) -> list[FileRow]:
    """Return each row, with the JSON cells parsed and all others as text.

    Only an empty cell is missing: 'None', 'NA' and 'null' are texts like any other.
    """
    rows = []
    text = read_text(file)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter(text))
    for record in reader:
        row = FileRow(
            {key: cell for key, cell in record.items() if cell != ""}, f"{file}:{reader.line_num}"
        )
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


def read_text(file: Path) -> str:
    """Return a UTF-8 file's text, with or without a byte-order mark."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def no_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object; raise for a duplicate key, of which JSON would keep the last."""
    double = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if double:
        raise ValueError(f"the key '{double[0]}' occurs twice")
    return dict(pairs)
