"""A collection: one variant asked every question, and the run folder that results."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.collect.plan import (
    Plan,
    QuestionRepeat,
    changed_parts,
    earlier_declarations,
    make_plan,
    plan_facts,
)
from harness.config.composition import Composition
from harness.config.paths import shown_path, user_path
from harness.config.schema import Collect, Study
from harness.errors import HarnessError, RunError
from harness.llm import Calls
from harness.llm.thinking import split_thinking
from harness.metrics.evidence import MEASURED
from harness.questions import check_places, question_line
from harness.records import Answer, Passage, Query, Response
from harness.render.notation import plain
from harness.store import Run
from harness.store.run import now, provenance
from harness.systems import Answerer, Bench, Provenance
from harness.text import single_spaced

log = logging.getLogger(__name__)

Advance = Callable[[int, int], None]
"""Called with the number of questions done and the number of questions in all."""

OF_THE_CALL = ("thinking", "input_tokens", "output_tokens", "generation_seconds", "call")
"""Columns that are kept of a reply without an answer."""

ONLY_THOUGHTS = (
    "the model did not answer: its whole reply is thinking, in the text or the server's reasoning"
    " field; raise variant.chat.max_tokens, or switch thinking or the reasoning parser off"
)


def collect(settings: Collect, how: Composition, advance: Advance) -> Run:
    """Return the finished run of one variant; questions answered before are not asked again.

    Raises RunError where the name is taken by a run with another configuration, and after
    `give_up_after` consecutive failures (the rows collected so far are kept).
    """
    plan = make_plan(settings, how)
    with plan.run.locked():
        plan = replace(plan, generation=generation(plan))
        kept = {} if settings.again else rows_answered_before(plan)
        todo = [(q, repeat) for q, repeat in plan.questions if (q.id, repeat) not in kept]
        if todo or not plan.run.finished:
            ask_and_write(plan, kept, todo, advance)
    return plan.run


def generation(plan: Plan) -> int:
    """Return how often the answers of this run are asked for again, by `again=true`.

    The answers of a damaged run are not asked for again: the cache has them.
    """
    if plan.run.finished and plan.run.damage() is not None:
        return 0
    before = plan.run.facts().get("generation", 0) if plan.run.finished else 0
    return int(before) + plan.settings.again


def rows_answered_before(plan: Plan) -> dict[tuple[str, int], Response]:
    """Return (question id, repeat) -> response of what a finished run has answered already.

    An unfinished run (failed or killed) has no `run.json` and is collected from the start: its
    model calls are cached, so that costs nothing, and two configurations can never mix.
    """
    if not plan.run.finished:
        return {}
    if changed := list(changed_parts(plan.run.facts(), plan.setup)):
        raise RunError(
            f"{shown_path(plan.run.path)} was collected with other settings "
            f"(changed: {', '.join(changed)}); give version=<label> to keep both runs, or "
            "again=true to replace the old run. To compare two values of a setting, set it on "
            "the command line (variant.top_k=6)"
        )
    return {(r.question_id, r.repeat): r for r in plan.run.responses() if r.error is None}


def ask_and_write(
    plan: Plan,
    kept: Mapping[tuple[str, int], Response],
    todo: Sequence[QuestionRepeat],
    advance: Advance,
) -> None:
    """Ask the remaining questions and write the run, or leave a finished one as it is."""
    study, started = plan.settings.study, now()
    declared = earlier_declarations(plan.run, study) if kept else study
    found = ask_system(plan, todo, advance)
    answers = found.answers
    rows = {**kept, **{(r.question_id, r.repeat): r for r in answers}}
    order = {question.id: place for place, question in enumerate(plan.testset.questions)}
    responses = sorted(rows.values(), key=lambda r: (order[r.question_id], r.repeat))
    stopped = len(answers) < len(todo) or all(r.error is not None for r in responses)
    failures = failure_summary(answers)
    if plan.run.finished and (stopped or all(r.error is not None for r in answers)):
        message = f"{shown_path(plan.run.path)} is unchanged: {failures}"
        again = plan.settings.again
        recorded = set() if again else {(r.question_id, r.repeat) for r in plan.run.responses()}
        if stopped or not {(question.id, repeat) for question, repeat in todo} <= recorded:
            raise RunError(f"{message}; fix the cause and run the same command to resume")
        log.warning("%s", message)
        return
    warn_of_bad_answers(plan.run, responses)
    warn_of_another_model(plan.run, responses, found.made_with)
    if stopped:
        plan.run.write_responses(responses)
        raise RunError(
            f"{shown_path(plan.run.path)} stopped: {failures}. The rows so far are kept; "
            "fix the cause and run the same command to resume"
        )
    if plan.settings.again and plan.run.finished:
        plan.run.set_aside()
    plan.run.replace(
        run_record(plan, responses, found, declared, started),
        responses,
        {"questions.jsonl": asked_questions(plan, responses), **found.captions},
        unchanged=kept.keys(),
    )


def run_record(
    plan: Plan,
    responses: Sequence[Response],
    found: "Asked",
    declared: Study,
    started: str,
) -> dict[str, Any]:
    """Return the content of `run.json`."""
    rows, failed = len(responses), sum(response.error is not None for response in responses)
    asked = {response.question_id for response in responses}
    return {
        **plan_facts(plan),
        "study": asdict(declared),
        "partial": len(asked) < len(plan.testset.questions),
        "generation": plan.generation,
        "made_with": found.made_with.record(),
        "models_answered": sorted({r.model for r in responses if r.model is not None}),
        **provenance(),
        "started": started,
        "ended": now(),
        "counts": {"questions": rows, "answered": rows - failed, "failed": failed},
        "calls": found.calls,
        "spent": spent(responses),
    }


def asked_questions(plan: Plan, responses: Sequence[Response]) -> bytes:
    """Return the content of the run's `questions.jsonl`: the questions that were asked."""
    asked = {response.question_id for response in responses}
    lines = [question_line(q) for q in plan.testset.questions if q.id in asked]
    return "".join(lines).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Asked:
    """What asking a system gave."""

    answers: Sequence[Response]
    made_with: Provenance
    calls: Mapping[str, int]
    """Its model calls: asked, sent and remembered; of the answers, how many came from the cache."""
    captions: Mapping[str, bytes]
    """File name -> content: the captions in its index with their pictures, for people to read."""


def ask_system(plan: Plan, todo: Sequence[QuestionRepeat], advance: Advance) -> Asked:
    """Open the system and ask it. Raises where the test set does not fit the system's corpus."""
    settings = plan.settings
    cache = user_path(settings.root) / ".cache"
    with ExitStack() as opened:
        calls = opened.enter_context(
            closing(Calls(cache, settings.cache, generation=plan.generator_calls))
        )
        bench, handover = Bench(calls, cache), plan.handover
        answerer = opened.enter_context(
            plan.system.open(bench)
            if handover is None
            else plan.system.open_on(handover.passages_for(plan.questions), bench)
        )
        check_places(plan.testset, answerer.pages, answerer.figures)
        responses = ask_questions(
            answerer, todo, plan.system.concurrency, settings.give_up_after, advance
        )
        own = answerer.provenance
        return Asked(
            answers=responses,
            made_with=own if handover is None else handover.made_with(own),
            calls={
                "asked": calls.asked,
                "sent": calls.sent,
                "remembered": calls.remembered,
                "answers": len(responses),
                "answers_cached": calls.answers_cached,
            },
            captions=caption_files(answerer, cache),
        )


def ask_questions(
    answerer: Answerer,
    todo: Sequence[QuestionRepeat],
    workers: int,
    give_up_after: int,
    advance: Advance,
) -> list[Response]:
    """Return a row for each question, in order; stop after `give_up_after` consecutive failures."""
    responses: list[Response] = []
    failed_in_a_row = 0
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for response in pool.map(partial(ask_question, answerer), todo):
                responses.append(response)
                advance(len(responses), len(todo))
                failed_in_a_row = failed_in_a_row + 1 if response.error else 0
                if failed_in_a_row >= give_up_after:
                    pool.shutdown(cancel_futures=True)
                    break
        except KeyboardInterrupt:
            log.warning("waiting for the requests in flight; press Ctrl-C again to exit now")
            raise
    return responses


def ask_question(answerer: Answerer, query: QuestionRepeat) -> Response:
    """Return the system's answer to one question, or its failure, as a row."""
    question, repeat = query
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
        check_answer(answer)
        thought, text = split_thinking(answer.text)
    except HarnessError as error:
        return replace(row, error=single_spaced(str(error)))
    except Exception as error:
        log.exception("question '%s' raised an unexpected exception", question.id)
        return replace(row, error=f"{type(error).__name__}: {single_spaced(str(error))}")
    columns = {field.name: getattr(answer, field.name) for field in fields(answer)}
    del columns["text"]
    columns["thinking"] = "\n".join(filter(None, (answer.thinking, thought))) or None
    if columns["thinking"] and not text.strip():
        return replace(row, error=ONLY_THOUGHTS, **{name: columns[name] for name in OF_THE_CALL})
    return replace(row, response=text, **columns)


def check_answer(answer: object) -> None:
    """Raise RunError where a system returned something else than an `Answer`."""
    what = f"the system returned {type(answer).__name__}"
    if isinstance(answer, Answer):
        if not isinstance(answer.text, str):
            what = f"the answer's text is {type(answer.text).__name__}, not str"
        elif not all(isinstance(passage, Passage) for passage in answer.passages):
            what = "not every passage of the answer is a Passage"
        else:
            return
    raise RunError(f"{what}; return Answer(text, passages), of harness.records")


def failure_summary(responses: Sequence[Response]) -> str:
    """Say how many questions failed, with the error of the last one."""
    failed = [r for r in responses if r.error is not None]
    last = f"; question '{failed[-1].question_id}': {failed[-1].error}" if failed else ""
    return f"{len(failed)} of {len(responses)} questions asked failed{last}"


def warn_of_bad_answers(run: Run, responses: Sequence[Response]) -> None:
    """Warn of answers that were truncated or are empty."""
    if cut := sum(response.cut for response in responses):
        log.warning(
            "%s: %d of %d answers were truncated at the token limit; metrics that depend on them "
            "are NA; raise variant.chat.max_tokens or enlarge the model's context window",
            run.name, cut, len(responses),
        )  # fmt: skip
    if empty := sum(r.response is not None and not r.response.strip() for r in responses):
        log.warning("%s: %d of %d answers are empty", run.name, empty, len(responses))


def warn_of_another_model(run: Run, responses: Sequence[Response], made_with: Provenance) -> None:
    """Warn where the server says that another model answered than the one requested."""
    if others := made_with.other_models(response.model for response in responses):
        log.warning(
            "%s: %s was requested, but the server says that %s answered; check base_url, model "
            "and how the server routes requests",
            run.name, made_with.generator, ", ".join(others),
        )  # fmt: skip


def from_cache(facts: Mapping[str, Any]) -> str:
    """Return how many answers of a run came from the cache; empty for none, and for a recording.

    >>> from_cache({"made_with": {}, "calls": {"answers": 13, "answers_cached": 13}})
    '; 13 of 13 answers came from the cache'
    """
    calls, notes = facts["calls"], Provenance.from_record(facts["made_with"]).notes
    if not calls.get("answers_cached") or "recorded" in notes:
        return ""
    return f"; {calls['answers_cached']} of {calls['answers']} answers came from the cache"


def spent(responses: Sequence[Response]) -> dict[str, Any]:
    """Return tokens and seconds over all responses; None for what no response reports."""
    values = {n: [v for r in responses if (v := getattr(r, n)) is not None] for n in MEASURED}
    return {name: sum(known) if known else None for name, known in values.items()}


def caption_files(answerer: Answerer, cache: Path) -> dict[str, bytes]:
    """Return file name -> content: the caption of each figure in the index, with its picture."""
    if not answerer.captions:
        return {}
    files, rows, page = {}, [], ["# Captions of the figures in the index\n"]
    for caption in answerer.captions:
        picture = f"figures/{caption.image_sha256[:16]}.png"
        files[picture] = (cache / "figures" / f"{caption.image_sha256}.png").read_bytes()
        rows.append(json.dumps({**asdict(caption), "picture": picture}, ensure_ascii=False))
        page.append(
            f"## {caption.figure}\n\nPage {caption.page}, by {caption.captioner}\n\n"
            f"![]({picture})\n\n{plain(caption.text)}\n"
        )
    texts = {"captions.jsonl": "\n".join(rows) + "\n", "captions.md": "\n".join(page)}
    return files | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
