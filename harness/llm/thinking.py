"""What a model thought before its answer, split off the text of its reply.

A server puts the thinking into a field of its own, or leaves it in the text, between the marks that
the model was trained on. A thought is never the answer, whatever it contains.
"""

import re

_NAME = (
    r"(?:think(?:ing)?(?:_process)?|(?:chain_of_)?thoughts?|reasoning|rationale|cot|reflection"
    r"|analysis|scratchpad|(?:inner_)?monologue)"
)
_TAG = rf"{_NAME}(?:\s+[\w-]+\s?=[^<>]{{1,80}})?\s?[|｜]?(?:[>▷＞]|&gt;)"
_OPENS = rf"(?:[<◁＜]|&lt;)(?:\w{{1,12}}[:_]|ant|[|｜])?{_TAG}"
_CLOSES = rf"(?:[<◁＜]|&lt;)[|｜]?\s?\\?[/／]\s?(?:\w{{1,12}}[:_]|ant)?{_TAG}"
_CHANNEL = r"(?:<\|start\|>assistant)?<\|channel\|>"
_FINAL = rf"{_CHANNEL}final\b[^\n]{{0,40}}?<\|message\|>"

_PAIRS = (
    (_OPENS, _CLOSES),  # <think>, <thinking>, <seed:think>, ◁think▷
    (r"\[(?:THINK|(?-i:THINKING|REASONING))\]", r"\[/(?:THINK(?:ING)?|REASONING)\]"),
    (  # <|START_THINKING|>, <|begin_of_thought|>, <|think_start|>
        rf"<[|｜](?:(?:begin|start)[_▁](?:of[_▁])?{_NAME}|{_NAME}[_▁](?:begin|start))[|｜]>",
        rf"<[|｜](?:end[_▁](?:of[_▁])?{_NAME}|{_NAME}[_▁]end)[|｜]>",
    ),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    (r"<\|channel>thought\b", r"<channel\|>"),
    (r"<unused94>(?:thought\b)?", r"<unused95>"),
    (r"\A\s*Here(?:'s| is) my thought process:", r"\n\s*Here(?:'s| is) my response:"),
    # Harmony; the second as it looks where the server leaves special tokens out.
    (
        rf"{_CHANNEL}(?:analysis|commentary)\b[^\n]{{0,80}}?<\|message\|>",
        rf"<\|(?:end|call)\|>|{_FINAL}|(?={_CHANNEL})",
    ),
    (r"\A\s*(?-i:analysis(?=\S)(?=.*assistantfinal))", r"(?-i:assistantfinal)"),
)
"""How a thought begins and ends, by family of models."""

_ENDS = [re.compile(end, re.IGNORECASE) for _, end in _PAIRS]
_BEGINS = "|".join(f"({begin})" for begin, _ in _PAIRS)
_ORPHANS = "|".join([*(end for _, end in _PAIRS[:6]), _FINAL])
"""Ends that need no beginning: some chat templates put it into the prompt."""

_STRING = r"[\[{:,]\s{0,20}\"(?:[^\"\\]|\\.)*+\"(?=\s*+(?:[,:}\]]|\Z))"
_QUOTED = rf"(?<=[`\"'“‘「])(?:{_OPENS}|{_CLOSES})(?=[`\"'”’」])"
_MENTIONED = rf"(?<=\w\s){_OPENS}\s\w{{1,6}}\s{_CLOSES}"
_MARK = re.compile(
    rf"(?P<text>{_STRING}|{_QUOTED}|{_MENTIONED})|{_BEGINS}|(?P<orphan>{_ORPHANS})",
    re.IGNORECASE | re.DOTALL,
)
_FRAME = re.compile(
    r"\A<(?:answer|output|response|\|start_(?:of_)?response\||\|begin_of_solution\|)>"
    r"|(?:</(?:answer|output|response)>|<\|(?:end_(?:of_)?(?:response|solution)|return|end)\|>)+\Z",
    re.IGNORECASE,
)


_HINTS = (
    *("think", "thought", "reasoning", "reflection", "analysis", "scratchpad", "monologue"),
    *("rationale", "cot", "inner_", "channel", "<unused9"),
)
"""Every mark contains one of these; most texts contain none, and this test is far faster."""


def split_thinking(text: str) -> tuple[str, str]:
    """Return what a model thought and what it answered.

    A text without marks of thinking is the answer, unchanged. Text before an end mark without a
    beginning is thinking, too: some chat templates put the beginning into the prompt. Thinking
    that never ends leaves no answer, even where text precedes it.
    Marks inside a JSON string or quotes, and two that a sentence mentions ("between <think> and
    </think>"), are text.

    >>> split_thinking("<think>27, or 28?</think> It is 27 m high.")
    ('27, or 28?', 'It is 27 m high.')
    >>> split_thinking("[THINK]27, or"), split_thinking("It is 27 m high. ")
    (('[THINK]27, or', ''), ('', 'It is 27 m high. '))
    """
    plain = text.lower()
    if not any(hint in plain for hint in _HINTS):
        return "", text
    thoughts: list[str] = []
    answer: list[str] = []
    at = searched = 0
    while mark := _MARK.search(text, searched):
        searched = mark.end()
        if mark["text"]:
            continue
        answer.append(text[at : mark.start()])
        if mark["orphan"]:
            thoughts.append("".join(answer))
            answer = []
        else:
            assert mark.lastindex  # the group of the family that matched, after `text`
            end = _ENDS[mark.lastindex - 2].search(text, searched)
            if end is None:
                return text.strip(), ""
            thoughts.append(text[searched : end.start()])
            searched = end.end()
        at = searched
    if not at:
        return "", text
    rest = _FRAME.sub("", "".join([*answer, text[at:]]).strip()).strip()
    return "\n".join(part.strip() for part in thoughts if part.strip()), rest
