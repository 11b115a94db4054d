"""A language model as judge, behind any chat endpoint."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from omegaconf import MISSING

from harness.errors import ConfigError, EndpointError
from harness.judge.asking import JudgeRequest, ask_until_read, status_of
from harness.judge.call_estimate import PlannedCall, Terms, planned_calls
from harness.judge.checks import Case, CheckKind, CustomCheck
from harness.judge.claims import tidy
from harness.judge.contract import Judge
from harness.judge.jobs import Job, JobAnswer
from harness.judge.prompt import inputs, language, prompt, prompt_for
from harness.judge.reply import UnreadableReply, read_reply
from harness.llm import (
    Calls,
    Chat,
    Completion,
    Embedder,
    RecordedEmbedder,
    Request,
    Role,
    estimate_tokens,
)
from harness.records import Floats, Label, Status

LABELS: Mapping[CheckKind, Mapping[str, int]] = {
    CheckKind.ENTAILMENT: {
        "entailed": Label.ENTAILED,
        "contradicted": Label.CONTRADICTED,
        "unknown": Label.UNKNOWN,
    },
    CheckKind.USEFULNESS: {"useful": Label.ENTAILED, "not_useful": Label.UNKNOWN},
}
"""The words of a verdict and their label codes."""

CLAIM_LENGTH = 400
REASON_LENGTH = 500
"""Characters; several times what a prompt asks for. They stop a model that repeats itself."""


def schema(job: Job) -> dict[str, Any]:
    """Return the JSON schema of the reply to a job. It is shared: do not modify it.

    >>> schema(Job(CheckKind.USEFULNESS, items=("a", "b")))["properties"]["verdicts"]["maxItems"]
    2
    """
    return _schema(job.kind, job.labels, job.custom.labels if job.custom else ())


@lru_cache(maxsize=256)
def _schema(kind: CheckKind, items: int, custom_labels: tuple[str, ...]) -> dict[str, Any]:
    if kind is CheckKind.CLAIMS:
        return _object({"claims": {"type": "array", "items": _string(CLAIM_LENGTH)}})
    if kind is CheckKind.REVERSE_QUESTION:
        return _object(
            {
                "question": _string(CLAIM_LENGTH),
                "reason": _string(REASON_LENGTH),
                "noncommittal": {"type": "boolean"},
            }
        )
    if kind is CheckKind.CUSTOM_CHECK:
        words = {"type": "string", "enum": list(custom_labels)}
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


RULES = 1
"""Incremented whenever a change here, in `claims` or in `asking` may change a label."""

WARMTH = 0.3
"""Least temperature where several reverse questions are asked for: at 0 all would be the same
question. Other evaluators use the same value."""

TOKENS_A_LABEL = 160
"""Tokens for one numbered reason and verdict."""


@dataclass
class ChatJudge(Judge):
    """Asks a chat model; the reverse questions are compared by an embedder."""

    chat: Chat = MISSING
    embedder: Embedder = MISSING
    language: str = "en"
    """Of the prompts: en, ja, zh_hant or zh_hans; should be that of the test set."""
    strictness: int = 3
    """Number of reverse questions for each response; one call where the endpoint supports that."""
    batch_passages: bool = False
    """Judge all passages of a question for usefulness in one call: cheaper, but the passages are
    then seen together."""
    reply_tokens: int = 1024
    """Least token limit of a reply; give more to a model that thinks before it answers."""
    name: str = field(default="", metadata={"factor": False})
    """The text of the judge column; empty takes the model's name."""

    @property
    def label(self) -> str:
        return self.name or self.chat.label

    @property
    def samples(self) -> int:
        if self.strictness < 1:
            raise ConfigError(f"judge.strictness must be 1 or more (got {self.strictness})")
        return self.strictness

    @property
    def batches(self) -> bool:
        return self.batch_passages

    @property
    def _warmth(self) -> float:
        return WARMTH if self.samples > 1 else 0.0

    def identity(self) -> dict[str, object]:
        code = language(self.language)
        names = [*CheckKind, "repair"]
        return {
            "judge": "chat",
            "rules": RULES,
            "language": code,
            "prompts": {str(name): prompt(code, name).sha256 for name in names},
            "strictness": self.samples,
            "reverse_questions_at": self._warmth,
            "batch_passages": self.batch_passages,
            "reply_tokens": self.reply_tokens,
            "chat": self.chat.identity(),
            "embedder": self._embedder_identity(),
        }

    def _embedder_identity(self) -> dict[str, object]:
        """Return that of the embedder without the processor, which changes a similarity by 0.0001.

        Raises ConfigError for a recording: it has no vectors of a judge's questions.
        """
        if isinstance(self.embedder, RecordedEmbedder):
            raise ConfigError(
                "judge.embedder cannot be recorded: a recording holds no vectors of the judge's "
                "questions; choose embedder@judge.embedder=e5 or openai"
            )
        return {k: v for k, v in self.embedder.identity().items() if k != "processor"}

    def planned_calls(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        custom: Collection[CustomCheck] = (),
    ) -> list[list[PlannedCall]]:
        terms = Terms(self.chat, self.request_for, self._cached_answers, self.samples, self.batches)
        return planned_calls(terms, cases, checks, calls, custom)

    def answer(
        self, jobs: Sequence[Job], calls: Calls, tick: Callable[[], None]
    ) -> list[JobAnswer]:
        requests = [self.request_for(job) for job in jobs]
        answers = ask_until_read(self.chat, requests, calls, tick)
        return self._with_similarities(jobs, answers, calls)

    def _cached_answers(self, jobs: Sequence[Job], calls: Calls) -> list[JobAnswer]:
        requests = [self.request_for(job) for job in jobs]
        return ask_until_read(self.chat, requests, calls, lambda: None)

    def request_for(self, job: Job) -> JudgeRequest:
        """Return the request for a job, and how its reply is read."""
        code = language(self.language)
        wording = prompt_for(code, job)
        form = schema(job)
        request = Request(
            messages=wording.messages(inputs(job)),
            schema=form,
            max_tokens=max(self.reply_tokens, _room(job)),
            sample=job.sample,
            least_temperature=self._warmth if job.kind is CheckKind.REVERSE_QUESTION else 0.0,
        )

        def read(completion: Completion) -> JobAnswer:
            ids = range(1, job.labels + 1) if job.kind in LABELS else None
            reply = read_reply(completion.text, form, ids)
            return replace(_answer_to(job, reply, wording.example_text), call=completion.call)

        def repair(error: str) -> str:
            return prompt(code, "repair").instructions.replace("{error}", error)

        return JudgeRequest(request, read, repair)

    def _with_similarities(
        self, jobs: Sequence[Job], answers: Sequence[JobAnswer], calls: Calls
    ) -> list[JobAnswer]:
        """Return the answers, each reverse question with its cosine to the question asked."""
        places = [
            place
            for place, (job, answer) in enumerate(zip(jobs, answers, strict=True))
            if job.kind is CheckKind.REVERSE_QUESTION and answer.texts
        ]
        if not places:
            return list(answers)
        texts = [jobs[place].question for place in places]
        texts += [answers[place].texts[0] for place in places]
        compared = list(answers)
        try:
            vectors = self.embedder.embed(texts, Role.QUERY, calls)
        except EndpointError as error:
            for place in places:
                lost = replace(answers[place], error=status_of(error), reasons=(), note=str(error))
                compared[place] = lost
            return compared
        cosines = _cosines(vectors[: len(places)], vectors[len(places) :])
        for place, cosine in zip(places, cosines, strict=True):
            compared[place] = (
                replace(answers[place], error=Status.ZERO_VECTOR)
                if np.isnan(cosine)
                else replace(answers[place], similarity=float(cosine))
            )
        return compared


def _answer_to(job: Job, reply: Any, example: str) -> JobAnswer:
    """Return the answer that a valid reply gives."""
    if job.kind is CheckKind.CLAIMS:
        return tidy(reply["claims"], job.text, example)
    if job.kind is CheckKind.REVERSE_QUESTION:
        question = reply["question"].strip()
        if not question:
            raise UnreadableReply("question is empty", Status.JUDGE_INCOMPLETE)
        return JobAnswer((question,), (int(reply["noncommittal"]),), reasons=(reply["reason"],))
    if job.custom is not None:
        return JobAnswer(
            labels=(int(reply["verdict"] == job.custom.counts),), reasons=(reply["reason"],)
        )
    rows = reply["verdicts"]
    return JobAnswer(
        labels=tuple(int(LABELS[job.kind][row["verdict"]]) for row in rows),
        reasons=tuple(row["reason"] for row in rows),
    )


def _room(job: Job) -> int:
    """Return the number of tokens that a reply may need."""
    if job.kind is CheckKind.CLAIMS:
        return 2 * estimate_tokens(job.text)
    return TOKENS_A_LABEL * job.labels


def _cosines(left: Floats, right: Floats) -> Floats:
    """Return the cosine of each pair of rows; nan where a vector is zero."""
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = (left * right).sum(axis=1)
    cosines: Floats = np.full(len(left), np.nan)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines
