"""How runs came about and what judging them took, as their records tell, for the page."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.account import toll
from harness.store import Run

if TYPE_CHECKING:
    from harness.render.html import RunRecord


def made_of(run: Run, judge: str | None) -> "RunRecord":
    """Return how a run came about, as far as its record tells."""
    from harness.render.html import RunRecord

    facts = run.facts()
    factors = facts["factors"]
    counts, calls, spent = (facts.get(key) or {} for key in ("counts", "calls", "spent"))
    behind = {v.call for v in run.verdicts(judge) if v.call} if judge is not None else set()
    return RunRecord(
        run=run.name,
        settings={**factors["choices"], **factors["leaves"]},
        inactive=frozenset(factors["inactive"]),
        facts=record(facts),
        packages=facts.get("packages") or {},
        corpus=facts.get("corpus") or {},
        numbers={
            "questions": counts.get("questions"),
            "failed": counts.get("failed"),
            "asked": calls.get("asked"),
            "sent": calls.get("sent"),
            "remembered": calls.get("remembered"),
            "verdict_calls": len(behind),
            **{name: spent.get(name) for name in SPENT},
        },
        command=command_of(facts),
    )


SPENT = ("retrieval_seconds", "generation_seconds", "input_tokens", "output_tokens")


def record(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands behind a run as texts, leaving out what is not recorded."""
    made = facts["made_with"]
    models = made.get("models") or {}
    commit = facts.get("git_commit")
    testset = facts.get("testset") or {}
    told = {
        "generator": made.get("generator"),
        **{name: told_of(models.get(name)) for name in ("chat", "embedder", "captioner")},
        "prompt": made.get("prompt_sha256"),
        "index": told_of(made.get("index")),
        "testset": f"{testset.get('name', '')} {facts.get('testset_fingerprint', '')}".strip(),
        "commit": f"{commit} *" if commit and facts.get("git_dirty") else commit,
        "machine": told_of(facts.get("machine")),
        "started": facts.get("started"),
        "ended": facts.get("ended"),
    }
    return {name: str(text) for name, text in told.items() if text}


def told_of(value: object) -> str:
    """Return a record as one line: `key value` pairs; nothing where there is none.

    >>> told_of({"embedder": "e5", "weights": None}), told_of(None)
    ('embedder e5', '')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {told_of(one)}" for key, one in value.items() if one is not None)
    return "" if value is None else str(value)


def flat(record: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Return a nested record as dotted keys with texts.

    >>> flat({"judge": "chat", "chat": {"model": "m", "seed": None}})
    {'judge': 'chat', 'chat.model': 'm'}
    """
    found: dict[str, str] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{key}.")
        elif value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            found[before + key] = text
    return found


def judge_of(runs: Sequence[Run], judge: str) -> dict[str, str]:
    """Return what shaped a judge's labels, and what its evaluations of these runs took."""
    records = [record for run in runs for record in run.evaluations() if record["judge"] == judge]
    return flat(runs[0].judges().get(judge, {})) | flat(toll(records))


def command_of(facts: Mapping[str, Any]) -> str:
    """Return the command that collects a run again."""
    return shlex.join(["python", "-m", "harness.collect", *facts.get("overrides", ())])
