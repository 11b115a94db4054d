"""The tables of a run as Parquet: their schemas, and rows as the bytes of a file and back."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import RunError
from harness.records import Passage, Response, Score, Verdict
from harness.text import replace_surrogates

log = logging.getLogger(__name__)

VERSION = 2
"""Version of the files; increased whenever an older reader would misread them."""

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
        ("thinking", pa.string()),
        ("model", pa.string()),
        ("call", pa.string()),
        ("error", pa.string()),
    ]
)
LATER = frozenset(("thinking", "model"))
"""Columns that older files of this version lack: their values are None."""

DERIVED = ("retrieved_contexts", "retrieved_context_ids", "k_returned")
"""Columns that repeat parts of `passages`, for other tools that read the file."""

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


def read_rows(content: bytes, schema: pa.Schema, path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table, with lists as lists.

    Raises ValueError for bytes that are no table, and RunError, which names `path`, for a table of
    another version.
    """
    # Not `read_table`: it makes a dataset, which loads pandas and takes half a second.
    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            found = file.read()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from None
    version = (found.schema.metadata or {}).get(b"harness", b"none").decode()
    lacking = LATER.difference(found.schema.names)
    expected = pa.schema([column for column in schema if column.name not in lacking])
    if version != str(VERSION) or not found.schema.equals(expected):
        raise RunError(
            f"{path} was written by another version of the harness ({version}, this one "
            f"reads {VERSION}); the file is unchanged: collect under a new version=..."
        )
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def read_metadata(content: bytes) -> dict[str, str]:
    """Return the metadata of a table. Raises ValueError for bytes that are no table."""
    try:
        metadata = pq.read_schema(pa.BufferReader(content)).metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from None
    return {key.decode(): value.decode() for key, value in metadata.items()}


def rows_table(
    schema: pa.Schema, rows: list[dict[str, Any]], metadata: Mapping[str, str] | None = None
) -> bytes:
    """Return the content of a table with exactly this schema."""
    stamped = schema.with_metadata({"harness": str(VERSION), **(metadata or {})})
    sink = pa.BufferOutputStream()
    pq.write_table(arrow_table(rows, stamped), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def records_table(
    schema: pa.Schema, records: Iterable[Verdict | Score], metadata: Mapping[str, str]
) -> bytes:
    """Return the content of a table of records, whose fields are the columns."""
    # Not `asdict`: it copies each value, which takes ten times as long.
    rows = [{name: getattr(record, name) for name in schema.names} for record in records]
    return rows_table(schema, rows, metadata)


def arrow_table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return the rows as a table.

    They are converted by way of JSON, as `from_pylist` and `pa.array` load pandas, which takes
    half a second. Lone surrogates are replaced, as UTF-8 cannot encode them; NaN and infinity are
    refused with a ValueError.
    """
    from pyarrow import json as arrow_json

    if not rows:
        return schema.empty_table()
    # Not `json.dumps`: with options it makes a new encoder for each row.
    encode = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, default=lambda number: number.item()
    ).encode
    text = replace_surrogates("\n".join(map(encode, rows))).encode()
    return arrow_json.read_json(
        pa.BufferReader(text),
        arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    ).replace_schema_metadata(schema.metadata)


def response_row(response: Response) -> dict[str, Any]:
    """Return a response as a row of `responses.parquet`."""
    row = asdict(response)
    if (text := response.response) is not None and replace_surrogates(text) != text:
        log.warning(
            "question '%s': the answer contains a lone surrogate (a truncated emoji?), which is "
            "replaced by U+FFFD",
            response.question_id,
        )
    for passage in response.passages:
        if not isinstance(passage.text, str):
            raise RunError(
                f"question '{response.question_id}': passage '{passage.id}' has no text; "
                "a system must return text, never null"
            )
    row["passages"] = [asdict(passage) for passage in response.passages]
    row["retrieved_contexts"] = [passage.text for passage in response.passages]
    row["retrieved_context_ids"] = [passage.id for passage in response.passages]
    row["k_returned"] = response.k_returned
    return row


def response_from(row: Mapping[str, Any]) -> Response:
    """Return the response of a row of `responses.parquet`."""
    kept = {key: value for key, value in row.items() if key not in DERIVED}
    return Response(**{**kept, "passages": tuple(Passage(**p) for p in row["passages"])})
