"""Finished runs written by hand, and a judge's model that answers in good faith.

`article(folder)` writes 48 answers of the article's shape: six variants, eight questions, four or
eight passages, two variants with equal passages and two whose answers are alike.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.questions import fingerprint, question_line
from harness.records import Passage, Question, Response
from harness.store import Run

VARIANTS = ("text_k4", "text_k8", "caption_k4", "ctx_k4", "ctx_k8", "ctx_k8_strict")


def write_run(
    path: Path, questions: Sequence[Question], responses: Sequence[Response], **leaves: object
) -> Run:
    """Write a run as collecting leaves it."""
    run = Run(path)
    run.write_responses(responses)
    run.write_text("questions.jsonl", "".join(map(question_line, questions)))
    run.finish(
        {
            "name": path.name,
            "variant": path.name,
            "version": None,
            "factors": {"choices": {}, "leaves": dict(leaves), "inactive": []},
            "corpus_fingerprint": "c",
            "testset_fingerprint": fingerprint(questions),
            "study": {"primary": []},
            "testset": {"name": "written", "questions": len(questions)},
            "partial": False,
            "overrides": [],
            "made_with": {"notes": [], "generator": "written", "models": {}},
            "ended": "2026-11-30T00:00:00+00:00",
        }
    )
    return run


def article(folder: Path, questions: int = 8, variants: Sequence[str] = VARIANTS) -> list[Run]:
    """Write the six runs into `folder`; more questions make a larger study of the same shape."""
    asked = [
        Question(f"q{n}", f"第{n}題：{n}號塔有多高？", f"{n}號塔高{20 + n}公尺。", "text")
        for n in range(1, questions + 1)
    ]
    return [
        write_run(
            folder / variant,
            asked,
            [response(variant, question) for question in asked],
            contents=variant.partition("_")[0],
            top_k=int(variant.split("_")[1][1:]),
            strict=variant.endswith("strict"),
        )
        for variant in variants
    ]


def response(variant: str, question: Question) -> Response:
    """Return what a variant answered: the right height, and a sentence of its own."""
    contents, k, *strict = variant.split("_")
    texts = [passage(question, "text", rank) for rank in range(8)]
    captions = [passage(question, "caption", rank) for rank in range(4)]
    ranked = {"text": texts, "caption": captions, "ctx": captions + texts}[contents]
    said = {"text": f"塔為白色，見{k}。", "caption": "塔為紅色。", "ctx": "塔為紅白兩色。"}[
        contents
    ]
    return Response(
        question_id=question.id,
        repeat=0,
        user_input=question.question,
        reference=question.reference,
        source=question.source,
        response=f"{question.reference}{'依資料所述。' if strict else said}",
        passages=tuple(ranked[: int(k[1:])]),
        k_requested=int(k[1:]),
        corpus_size=400,
    )


def passage(question: Question, origin: str, rank: int) -> Passage:
    """Return a passage of some 500 characters; those at rank 0 and 2 hold the answer."""
    said = question.reference if rank in (0, 2) else f"{question.id}的休館日為週{rank}。"
    filler = "".join(f"{origin}{rank}第{n}句說明沿岸的潮汐與霧日。" for n in range(22))
    name = f"tower.pdf#{rank + 1}.{origin}.{question.id}"
    return Passage(name, "tower.pdf", rank + 1, origin, said + filler)


def honest(asked: dict[str, Any]) -> str:
    """Return a reply in the right form to the object that a judge's prompt ends with.

    Claims are sentences; what a text holds it entails, and of the rest a hash decides, as it does
    of the custom check `cites_policy`.
    """
    if "response" in asked:
        named = "names_it" if chance(asked["response"]) < 0.5 else "names_none"
        return json.dumps({"reason": "r", "verdict": named})
    if "claims" in asked:
        rows = [
            {"id": c["id"], "reason": "r", "verdict": held(c["claim"], asked["text"])}
            for c in asked["claims"]
        ]
        return json.dumps({"verdicts": rows})
    if "passages" in asked:
        rows = [
            {"id": p["id"], "reason": "r", "verdict": useful(asked["reference"], p["passage"])}
            for p in asked["passages"]
        ]
        return json.dumps({"verdicts": rows})
    if "question" in asked:
        claims = [part + "。" for part in asked["text"].split("。") if part]
        return json.dumps({"claims": claims}, ensure_ascii=False)
    return json.dumps({"question": asked["text"] + "?", "reason": "r", "noncommittal": False})


def held(claim: str, text: str) -> str:
    """Return a verdict: entailed where the text holds the claim."""
    if claim in text:
        return "entailed"
    return "unknown" if chance(claim + text) < 0.8 else "contradicted"


def useful(reference: str, passage_text: str) -> str:
    """Return a verdict: useful where the passage holds the reference."""
    return "useful" if reference in passage_text else "not_useful"


def chance(text: str) -> float:
    """Return a number in [0, 1) that stands for the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32


def asked_of(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the object that a judge's prompt asks about."""
    objects = [m["content"] for m in messages if m["role"] == "user" and m["content"][0] == "{"]
    found: dict[str, Any] = json.loads(objects[-1])
    return found
