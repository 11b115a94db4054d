"""The key of a call: a hash of everything that may change its answer."""

import hashlib
import json
from collections.abc import Mapping


def call_key(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of the content as canonical JSON.

    >>> call_key({"a": 1, "b": "x"}) == call_key({"b": "x", "a": 1})
    True
    """
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


def canonical(content: object) -> str:
    """Return the one JSON spelling of a value: keys sorted, no spaces, ASCII, no NaN."""
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
