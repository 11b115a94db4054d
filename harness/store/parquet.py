"""The tables of a run: their columns spelled out, rows to Parquet and back."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import RunError
from harness.files import write_whole
from harness.records import Passage, Response, Score, Verdict

log = logging.getLogger(__name__)

VERSION = 2
"""Of the files at rest; raised whenever an older reader would misread them."""

PASSAGE = pa.struct(
    [
        ("id", pa.string()),
        ("document", pa.string()),
        ("page", pa.int32()),
        ("origin", pa.string()),
        ("text", pa.string()),
        ("similarity", pa.float64()),
    ]
)
RESPONSES = pa.schema(
    [
        ("user_input", pa.string()),
        ("retrieved_contexts", pa.list_(pa.string())),
        ("response", pa.string()),
        ("reference", pa.string()),
        ("question_id", pa.string()),
        ("repeat", pa.int32()),
        ("source", pa.string()),
        ("retrieved_context_ids", pa.list_(pa.string())),
        ("passages", pa.list_(PASSAGE)),
        ("k_requested", pa.int32()),
        ("k_returned", pa.int32()),
        ("corpus_size", pa.int32()),
        ("finish_reason", pa.string()),
        ("retrieval_seconds", pa.float64()),
        ("generation_seconds", pa.float64()),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("call", pa.string()),
        ("error", pa.string()),
    ]
)
DERIVED = ("retrieved_contexts", "retrieved_context_ids", "k_returned")
"""Columns that repeat what `passages` says, for tools that open the file as it is."""

VERDICTS = pa.schema(
    [
        ("judge", pa.string()),
        ("question_id", pa.string()),
        ("repeat", pa.int32()),
        ("check", pa.string()),
        ("item", pa.int32()),
        ("against", pa.int32()),
        ("text", pa.string()),
        ("label", pa.int8()),
        ("similarity", pa.float64()),
        ("reason", pa.string()),
        ("error", pa.string()),
        ("call", pa.string()),
    ]
)
SCORES = pa.schema(
    [
        ("question_id", pa.string()),
        ("repeat", pa.int32()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("units", pa.int32()),
        ("status", pa.string()),
        ("judge", pa.string()),
    ]
)


def read_rows(path: Path, schema: pa.Schema) -> list[dict[str, Any]]:
    """Return a table's rows, none where it was not written; lists come back as lists."""
    if not path.exists():
        return []
    # A dataset, which `read_table` makes of a file, loads pandas: half a second.
    try:
        with pq.ParquetFile(path) as file:
            found = file.read()
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{path} cannot be read ({error}); collect the run again") from None
    version = (found.schema.metadata or {}).get(b"harness", b"none").decode()
    if version != str(VERSION) or not found.schema.equals(schema):
        raise RunError(
            f"{path} was written by another version of the harness ({version}, this one "
            f"reads {VERSION}); it is left as it is: collect under a new version=..."
        )
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def read_metadata(path: Path) -> dict[str, str]:
    """Return what a table's file says beside its rows, nothing where it was not written."""
    try:
        metadata = (pq.read_schema(path).metadata or {}) if path.exists() else {}
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{path} cannot be read ({error}); evaluate the run again") from None
    return {key.decode(): value.decode() for key, value in metadata.items()}


def write_rows(
    path: Path,
    schema: pa.Schema,
    rows: list[dict[str, Any]],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a table as a whole or not at all, with its schema spelled out."""
    stamped = schema.with_metadata({"harness": str(VERSION), **(metadata or {})})
    sink = pa.BufferOutputStream()
    pq.write_table(arrow_table(rows, stamped), sink)
    write_whole(path, sink.getvalue().to_pybytes())


def write_records(
    path: Path,
    schema: pa.Schema,
    records: Iterable[Verdict | Score],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write records, whose fields are the columns."""
    # `asdict` copies each value, which takes ten times as long.
    rows = [{name: getattr(record, name) for name in schema.names} for record in records]
    write_rows(path, schema, rows, metadata)


def arrow_table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return the rows as a table, by way of JSON: `from_pylist` loads pandas, half a second.

    Halves of surrogate pairs are replaced: UTF-8 cannot hold them.
    """
    from pyarrow import json as arrow_json

    if not rows:
        return schema.empty_table()
    # `json.dumps` with options makes an encoder for each row.
    encode = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, default=lambda number: number.item()
    ).encode
    text = readable("\n".join(map(encode, rows))).encode()
    return arrow_json.read_json(
        pa.BufferReader(text),
        arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    ).replace_schema_metadata(schema.metadata)


def response_row(response: Response) -> dict[str, Any]:
    """Return a response as a row of `responses.parquet`."""
    row = asdict(response)
    if response.response is not None and not is_utf8(response.response):
        log.warning(
            "question '%s': the answer holds half of a character (a cut emoji, say); U+FFFD "
            "stands for it",
            response.question_id,
        )
    for passage in response.passages:
        if not isinstance(passage.text, str):
            raise RunError(
                f"question '{response.question_id}': passage '{passage.id}' has no text; "
                "a system must hand back text, never null"
            )
    row["passages"] = [asdict(passage) for passage in response.passages]
    row["retrieved_contexts"] = [passage.text for passage in response.passages]
    row["retrieved_context_ids"] = [passage.id for passage in response.passages]
    row["k_returned"] = response.k_returned
    return row


def response_from(row: Mapping[str, Any]) -> Response:
    """Return the response that a row of `responses.parquet` holds."""
    kept = {key: value for key, value in row.items() if key not in DERIVED}
    return Response(**{**kept, "passages": tuple(Passage(**p) for p in row["passages"])})


def readable(text: str) -> str:
    r"""Return a text with U+FFFD for each half of a surrogate pair that has lost its other half.

    >>> readable("ok\ud83d"), readable("\ud83d\ude00")
    ('ok�', '😀')
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_utf8(text: str) -> bool:
    """Say whether the text holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
