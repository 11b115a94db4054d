"""The ways in which a judge's server or model goes wrong, and what each makes unavoidable.

A fault is a function of the honest reply and of the request. It returns what comes instead, or
None where it does not apply: a reply with one item cannot come in another order. A `draft` is an
answer in the right form that is wrong: a label taken from one is counted.
"""

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.stub_endpoint import Received, Reply

Answer = dict[str, Any]
Speak = Callable[[Answer, Received], str | Reply | None]

IN_THE_REPLY = "none: the right answer is in the reply"
READ = 3
"""Requests for a cell whose replies cannot be used: the first, one repair, one fresh call."""
SENT = 6
"""Requests for a call that fails on the way: the first and five retries."""


@dataclass(frozen=True)
class Fault:
    """One fault mode."""

    kind: str
    speak: Speak
    tries: int | None = READ
    """A cell may be NA where so many requests or more were all answered by the fault. 0: no cell
    may be NA; None: any cell may."""
    why: str = "cells whose question was answered badly each of three times: 2.7 %"
    settings: tuple[str, ...] = ()
    lasts: bool = False
    """Whether a question that met the fault meets it each time it is put."""
    questions: int = 6
    """Of the study; fewer where each faulty reply takes seconds."""


def draft(answer: Answer) -> Answer:
    """Return an answer in the same form that is wrong in every part.

    >>> draft({"reason": "r", "verdict": "names_it"})["verdict"]
    'names_none'
    """
    if "verdicts" in answer:
        rows = [{**row, "verdict": OPPOSITE[row["verdict"]]} for row in answer["verdicts"]]
        return {"verdicts": rows}
    if "claims" in answer:
        return {"claims": [f"第{n}座塔高999公尺。" for n in range(len(answer["claims"]) + 1)]}
    if "verdict" in answer:
        return {**answer, "verdict": OPPOSITE[answer["verdict"]]}
    return {"question": "誰漆的？", "reason": "r", "noncommittal": not answer["noncommittal"]}


OPPOSITE = {
    "entailed": "contradicted",
    "contradicted": "entailed",
    "unknown": "entailed",
    "useful": "not_useful",
    "not_useful": "useful",
    "names_it": "names_none",
    "names_none": "names_it",
}


def written(answer: Answer) -> str:
    """Return the answer as the JSON that was asked for."""
    return json.dumps(answer, ensure_ascii=False)


def reworded(change: Callable[[str], str]) -> Speak:
    """Change the text of the honest reply."""
    return lambda answer, _: change(written(answer))


def prose(text: str) -> Speak:
    """Write a fixed text, with a draft in place of {draft} and the honest reply of {answer}."""
    return lambda answer, _: text.replace("{draft}", written(draft(answer))).replace(
        "{answer}", written(answer)
    )


def labels(change: Callable[[str], object]) -> Speak:
    """Change each label; claims have none."""

    def speak(answer: Answer, _: Received) -> str | None:
        if "verdicts" in answer:
            rows = [{**row, "verdict": change(row["verdict"])} for row in answer["verdicts"]]
            return written({"verdicts": rows})
        return (
            written({**answer, "verdict": change(answer["verdict"])}) if labelled(answer) else None
        )

    return speak


def labelled(answer: Answer) -> bool:
    """Say whether the answer is a single label."""
    return "verdict" in answer


def items(change: Callable[[list[Answer]], list[Answer]]) -> Speak:
    """Change the list of verdicts, where there is more than one."""

    def speak(answer: Answer, _: Received) -> str | None:
        rows = answer.get("verdicts", [])
        return written({"verdicts": change(rows)}) if len(rows) > 1 else None

    return speak


def whole(reply: Callable[[str], Reply]) -> Speak:
    """Send the honest text in a reply with something wrong about it."""
    return lambda answer, _: reply(written(answer))


def format_line(answer: Answer, received: Received) -> str:
    """Return the line of the instructions that shows the form."""
    return str(re.findall(r"\{.*\}", received.messages[0]["content"])[-1])


def questions(received: Received) -> list[str]:
    """Return the inputs of the worked examples, and last what is asked."""
    users = [str(turn["content"]) for turn in received.messages if turn["role"] == "user"]
    return [text for text in users if text.startswith("{")]


def worked_example(answer: Answer, received: Received) -> str | None:
    """Return the reply of the first worked example; a custom check has none."""
    return str(received.messages[2]["content"]) if len(questions(received)) > 1 else None


def correction(answer: Answer, _: Received) -> str:
    """Return a list that is wrong in its last item, which is corrected below it."""
    if "verdicts" not in answer:
        return f"{written(draft(answer))}\nCorrection: {written(answer)}"
    *rows, last = answer["verdicts"]
    slip = {"verdicts": [*rows, *draft({"verdicts": [last]})["verdicts"]]}
    return f"{written(slip)}\nCorrection: {written({'verdicts': [last]})}"


def correction_in_prose(answer: Answer, received: Received) -> str:
    """Return a list that is wrong in its last item, and a sentence that says so."""
    first = correction(answer, received).partition("\n")[0]
    return f"{first}\n\nWait, the last one is not right: it is the opposite."


def other_reply_each_time(answer: Answer, received: Received) -> str | None:
    """Stand for a fault that `bench.script` makes: the first reply is honest, later ones drafts."""
    return written(draft(answer))


@cache
def bomb() -> bytes:
    """Return a small gzip body that unpacks to 128 MB."""
    return gzip.compress(b" " * 2**27)


@cache
def flood() -> bytes:
    """Return a body of 70 MB."""
    return b'{"choices": "' + b"x" * (70 * 2**20) + b'"}'


def status(code: int, wait: str | None = None) -> Speak:
    """Refuse with a status, and say how long to wait where that is given."""
    headers = {} if wait is None else {"Retry-After": wait}
    return lambda *_: Reply(status=code, headers=headers)


SLOW = ("judge.chat.timeout=1", "judge.chat.concurrency=32")
TOO_OFTEN = "cells whose call failed each of six times: 0.07 %"


def wire(speak: Speak, *settings: str, tries: int | None = SENT, why: str = TOO_OFTEN) -> Fault:
    """Return a fault on the way: the call is sent again."""
    return Fault("transport", speak, tries, why, settings)


def too_large(speak: Speak) -> Fault:
    """Return a fault of size: few requests at a time, as each takes memory."""
    few = ("judge.chat.concurrency=2",)
    return Fault("transport", speak, SENT, TOO_OFTEN, few, questions=2)


TRANSPORT: dict[str, Fault] = {
    "429_with_retry_after": wire(status(429, "0.01")),
    "429": wire(status(429)),
    "500_with_retry_after": wire(status(500, "0.01")),
    "500": wire(status(500)),
    "503_with_retry_after": wire(status(503, "0.01")),
    "503": wire(status(503)),
    "hang": wire(lambda *_: Reply(hang=True), *SLOW),
    "connection_closed": wire(lambda *_: Reply(drop=True)),
    "body_cut": wire(whole(lambda said: Reply(said, cut=True))),
    "body_empty": wire(lambda *_: Reply(raw=b"")),
    "body_is_no_json": wire(lambda *_: Reply(raw=b'{"choices": [{"message": {"content": "')),
    "body_without_choices": wire(lambda *_: Reply(raw=b'{"choices": []}')),
    "error_with_status_200": wire(lambda *_: Reply(raw=b'{"error": {"message": "busy"}}')),
    "html_page": wire(lambda *_: Reply(raw=b"<html>busy</html>", content_type="text/html")),
    "html_page_502": wire(
        lambda *_: Reply(status=502, raw=b"<html>bad gateway</html>", content_type="text/html")
    ),
    "wrong_content_type": wire(
        whole(lambda said: Reply(said, content_type="text/plain")), tries=0, why=IN_THE_REPLY
    ),
    "redirect": wire(
        lambda *_: Reply(status=308, headers={"Location": "http://127.0.0.1:9/v1"}),
        tries=None,
        why="any: a redirect is final, and the address is given up for the other calls",
    ),
    "twice": wire(whole(lambda said: Reply(said, twice=True)), tries=0, why=IN_THE_REPLY),
    "again_when_used_again": wire(
        whole(lambda said: Reply(said, late=True)), tries=0, why=IN_THE_REPLY
    ),
    "again_after_10_ms": wire(
        whole(lambda said: Reply(said, again_after=0.01)), tries=0, why=IN_THE_REPLY
    ),
    "reply_of_70_mb": too_large(lambda *_: Reply(raw=flood())),
    "gzip_bomb": too_large(lambda *_: Reply(raw=bomb(), headers={"Content-Encoding": "gzip"})),
    "prompt_read_in_part": Fault(
        "transport",
        whole(lambda said: Reply(said, prompt_tokens=64)),
        1,
        "cells whose prompt was cut: it does not fit a second time",
        lasts=True,
    ),
    "other_model": wire(
        whole(lambda said: Reply(said, model="other-model")), tries=0, why=IN_THE_REPLY
    ),
}


def empty(speak: Speak) -> Fault:
    """Return a reply without text: there is nothing that a repair could quote."""
    return Fault("finish", speak, 2, "cells whose question got no text each of two times: 9 %")


FINISH: dict[str, Fault] = {
    "finish_length": Fault(
        "finish", whole(lambda said: Reply(said[: len(said) // 2], finish_reason="length"))
    ),
    "finish_length_looks_whole": Fault(
        "finish", lambda answer, _: Reply(written(draft(answer)), finish_reason="length")
    ),
    "content_null": empty(lambda *_: Reply(None)),
    "content_null_with_tool_calls": empty(
        lambda answer, _: Reply(
            None,
            finish_reason="tool_calls",
            message={
                "tool_calls": [
                    {
                        "id": "1",
                        "type": "function",
                        "function": {"name": "answer", "arguments": written(draft(answer))},
                    }
                ]
            },
        ),
    ),
    "content_null_with_reasoning": empty(
        lambda answer, _: Reply(None, reasoning=written(draft(answer)))
    ),
    "refusal_field": empty(lambda *_: Reply(None, message={"refusal": "I cannot help."})),
    "content_empty": empty(prose("")),
    "content_blank": empty(prose(" \n\t ")),
}


def readable(change: Callable[[str], str]) -> Fault:
    """Return a fault of form that leaves the answer readable."""
    return Fault("json", reworded(change), 0, IN_THE_REPLY)


def python_literal(said: str) -> str:
    """Return the reply as Python prints it: single quotes, True and False."""
    return repr(json.loads(said))


JSON: dict[str, Fault] = {
    "fenced": readable(lambda said: f"```json\n{said}\n```"),
    "fenced_after_prose": readable(lambda said: f"以下是結果：\n```\n{said}\n```\n"),
    "trailing_commas": readable(lambda said: said.replace("}]", "},]").replace('"}', '",}')),
    "single_quotes": readable(python_literal),
    "comments": readable(lambda said: said.replace('"reason"', '/* why */ "reason"', 1)),
    "in_a_string": readable(json.dumps),
    "the_same_twice": readable(lambda said: f"{said}\n{said}"),
    "keys_in_other_case": readable(
        lambda said: said.replace('"verdicts"', '"Verdicts"').replace('"claims"', '"CLAIMS"')
    ),
    "labels_in_other_case": Fault("json", labels(str.upper), 0, IN_THE_REPLY),
    "further_keys": readable(lambda said: '{"confidence": 0.9, ' + said[1:]),
    "control_characters": readable(
        lambda said: said.replace('"r"', '"\x1b]0;title\x07\\u0000\\u202e"')
    ),
    "turn_mark_at_the_end": readable(lambda said: f"{said}<|im_end|>"),
    "items_in_other_order": Fault("json", items(lambda rows: rows[::-1]), 0, IN_THE_REPLY),
    "ids_as_strings": Fault(
        "json",
        items(lambda rows: [{**row, "id": str(row["id"])} for row in rows]),
        0,
        IN_THE_REPLY,
    ),
    "unescaped_quotes": Fault(
        "json", reworded(lambda said: said.replace('"r"', '"it says "27", "verdict": "x" there"'))
    ),
    "cut_in_the_middle": Fault("json", reworded(lambda said: said[: len(said) // 2])),
    "two_objects": Fault("json", lambda answer, _: f"{written(draft(answer))}\n{written(answer)}"),
    "wrong_bracket": Fault("json", reworded(lambda said: f"{said[:-1].rstrip(']')}}}]")),
    "nan": Fault("json", labels(lambda _: float("nan"))),
    "nested_deep": Fault("json", prose('{"verdicts": ' + "[" * 5000)),
    "half_a_surrogate_pair": Fault(
        "json",
        lambda answer, _: (
            written(answer).replace('"r"', '"\\ud83d"') if '"r"' in written(answer) else None
        ),
    ),
    "repeats_itself": Fault(
        "json", prose('{"verdicts": [' + '{"id": 1, "reason": "' + "很" * 300_000)
    ),
    "next_turn_written": Fault(
        "json",
        lambda answer, _: (
            f"{written(answer)}<|im_end|>\n<|im_start|>assistant\n{written(draft(answer))}"
        ),
    ),
}

LABELS: dict[str, Fault] = {
    "label_outside_the_set": Fault("labels", labels(lambda _: "maybe")),
    "label_in_another_language": Fault("labels", labels(lambda _: "belegt")),
    "label_denied": Fault("labels", labels(lambda label: f"not {OPPOSITE[label]}")),
    "label_with_a_mark": Fault("labels", labels(lambda label: f"!{OPPOSITE[label]}")),
    "label_qualified": Fault("labels", labels(lambda label: f"partially {OPPOSITE[label]}")),
    "two_labels": Fault("labels", labels(lambda label: f"{label} or {OPPOSITE[label]}")),
    "label_is_a_number": Fault("labels", labels(lambda _: 1)),
    "label_is_a_truth_value": Fault("labels", labels(lambda _: True)),
    "label_is_null": Fault("labels", labels(lambda _: None)),
    "label_in_a_sentence": Fault(
        "labels", labels(lambda label: f"I would say {OPPOSITE[label]}, but I am not sure")
    ),
    "missing_item": Fault("labels", items(lambda rows: rows[:-1])),
    "extra_item": Fault("labels", items(lambda rows: [*rows, {**rows[-1], "id": len(rows) + 1}])),
    "duplicate_ids": Fault(
        "labels",
        items(lambda rows: [*rows[:-1], {**draft({"verdicts": rows})["verdicts"][0]}]),
    ),
    "ids_from_0": Fault(
        "labels", items(lambda rows: [{**row, "id": row["id"] - 1} for row in rows])
    ),
    "list_is_null": Fault("labels", lambda answer, _: written(dict.fromkeys(answer))),
}

NO_ANSWER: dict[str, Fault] = {
    "format_line_echoed": Fault("no answer", format_line),
    "worked_example_echoed": Fault("no answer", worked_example),
    "question_echoed": Fault("no answer", lambda _, received: questions(received)[-1]),
    "refused": Fault("no answer", prose("很抱歉，我無法判斷。")),
    "refused_in_english": Fault("no answer", prose("I'm sorry, but I can't assist with that.")),
    "for_example": Fault(
        "no answer", prose("I cannot judge this. For example, a reply would be: {draft}")
    ),
    "for_example_in_chinese": Fault("no answer", prose("無法判斷。回覆的例子如下：{draft}")),
    "correction_after_the_list": Fault("no answer", correction),
    "correction_in_prose": Fault("no answer", correction_in_prose),
    "correction_of_the_whole": Fault(
        "no answer",
        lambda answer, _: f"{written(draft(answer))}\nThat is wrong. Again: {written(answer)}",
    ),
    "other_reply_each_time": Fault("no answer", other_reply_each_time, 0, "none: asked only once"),
}

MARKS: Mapping[str, tuple[str, str]] = {
    "think": ("<think>", "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "no_opening": ("", "</think>"),
    "brackets": ("[THINK]", "[/THINK]"),
    "triangles": ("◁think▷", "◁/think▷"),
    "harmony": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "seed": ("<seed:think>", "</seed:think>"),
    "begin_of_thought": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "start_thinking": ("<|START_THINKING|>", "<|END_THINKING|>"),
}


def thoughts() -> dict[str, Fault]:
    """Return a draft in each kind of marks: an answer after it, none after it, never closed."""
    found = {}
    for name, (opens, closes) in MARKS.items():
        thought = f"{opens}Maybe {{draft}}? No, wait."
        after, unended = f"{thought}{closes}", f"{opens}It could be {{draft}}, but "
        found[f"thought_{name}"] = Fault("thought", prose(f"{after}{{answer}}"), 0, IN_THE_REPLY)
        found[f"thought_{name}_and_no_answer"] = Fault(
            "thought", prose(f"{after}The first one holds.")
        )
        if opens:
            found[f"thought_{name}_never_ends"] = Fault("thought", prose(unended))
    return found


MODES: dict[str, Fault] = {**TRANSPORT, **FINISH, **JSON, **LABELS, **NO_ANSWER, **thoughts()}
