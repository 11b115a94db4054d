"""A language model as judge, behind any chat endpoint: its questions, replies and planned calls."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from omegaconf import MISSING

from harness.errors import ConfigError, EndpointError
from harness.judge.asking import JudgeRequest, ask_until_read, status_of
from harness.judge.checks import Case, CheckKind, CustomCheck, checks_named
from harness.judge.contract import (
    Job,
    JobAnswer,
    Judge,
    PlannedCall,
    Plans,
    answer_without_judge,
    jobs_of,
)
from harness.judge.echoes import is_placeholder, repeats_example, repeats_prompt, tidy
from harness.judge.prompt import JudgePrompt, inputs, language, prompt, prompt_for
from harness.judge.reply import REPEATED, UnreadableReply, read_reply
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
from harness.records import Label, Status

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


RULES = 2
"""Incremented whenever a change here or in `asking` may change a label."""

WARMTH = 0.3
"""Least temperature where several reverse questions are asked for: at 0 all would be the same
question. Other evaluators use the same value."""

TOKENS_A_LABEL = 160
"""Tokens for one numbered reason and verdict."""

CLAIMS_OF_TEXT = 2
"""Claims that are not known yet are estimated at this many times the tokens of their text."""


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
    def _warmth(self) -> float:
        return WARMTH if self.samples > 1 else 0.0

    def identity(self) -> dict[str, object]:
        code = language(self.language)
        if isinstance(self.embedder, RecordedEmbedder):
            raise ConfigError(
                "judge.embedder cannot be recorded: a recording holds no vectors of the judge's "
                "questions; choose embedder@judge.embedder=e5 or openai"
            )
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
            # Without the processor, which changes a similarity by 0.0001.
            "embedder": {k: v for k, v in self.embedder.identity().items() if k != "processor"},
        }

    def planned_calls(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        custom: Collection[CustomCheck] = (),
    ) -> list[list[PlannedCall]]:
        """Return the calls that each case needs, estimated without making one.

        Repairs are not counted.

        Args:
            cases: The responses, all at once: identical calls have the same key.
            checks: Names of checks; those they rest on are added.
            calls: A store in mode `read`, so that no call is made.
            custom: Custom checks.
        """
        wanted = {check.name: check for check in checks_named(checks, custom)}
        plans: Plans = {}
        self.add_plans(plans, [one for one in wanted.values() if not one.claims], cases, {})
        claims = [job for job in jobs_of(plans) if job.kind is CheckKind.CLAIMS]
        known_claims = self._known_claims(claims, calls)
        answers = {job: JobAnswer(texts=(job.text,) * CLAIMS_OF_TEXT) for job in claims}
        answers |= known_claims
        self.add_plans(plans, [one for one in wanted.values() if one.claims], cases, answers)
        asked = [job for job in jobs_of(plans) if answer_without_judge(job) is None]
        requests = {job: self.request_for(job).request for job in asked}
        keys = {job: self.chat.key(request) for job, request in requests.items()}
        known = calls.known(list(keys.values()))
        rows: list[list[PlannedCall]] = [[] for _ in cases]
        for (index, name), plan in plans.items():
            rests_on = plans.get((index, wanted[name].claims or ""))
            exact = not isinstance(rests_on, tuple) or rests_on[0] in known_claims
            jobs = [job for job in (plan if isinstance(plan, tuple) else ()) if job in requests]
            groups: dict[Job, list[Job]] = {}
            for job in jobs:  # samples of one prompt are one call where the model can
                prompted = replace(job, sample=0) if self.chat.samples_at_once else job
                groups.setdefault(prompted, []).append(job)
            for samples in groups.values():
                missing = [job for job in samples if not (exact and keys[job] in known)]
                request = requests[samples[0]]
                rows[index].append(
                    PlannedCall(
                        check=name,
                        key=keys[samples[0]],
                        known=not missing,
                        prompt_tokens=request.tokens,
                        reply_tokens=len(missing) * (request.max_tokens or 0),
                        exact=exact,
                        replies=len(missing),
                    )
                )
        return rows

    def _known_claims(self, jobs: Sequence[Job], calls: Calls) -> dict[Job, JobAnswer]:
        """Return the known answers to those of the jobs whose replies are stored."""
        keys = {job: self.chat.key(self.request_for(job).request) for job in jobs}
        known = calls.known(list(keys.values()))
        stored = [job for job in jobs if keys[job] in known]
        found = zip(stored, self.answer(stored, calls, lambda: None), strict=True)
        # A failure means a reply that needs a repair, which has not been asked for yet.
        return {job: answer for job, answer in found if answer.error is not Status.JUDGE_FAILED}

    def answer(
        self, jobs: Sequence[Job], calls: Calls, tick: Callable[[], None]
    ) -> list[JobAnswer]:
        requests = [self.request_for(job) for job in jobs]
        answers = ask_until_read(self.chat, requests, calls, tick)
        return self._with_similarities(jobs, answers, calls)

    def request_for(self, job: Job) -> JudgeRequest:
        """Return the request for a job, and how its reply is read."""
        code = language(self.language)
        wording = prompt_for(code, job)
        form = schema(job)
        claims = job.kind is CheckKind.CLAIMS
        room = 2 * estimate_tokens(job.text) if claims else TOKENS_A_LABEL * job.labels
        request = Request(
            messages=wording.messages(inputs(job)),
            schema=form,
            max_tokens=max(self.reply_tokens, room),
            sample=job.sample,
            least_temperature=self._warmth if job.kind is CheckKind.REVERSE_QUESTION else 0.0,
        )

        def read(completion: Completion) -> JobAnswer:
            ids = range(1, job.labels + 1) if job.kind in LABELS else None
            reply = read_reply(
                completion.text, form, ids, lambda value: repeats_prompt(value, job, wording)
            )
            return replace(_answer_to(job, reply, wording), call=completion.call)

        def repair(error: str) -> str:
            return prompt(code, "repair").instructions.replace("{error}", error)

        return JudgeRequest(request, read, repair)

    def _with_similarities(
        self, jobs: Sequence[Job], answers: Sequence[JobAnswer], calls: Calls
    ) -> list[JobAnswer]:
        """Return the answers, each reverse question with its cosine to the question asked."""
        compared = list(answers)
        places = [
            place
            for place, (job, answer) in enumerate(zip(jobs, answers, strict=True))
            if job.kind is CheckKind.REVERSE_QUESTION and answer.texts
        ]
        if not places:
            return compared
        texts = [jobs[place].question for place in places]
        texts += [answers[place].texts[0] for place in places]
        try:
            vectors = self.embedder.embed(texts, Role.QUERY, calls)
        except EndpointError as error:
            for place in places:
                lost = replace(answers[place], error=status_of(error), reasons=(), note=str(error))
                compared[place] = lost
            return compared
        asked, given = np.split(vectors, 2)
        lengths = np.linalg.norm(asked, axis=1) * np.linalg.norm(given, axis=1)
        products = (asked * given).sum(axis=1)
        for place, product, length in zip(places, products, lengths, strict=True):
            compared[place] = (
                replace(answers[place], similarity=float(product / length))
                if length > 0
                else replace(answers[place], error=Status.ZERO_VECTOR)
            )
        return compared


def _answer_to(job: Job, reply: Any, prompt: JudgePrompt) -> JobAnswer:
    """Return the answer that a valid reply gives; raise UnreadableReply where it is an echo."""
    if job.kind is CheckKind.CLAIMS:
        return tidy(reply["claims"], job.question, job.text, prompt.example_text)
    if job.kind is CheckKind.REVERSE_QUESTION:
        question = reply["question"].strip()
        if not question:
            raise UnreadableReply("question is empty", Status.JUDGE_INCOMPLETE)
        if is_placeholder(question) or repeats_example([question], job, prompt):
            raise UnreadableReply(REPEATED, Status.JUDGE_ECHO)
        return JobAnswer((question,), (int(reply["noncommittal"]),), reasons=(reply["reason"],))
    if job.custom is not None:
        return JobAnswer(
            labels=(int(reply["verdict"] == job.custom.counts),), reasons=(reply["reason"],)
        )
    rows = reply["verdicts"]
    if repeats_example((row["reason"] for row in rows), job, prompt):
        raise UnreadableReply(REPEATED, Status.JUDGE_ECHO)
    return JobAnswer(
        labels=tuple(int(LABELS[job.kind][row["verdict"]]) for row in rows),
        reasons=tuple(row["reason"] for row in rows),
    )
