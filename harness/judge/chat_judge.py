"""A language model as judge, behind any chat endpoint."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from omegaconf import MISSING

from harness.errors import ConfigError, EndpointError
from harness.judge.asking import Ask, ask_all, status_of
from harness.judge.call_estimate import Planned, Terms, planned
from harness.judge.cases import Case, Finding, Job, Kind
from harness.judge.claims import tidy
from harness.judge.contract import Judge
from harness.judge.custom_checks import CustomCheck
from harness.judge.prompt import inputs, language, prompt, wording
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


RULES = 1
"""Raised whenever a change here, in `claims` or in `asking` may change a label."""

WARMTH = 0.3
"""Least temperature where several reverse questions are asked for: at 0 they would be one question
three times, and their mean no more than the first. Other evaluators use the same."""

TOKENS_A_LABEL = 160
"""Room for one numbered reason and verdict."""


@dataclass
class ChatJudge(Judge):
    """Asks a chat model; the reverse questions are compared by an embedder."""

    chat: Chat = MISSING
    embedder: Embedder = MISSING
    language: str = "en"
    """Of the prompts: en, ja, zh_hant or zh_hans; should be the test set's."""
    strictness: int = 3
    """Reverse questions a response; several are one call where the endpoint can."""
    batch_passages: bool = False
    """Judge all passages of a question for usefulness in one call: cheaper, and each passage is
    then seen beside the others."""
    reply_tokens: int = 1024
    """Least room for a reply; more for a model that thinks before it answers."""
    name: str = field(default="", metadata={"factor": False})
    """What is written in the judge column; empty takes the model's name."""

    @property
    def label(self) -> str:
        return self.name or self.chat.label

    @property
    def samples(self) -> int:
        if self.strictness < 1:
            raise ConfigError(f"judge.strictness={self.strictness}: ask for 1 question or more")
        return self.strictness

    @property
    def batches(self) -> bool:
        return self.batch_passages

    @property
    def _warmth(self) -> float:
        return WARMTH if self.samples > 1 else 0.0

    def identity(self) -> dict[str, object]:
        spoken = language(self.language)
        names = [*Kind, "repair"]
        return {
            "judge": "chat",
            "rules": RULES,
            "language": spoken,
            "prompts": {str(name): prompt(spoken, name).sha256 for name in names},
            "strictness": self.samples,
            "reverse_questions_at": self._warmth,
            "batch_passages": self.batch_passages,
            "reply_tokens": self.reply_tokens,
            "chat": self.chat.identity(),
            "embedder": self._embedder_identity(),
        }

    def _embedder_identity(self) -> dict[str, object]:
        """Return the embedder's, but for the processor: it moves a similarity by 0.0001.

        Raises ConfigError for a recording: it holds no vectors of what a judge asks.
        """
        if isinstance(self.embedder, RecordedEmbedder):
            raise ConfigError(
                "judge.embedder cannot be recorded: a recording holds no vectors of the judge's "
                "questions; choose embedder@judge.embedder=e5 or openai"
            )
        return {k: v for k, v in self.embedder.identity().items() if k != "processor"}

    def planned(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        own: Collection[CustomCheck] = (),
    ) -> list[list[Planned]]:
        terms = Terms(self.chat, self.ask, self._remembered, self.samples, self.batches)
        return planned(terms, cases, checks, calls, own)

    def answer(self, asked: Sequence[Job], calls: Calls, tick: Callable[[], None]) -> list[Finding]:
        found = ask_all(self.chat, [self.ask(job) for job in asked], calls, tick)
        return self._compared(asked, found, calls)

    def _remembered(self, asked: Sequence[Job], calls: Calls) -> list[Finding]:
        return ask_all(self.chat, [self.ask(job) for job in asked], calls, lambda: None)

    def ask(self, job: Job) -> Ask:
        """Return the request for a job, with the reading of its reply."""
        spoken = language(self.language)
        asked = wording(spoken, job)
        form = schema(job)
        request = Request(
            messages=asked.messages(inputs(job)),
            schema=form,
            max_tokens=max(self.reply_tokens, _room(job)),
            sample=job.sample,
            least_temperature=self._warmth if job.kind is Kind.REVERSE_QUESTION else 0.0,
        )

        def read(completion: Completion) -> Finding:
            ids = range(1, job.labels + 1) if job.kind in LABELS else None
            reply = read_reply(completion.text, form, ids)
            return replace(_finding(job, reply, asked.example_text), call=completion.call)

        def repair(error: str) -> str:
            return prompt(spoken, "repair").instructions.replace("{error}", error)

        return Ask(request, read, repair)

    def _compared(
        self, asked: Sequence[Job], found: Sequence[Finding], calls: Calls
    ) -> list[Finding]:
        """Give each reverse question its cosine to the question that was asked."""
        places = [
            place
            for place, (job, finding) in enumerate(zip(asked, found, strict=True))
            if job.kind is Kind.REVERSE_QUESTION and finding.texts
        ]
        if not places:
            return list(found)
        texts = [asked[place].question for place in places]
        texts += [found[place].texts[0] for place in places]
        compared = list(found)
        try:
            vectors = self.embedder.embed(texts, Role.QUERY, calls)
        except EndpointError as error:
            for place in places:
                lost = replace(found[place], error=status_of(error), reasons=(), note=str(error))
                compared[place] = lost
            return compared
        cosines = _cosines(vectors[: len(places)], vectors[len(places) :])
        for place, cosine in zip(places, cosines, strict=True):
            compared[place] = (
                replace(found[place], error=Status.ZERO_VECTOR)
                if np.isnan(cosine)
                else replace(found[place], similarity=float(cosine))
            )
        return compared


def _finding(job: Job, reply: Any, example: str) -> Finding:
    """Return what a reply says whose form is right."""
    if job.kind is Kind.CLAIMS:
        return tidy(reply["claims"], job.text, example)
    if job.kind is Kind.REVERSE_QUESTION:
        question = reply["question"].strip()
        if not question:
            raise UnreadableReply("question is empty", Status.JUDGE_INCOMPLETE)
        return Finding((question,), (int(reply["noncommittal"]),), reasons=(reply["reason"],))
    if job.own is not None:
        return Finding(
            labels=(int(reply["verdict"] == job.own.counts),), reasons=(reply["reason"],)
        )
    rows = reply["verdicts"]
    return Finding(
        labels=tuple(int(LABELS[job.kind][row["verdict"]]) for row in rows),
        reasons=tuple(row["reason"] for row in rows),
    )


def _room(job: Job) -> int:
    """Return how many tokens a reply may well take."""
    if job.kind is Kind.CLAIMS:
        return 2 * estimate_tokens(job.text)
    return TOKENS_A_LABEL * job.labels


def _cosines(left: Floats, right: Floats) -> Floats:
    """Return the cosine of each pair of rows; nan where a vector has no direction."""
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = (left * right).sum(axis=1)
    cosines: Floats = np.full(len(left), np.nan)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines
