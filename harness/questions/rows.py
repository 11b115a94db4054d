"""The lines of a file that a person wrote: read, and named where they are wrong."""

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
"""Columns of a CSV whose cells hold JSON, each with what may stand there."""


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
    lines = enumerate(read_text(file).split("\n"), start=1)
    return [json_row(line, f"{file}:{number}") for number, line in lines if line.strip()]


def json_row(line: str, where: str) -> Row:
    """Return the object that a line holds."""
    try:
        values = json.loads(line, object_pairs_hook=no_double_keys)
    except ValueError as error:
        raise InputError(f"{where}: not a JSON object on one line ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected a JSON object, found {type(values).__name__}")
    return Row(values, where)


def read_csv_rows(file: Path) -> list[Row]:
    """Return each row as text, but JSON in the cells that hold more than text.

    Only an empty cell is missing: 'None', 'NA' and 'null' are answers like any other.
    """
    rows = []
    text = read_text(file)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter(text))
    for record in reader:
        row = Row(
            {key: cell for key, cell in record.items() if cell != ""}, f"{file}:{reader.line_num}"
        )
        if None in record or None in record.values():
            raise row.wrong("the row and the header differ in their number of cells")
        for key in sorted(row.values.keys() & EXAMPLES.keys()):
            cell = str(row.values[key])
            try:
                # spreadsheets write TRUE and FALSE
                row.values[key] = json.loads(cell.lower() if key == "answerable" else cell)
            except ValueError:
                raise row.wrong(f"the cell '{key}' must hold JSON: {EXAMPLES[key]}") from None
        rows.append(row)
    return rows


def delimiter(text: str) -> str:
    r"""Return what parts the cells: spreadsheets of many locales write semicolons or tabs.

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
    """Build an object, refusing a key that stands twice (JSON would keep the last)."""
    double = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if double:
        raise ValueError(f"the key '{double[0]}' stands twice")
    return dict(pairs)
