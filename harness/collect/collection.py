"""A collection: one variant asked every question, and the run folder that results."""

import json
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.collect.plan import Plan, declared_before, described, differing, planned
from harness.config.composition import Composition
from harness.config.paths import PROJECT, project_path, shown_path
from harness.config.schema import Collect
from harness.errors import HarnessError, RunError
from harness.llm import Calls
from harness.questions import check_places, question_line
from harness.records import Query, Question, Response
from harness.store import Run
from harness.store.provenance import now, provenance
from harness.systems import Answerer, Bench

log = logging.getLogger(__name__)

Advance = Callable[[int, int], None]
"""Told how many of how many questions are done."""


def ask_all(
    answerer: Answerer,
    todo: Sequence[tuple[Question, int]],
    workers: int,
    give_up_after: int,
    advance: Advance,
) -> list[Response]:
    """Ask every question; stop early where `give_up_after` in a row fail."""
    responses: list[Response] = []
    failed_in_a_row = 0
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for response in pool.map(partial(ask, answerer), todo):
                responses.append(response)
                advance(len(responses), len(todo))
                failed_in_a_row = failed_in_a_row + 1 if response.error else 0
                if failed_in_a_row >= give_up_after:
                    pool.shutdown(cancel_futures=True)
                    break
        except KeyboardInterrupt:
            log.warning("waiting for the answers on their way; Ctrl-C once more to leave them")
            raise
    return responses


def ask(answerer: Answerer, asked: tuple[Question, int]) -> Response:
    """Return the system's answer to one question, or its failure, as a row."""
    question, repeat = asked
    row = Response(
        question_id=question.id,
        repeat=repeat,
        user_input=question.question,
        reference=question.reference,
        source=question.source,
        response=None,
    )
    try:
        answer = answerer.answer(Query(question.id, question.question, repeat))
    except HarnessError as error:
        return replace(row, error=" ".join(str(error).split()))
    except Exception as error:
        log.exception("question '%s' failed in a way that nobody foresaw", question.id)
        return replace(row, error=f"{type(error).__name__}: {' '.join(str(error).split())}")
    given = {field.name: getattr(answer, field.name) for field in fields(answer)}
    return replace(row, response=given.pop("text"), **given)


def failures(responses: Sequence[Response]) -> str:
    """Say how many questions failed, and how the last of them did."""
    failed = [r for r in responses if r.error is not None]
    last = f"; question '{failed[-1].question_id}': {failed[-1].error}" if failed else ""
    return f"{len(failed)} of {len(responses)} questions asked failed{last}"


def counts(responses: Sequence[Response]) -> dict[str, int]:
    """Return how many rows there are, answered and failed."""
    failed = sum(response.error is not None for response in responses)
    return {
        "questions": len(responses),
        "answered": len(responses) - failed,
        "failed": failed,
    }


def spent(responses: Sequence[Response]) -> dict[str, Any]:
    """Return tokens and seconds over all responses; null where none tells them."""
    names = ("input_tokens", "output_tokens", "retrieval_seconds", "generation_seconds")
    told = {n: [v for r in responses if (v := getattr(r, n)) is not None] for n in names}
    return {name: sum(values) if values else None for name, values in told.items()}


def collect(settings: Collect, how: Composition, advance: Advance) -> Run:
    """Return the finished run of one variant; what it has answered already is not asked again.

    Raises RunError where the name is taken by a run of another configuration, and where
    `give_up_after` questions in a row failed (the rows so far are kept).
    """
    plan = planned(settings, how)
    wanted, run = plan.wanted, plan.run
    with run.locked():
        if settings.again and run.finished:
            run.set_aside()
        kept = answered_before(plan)
        todo = [(q, repeat) for q, repeat in wanted if (q.id, repeat) not in kept]
        if todo or not run.finished:
            gather(plan, kept, todo, advance)
    return run


def answered_before(plan: Plan) -> dict[tuple[str, int], Response]:
    """Return what a finished run has answered already: (question, repeat) -> response.

    A run that failed or was killed left no `run.json`. It is asked anew: its model calls
    are remembered, so that costs nothing, and two configurations can never mix.
    """
    if not plan.run.finished:
        return {}
    facts = plan.run.facts()
    if changed := list(differing(facts, plan.setup)):
        raise RunError(
            f"{shown_path(plan.run.path)} was collected with other settings "
            f"(not the same: {', '.join(changed)}); give version=<label> to keep both, "
            "or again=true to set the old run aside. To compare two values of a setting, give it "
            "on the command line (variant.top_k=6)"
        )
    return {(r.question_id, r.repeat): r for r in plan.run.responses() if r.error is None}


@dataclass(frozen=True, slots=True)
class Brought:
    """What a system gave back, and what that took."""

    responses: Sequence[Response]
    made_with: dict[str, Any]
    calls: dict[str, int]


def bring(plan: Plan, todo: Sequence[tuple[Question, int]], advance: Advance) -> Brought:
    """Make the system ready and ask it; raises where the test set does not fit its corpus."""
    settings = plan.settings
    cache = project_path(settings.root) / ".cache"
    with (
        closing(Calls(cache, settings.cache)) as calls,
        opened(plan, Bench(calls, cache, PROJECT)) as answerer,
    ):
        check_places(plan.testset, answerer.pages, answerer.figures)
        fresh = ask_all(answerer, todo, plan.system.concurrency, settings.give_up_after, advance)
        called = {"asked": calls.asked, "sent": calls.sent, "remembered": calls.remembered}
        made_with = answerer.provenance
        if plan.handover is not None:
            made_with = plan.handover.made_with(made_with)
        write_captions(plan.run, answerer, cache)
    return Brought(fresh, made_with, called)


def gather(
    plan: Plan,
    kept: dict[tuple[str, int], Response],
    todo: Sequence[tuple[Question, int]],
    advance: Advance,
) -> None:
    """Ask what is left, and write the run: rows first, `run.json` last."""
    settings, started = plan.settings, now()
    declared = declared_before(plan.run, settings.study) if kept else settings.study.primary
    brought = bring(plan, todo, advance)
    fresh = brought.responses
    rows = {**kept, **{(r.question_id, r.repeat): r for r in fresh}}
    order = {question.id: place for place, question in enumerate(plan.testset.questions)}
    responses = sorted(rows.values(), key=lambda r: (order[r.question_id], r.repeat))
    stopped = len(fresh) < len(todo) or not any(r.error is None for r in responses)
    if plan.run.finished and all(r.error for r in fresh):
        said = f"{shown_path(plan.run.path)} stays as it was: {failures(fresh)}"
        if stopped or not asked_before(plan.run, todo):
            raise RunError(f"{said}; mend the cause and give the same command to go on")
        log.warning("%s", said)
        return
    warn(plan.run, responses)
    plan.run.reopen()
    plan.run.write_responses(responses)
    if stopped:
        raise RunError(
            f"{shown_path(plan.run.path)} stopped: {failures(fresh)}. The rows so far are kept; "
            "mend the cause and give the same command to go on"
        )
    asked = {response.question_id for response in responses}
    written = [question for question in plan.testset.questions if question.id in asked]
    plan.run.write_text("questions.jsonl", "".join(question_line(q) for q in written))
    plan.run.finish(
        {
            **described(plan),
            "study": asdict(replace(settings.study, primary=declared)),
            "partial": len(written) < len(plan.testset.questions),
            "made_with": brought.made_with,
            **provenance(PROJECT),
            "started": started,
            "ended": now(),
            "counts": counts(responses),
            "calls": brought.calls,
            "spent": spent(responses),
        }
    )


def warn(run: Run, responses: Sequence[Response]) -> None:
    """Warn of answers that came and are none."""
    if cut := sum(response.cut for response in responses):
        log.warning(
            "%s: %d of %d answers were cut for want of room, so nothing that rests on them is "
            "scored; raise variant.chat.max_tokens, or widen the model's window",
            run.name, cut, len(responses),
        )  # fmt: skip
    if empty := sum(r.response is not None and not r.response.strip() for r in responses):
        log.warning("%s: %d of %d answers are empty", run.name, empty, len(responses))


def asked_before(run: Run, todo: Sequence[tuple[Question, int]]) -> bool:
    """Say whether a finished run has a row, if only of a failure, for all of these."""
    rows = {(response.question_id, response.repeat) for response in run.responses()}
    return {(question.id, repeat) for question, repeat in todo} <= rows


def opened(plan: Plan, bench: Bench) -> AbstractContextManager[Answerer]:
    """Make the system ready: to retrieve, or to read what another run retrieved."""
    if plan.handover is None:
        return plan.system.open(bench)
    return plan.system.open_on(plan.handover.found(plan.wanted), bench)


def write_captions(run: Run, answerer: Answerer, cache: Path) -> None:
    """Write what the index was told about each figure, with its picture, for people to read."""
    if not answerer.captions:
        return
    rows, page = [], ["# What the index was told about the figures\n"]
    for caption in answerer.captions:
        picture = f"figures/{caption.image_sha256[:16]}.png"
        run.copy_in(cache / "figures" / f"{caption.image_sha256}.png", picture)
        rows.append(json.dumps({**asdict(caption), "picture": picture}, ensure_ascii=False))
        page.append(
            f"## {caption.figure}\n\nPage {caption.page}, by {caption.captioner}\n\n"
            f"![]({picture})\n\n{caption.text}\n"
        )
    run.write_text("captions.jsonl", "\n".join(rows) + "\n")
    run.write_text("captions.md", "\n".join(page))
