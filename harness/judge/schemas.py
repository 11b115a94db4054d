"""The form of each reply, as a JSON schema, and the labels it may hold."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from harness.judge.cases import Job, Kind
from harness.records import Label

LABELS: Mapping[Kind, Mapping[str, int]] = {
    Kind.ENTAILMENT: {
        "entailed": Label.ENTAILED,
        "contradicted": Label.CONTRADICTED,
        "unknown": Label.UNKNOWN,
    },
    Kind.USEFULNESS: {"useful": Label.ENTAILED, "not_useful": Label.UNKNOWN},
}
"""The words of a verdict, and what they count as."""

CLAIM_LENGTH = 400
REASON_LENGTH = 500
"""Characters; several times what a prompt asks for. They end a model that repeats itself."""


def schema(job: Job) -> dict[str, Any]:
    """Return the form of the reply to a job. Shared by many: not to be written into.

    >>> schema(Job(Kind.USEFULNESS, items=("a", "b")))["properties"]["verdicts"]["maxItems"]
    2
    """
    return _schema(job.kind, job.labels, job.own.labels if job.own else ())


@lru_cache(maxsize=256)
def _schema(kind: Kind, items: int, own_labels: tuple[str, ...]) -> dict[str, Any]:
    if kind is Kind.CLAIMS:
        return _object({"claims": {"type": "array", "items": _string(CLAIM_LENGTH)}})
    if kind is Kind.REVERSE_QUESTION:
        return _object(
            {
                "question": _string(CLAIM_LENGTH),
                "reason": _string(REASON_LENGTH),
                "noncommittal": {"type": "boolean"},
            }
        )
    if kind is Kind.OWN_CHECK:
        words = {"type": "string", "enum": list(own_labels)}
        return _object({"reason": _string(REASON_LENGTH), "verdict": words})
    verdict = _object(
        {
            "id": {"type": "integer", "minimum": 1, "maximum": items},
            "reason": _string(REASON_LENGTH),
            "verdict": {"type": "string", "enum": list(LABELS[kind])},
        }
    )
    verdicts = {"type": "array", "minItems": items, "maxItems": items, "items": verdict}
    return _object({"verdicts": verdicts})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _string(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}
