import json
import time

import pytest

from harness.llm.thinking import split_thinking

THOUGHT = 'Maybe {"verdict": 0}? No.'
MARKS = [
    ("<think>", "</think>"),
    ("<Thinking>\n", "\n</Thinking>\n"),
    ("<thought>", "</thought>"),
    ("<antThinking>", "</antThinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<think type='deep' budget=\"5\">", "</think>"),
    ("<chain_of_thought>", "</chain_of_thought>"),
    ("<COT>", "</cot>"),
    ("<think>", "<\\/think>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ("[REASONING]", "[/REASONING]"),
    ("<analysis>", "</analysis>\n<answer>"),
    ("<|think|>", "<|/think|>"),
    ("<seed:think>", "</seed:think>"),
    ("＜think＞", "＜/think＞"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|thought_begin|>", "<|thought_end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    ("<|channel|>analysis<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    (
        "<|channel|>commentary to=functions.read<|message|>",
        "<|call|><|start|>assistant<|channel|>final<|message|>",
    ),
]


@pytest.mark.parametrize(("begin", "end"), [*MARKS, ("analysis", "assistantfinal")])
def test_a_thought_is_split_off(begin: str, end: str) -> None:
    """The marks of each family of models part the thought from the answer."""
    assert split_thinking(f"{begin}{THOUGHT}{end}It is 27 m.") == (THOUGHT, "It is 27 m.")
    assert split_thinking(f"\n{begin}{THOUGHT}{end}\n\n塔高27公尺。\n") == (THOUGHT, "塔高27公尺。")
    assert split_thinking(f"{begin}{end}27 m") == ("", "27 m")


@pytest.mark.parametrize(("begin", "end"), MARKS)
def test_a_thought_that_never_ends_leaves_no_answer(begin: str, end: str) -> None:
    """Neither the thought nor what stands before it is an answer, and no text is lost."""
    assert split_thinking(begin + THOUGHT) == ((begin + THOUGHT).strip(), "")
    if not begin.startswith("Here"):
        text = f"It is 27 m. {begin}{THOUGHT}"
        assert split_thinking(text) == (text, "")


@pytest.mark.parametrize("end", ["</think>", "</seed:think>", "[/THINK]", "◁/think▷", "<unused95>"])
def test_text_before_an_end_without_a_beginning_is_thought(end: str) -> None:
    """Some chat templates put the beginning of the thought into the prompt."""
    assert split_thinking(f"{THOUGHT}\n{end}\n\n27 m") == (THOUGHT, "27 m")
    assert split_thinking(f"One. {end} Two. {end} 27 m") == ("One.\nTwo.", "27 m")


def test_several_thoughts() -> None:
    """Each thought is split off, and what stands between them is kept."""
    text = "<think>a</think>It is <think>b</think>27 m.</answer>"
    assert split_thinking(text) == ("a\nb", "It is 27 m.")
    harmony = (
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b"
    )
    assert split_thinking(f"{harmony}<|channel|>final<|message|>27 m<|return|>") == ("a\nb", "27 m")
    assert split_thinking("<|channel|>final<|message|>27 m<|return|>") == ("", "27 m")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  It is 27 m.\n",
        "I think the tower is 27 m high. [Thinking of it, 28.]",
        "Analysis: the tower is 27 m high.",
        "analysis",
        "The mark `<think>` opens it and '</think>' closes it.",
        "The reasoning stands between <think> and </think> tags.",
        "a < think > b, <thinker>, [think tank], <|im_end|>, <|end|>",
        json.dumps({"verdict": 1, "reason": "the tag <think> opens it", "by": "</think>"}),
        "```json\n" + json.dumps({"claims": ["</think> ends it.", "[THINK]"]}) + "\n```",
    ],
)
def test_a_text_without_a_thought_is_unchanged(text: str) -> None:
    """Every character is kept where nothing marks a thought, or where the mark is quoted."""
    assert split_thinking(text) == ("", text)


def test_a_mark_in_a_draft_that_is_no_json_ends_the_thought() -> None:
    """A quote that was never closed hides no mark."""
    assert split_thinking('{"reason": "dr </think>{"verdict": 1}')[1] == '{"verdict": 1}'


@pytest.mark.parametrize(
    "piece",
    [
        *(
            '{"',
            ':"',
            '{"a":"b\\"',
            "<think>a</think>",
            "<think>",
            "</think>",
            "[ ",
            "analysis",
            "<|",
        ),
        *(
            "<|channel|>analysis",
            "<|channel|>analysis<|message|>",
            "<|channel|>final",
            "\n Here",
            "_",
        ),
    ],
)
def test_time_grows_with_the_length(piece: str) -> None:
    """No text makes the search slow."""
    started = time.process_time()
    split_thinking(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 10.0
