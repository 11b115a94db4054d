"""A judge model that follows a script, and an embedder that knows a few vectors."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from harness.errors import EndpointError
from harness.judge import Case, ChatJudge
from harness.llm import Calls, Chat, Completion, Embedder, Request, Role
from harness.records import Floats

Script = Callable[[Request], "str | Completion"]


def completion(text: str, finish_reason: str = "stop", reasoning: str | None = None) -> Completion:
    return Completion(text, finish_reason, 100, 50, 0.01, reasoning=reasoning)


def given(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request asks about."""
    users = [m.content for m in request.messages if m.role == "user"]
    objects = [text for text in users if text.startswith("{")]
    return dict(json.loads(objects[-1]))


def honest(request: Request) -> str:
    """Answer in the right form: the claims are the sentences, and containment entails."""
    asked = given(request)
    if "claims" in asked:
        rows = [
            {"id": c["id"], "reason": "r", "verdict": _held(c["claim"], asked["text"])}
            for c in asked["claims"]
        ]
        return json.dumps({"verdicts": rows})
    if "passages" in asked:
        rows = [
            {"id": p["id"], "reason": "r", "verdict": _useful(asked["reference"], p["passage"])}
            for p in asked["passages"]
        ]
        return json.dumps({"verdicts": rows})
    if "question" in asked:
        claims = [part + "。" for part in asked["text"].split("。") if part]
        return json.dumps({"claims": claims}, ensure_ascii=False)
    return json.dumps({"question": asked["text"] + "?", "reason": "r", "noncommittal": False})


def _held(claim: str, text: str) -> str:
    return "entailed" if claim in text else "unknown"


def _useful(reference: str, passage: str) -> str:
    return "useful" if reference in passage else "not_useful"


@dataclass
class ScriptedChat(Chat):
    """Replies what a function makes of the request; logs what it was asked."""

    model: str = "scripted"
    script: Script = honest
    asked: list[Request] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.model

    def identity(self) -> dict[str, object]:
        return {"model": self.model}

    async def ask(self, request: Request, calls: Calls) -> Completion:
        self.asked.append(request)
        reply = self.script(request)
        return completion(reply) if isinstance(reply, str) else reply


@dataclass
class Directions(Embedder):
    """Gives known texts their vector, and all others the first axis."""

    known: dict[str, Sequence[float]] = field(default_factory=dict)
    broken: bool = False

    @property
    def label(self) -> str:
        return "directions"

    def identity(self) -> dict[str, object]:
        return {"embedder": "directions"}

    def embed(self, texts: Sequence[str], role: Role, calls: Calls) -> Floats:
        if self.broken:
            raise EndpointError("embedder: no answer")
        return np.array([self.known.get(text, (1.0, 0.0)) for text in texts], np.float64)


CASE = Case(
    question_id="q1",
    repeat=0,
    question="塔有多高？",
    response="塔高27公尺。塔為白色。",
    reference="塔高27公尺。",
    passages=("塔高27公尺。", "休館日為週一。"),
)


@pytest.fixture
def calls() -> Calls:
    return Calls(None)


@pytest.fixture
def case() -> Case:
    return CASE


@pytest.fixture
def other(case: Case) -> Callable[..., Case]:
    """Return the case with some of its fields changed."""
    return lambda **changes: replace(case, **changes)


@pytest.fixture
def chat_judge() -> Callable[..., ChatJudge]:
    """Return a judge whose model follows a script."""

    def build(script: Script = honest, **settings: Any) -> ChatJudge:
        settings.setdefault("language", "zh_hant")
        settings.setdefault("strictness", 1)
        settings.setdefault("embedder", Directions())
        return ChatJudge(chat=ScriptedChat(script=script), **settings)

    return build
