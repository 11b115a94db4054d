"""The page for a browser, with the details that it reads from the run folders."""

import base64
import io
import json
import logging
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.files import write_whole
from harness.metrics.evidence import MEASURED
from harness.store import Run
from harness.studies.loaded_study import LoadedStudy
from harness.systems import Provenance

if TYPE_CHECKING:
    from harness.render import StudyFacts
    from harness.render.html import RunRecord, ShownFigure

log = logging.getLogger(__name__)

LONGEST_SIDE = 640
"""Pixels of a picture on the page; the run folder keeps the original."""

QUALITY = 60
"""Of a picture's compression, in percent."""


def write_page(folder: Path, study: LoadedStudy, facts: "StudyFacts", language: str) -> Path:
    """Write `index.html` and return its path."""
    from harness.render.html import Details, html_page

    named = {run.name: run for run in study.runs}
    shown = [named[summary.name] for summary in study.analysis.runs]
    rows, judge, words = study.rows, study.judge, " ".join(facts.overrides)
    details = Details(
        questions=tuple(rows.questions),
        responses={run.name: tuple(rows.responses[run.name]) for run in shown},
        verdicts={
            run.name: tuple(v for v in rows.verdicts[run.name] if v.judge == judge) for run in shown
        },
        scores={
            run.name: tuple(s for s in rows.scores[run.name] if s.judge in (None, judge))
            for run in shown
        },
        pictures=figures(shown),
        records=tuple(run_record(run, judge) for run in shown),
        judge=judge_record(shown, judge),
        commands=tuple(f"python -m harness.{each} {words}".strip() for each in ("study", "report")),
    )
    file = folder / "index.html"
    page = html_page(study.analysis, facts, details, language)
    write_whole(file, page.encode("utf-8", "replace"))
    return file


def figures(runs: Sequence[Run]) -> tuple["ShownFigure", ...]:
    """Return the captioned figures of the runs, each once, with all its captions."""
    from harness.render.html import ShownFigure

    found: dict[str, ShownFigure] = {}
    shrunk: dict[str, tuple[str, int, int] | None] = {}
    for run in runs:
        for row in run.captions():
            figure, image = row["figure"], row["image_sha256"]
            if image not in shrunk:
                shrunk[image] = thumbnail(run.file(row["picture"]))
            if (drawn := shrunk[image]) is not None:
                new = ShownFigure(figure, row["document"], row["page"], *drawn)
                known = found.setdefault(figure, new)
                captions = dict.fromkeys((*known.captions, (row["captioner"], row["text"])))
                found[figure] = replace(known, captions=tuple(captions))
    return tuple(found.values())


def thumbnail(picture: bytes | None) -> tuple[str, int, int] | None:
    """Return a picture reduced for the page as a data URI, with its size in pixels.

    None if it is missing or cannot be read: the page then shows the caption alone.
    """
    from PIL import Image, UnidentifiedImageError

    if picture is None:
        return None
    try:
        with Image.open(io.BytesIO(picture)) as opened:
            image = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        log.warning("a figure is left out of the page: %s", error)
        return None
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    out = io.BytesIO()
    image.save(out, "WEBP", quality=QUALITY, method=6)
    data = base64.b64encode(out.getvalue()).decode()
    return f"data:image/webp;base64,{data}", image.width, image.height


def run_record(run: Run, judge: str) -> "RunRecord":
    """Return how a run was made, as far as `run.json` says."""
    from harness.render.html import RunRecord

    facts = run.facts()
    factors = facts["factors"]
    counts, calls, spent = (facts.get(key) or {} for key in ("counts", "calls", "spent"))
    return RunRecord(
        run=run.name,
        settings={**factors["choices"], **factors["leaves"]},
        inactive=frozenset(factors["inactive"]),
        facts=record_lines(facts),
        packages=facts.get("packages") or {},
        corpus=facts.get("corpus") or {},
        numbers={
            "questions": counts.get("questions"),
            "failed": counts.get("failed"),
            **{name: calls.get(name) for name in ("asked", "sent", "remembered")},
            "verdict_calls": len({v.call for v in run.verdicts(judge) if v.call}),
            **{name: spent.get(name) for name in MEASURED},
        },
        command=shlex.join(["python", "-m", "harness.collect", *facts.get("overrides", ())]),
    )


def record_lines(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return models, prompt, index, code and times of a run as texts; what is unknown is absent."""
    made = Provenance.from_record(facts["made_with"])
    commit = facts.get("git_commit")
    testset = facts.get("testset") or {}
    lines = {
        "generator": made.generator,
        **{name: record_text(made.models.get(name)) for name in ("chat", "embedder", "captioner")},
        "prompt": made.prompt_sha256,
        "index": record_text(made.record().get("index")),
        "testset": f"{testset.get('name', '')} {facts.get('testset_fingerprint', '')}".strip(),
        "commit": f"{commit} *" if commit and facts.get("git_dirty") else commit,
        "machine": record_text(facts.get("machine")),
        "started": facts.get("started"),
        "ended": facts.get("ended"),
    }
    return {name: str(text) for name, text in lines.items() if text}


def record_text(value: object) -> str:
    """Return a record as one line of `key value` pairs; empty if there is none.

    >>> record_text({"embedder": "e5", "weights": None}), record_text(None)
    ('embedder e5', '')
    """
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} {record_text(one)}" for key, one in value.items() if one is not None
        )
    return "" if value is None else str(value)


def judge_record(runs: Sequence[Run], judge: str) -> dict[str, str]:
    """Return the settings of a judge, and what its evaluations of these runs took."""
    totals = evaluation_totals(judge_evaluations(runs, judge))
    return flat(runs[0].judges().get(judge, {})) | flat(totals)


def judge_evaluations(runs: Sequence[Run], judge: str) -> list[dict[str, Any]]:
    """Return the evaluation records of these runs that are of a judge."""
    return [record for run in runs for record in run.evaluations() if record["judge"] == judge]


def evaluation_totals(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of calls and repairs over evaluation records, each record counted once.

    A record covers all runs of its evaluation and is stored with each of them.

    >>> one = {"ended": "12:00", "runs": ["a", "b"], "calls": {"sent": 4}, "repairs": {"fresh": 1}}
    >>> evaluation_totals([one, one])
    {'evaluations': 1, 'calls': {'sent': 4}, 'repairs': {'fresh': 1}, 'reply_formats': {}}
    """
    found = {json.dumps(record, sort_keys=True): record for record in records}.values()
    parts = ("calls", "repairs", "reply_formats")
    totals: dict[str, Counter[str]] = {part: Counter() for part in parts}
    for record in found:
        for part, total in totals.items():
            # which keeps sums of 0, unlike `+`; older records have no `reply_formats`
            total.update(record.get(part, {}))
    return {"evaluations": len(found), **{part: dict(total) for part, total in totals.items()}}


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
