"""Questions put to a system that is ready: answers and failures, as rows."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial

from harness.errors import HarnessError
from harness.records import Query, Question, Response
from harness.systems import Answerer

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
