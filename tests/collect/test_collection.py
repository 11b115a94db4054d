"""One question asked of a system: what it returns, as a row."""

import pytest

from harness.collect.collection import ask_question
from harness.records import Answer, Query, Question
from harness.systems.system import DirectAnswerer, System

QUESTION = Question("q1", "How high?", "27 metres.", "text")


class App(System):
    """A system of a user's own that replies with this text."""

    reply = ""

    def answer(self, query: Query) -> Answer:
        return Answer(self.reply, (), output_tokens=9)


@pytest.mark.parametrize(
    ("reply", "response", "thinking"),
    [
        ("<think>27?</think>It is 28 m.", "It is 28 m.", "27?"),
        ("◁think▷27?◁/think▷ 28 ", "28", "27?"),
        ("<seed:think>27?</seed:think>28", "28", "27?"),
        ("27?</think>28", "28", "27?"),
        (
            "<|channel|>analysis<|message|>27?<|end|>"
            "<|start|>assistant<|channel|>final<|message|>28",
            "28",
            "27?",
        ),
        ("<think>27?", None, "<think>27?"),
        ("[THINK]27?[/THINK] ", None, "27?"),
        (" It is 28 m.\n", " It is 28 m.\n", None),
        ("", "", None),
    ],
)
def test_thinking_is_split_off_the_answer_of_every_system(
    reply: str, response: str | None, thinking: str | None
) -> None:
    """The thought has a column of its own; a reply that is nothing else has no answer."""
    app = App()
    app.reply = reply

    row = ask_question(DirectAnswerer(app), (QUESTION, 0))

    assert (row.response, row.thinking, row.output_tokens) == (response, thinking, 9)
    assert ("is thinking" in (row.error or "")) is (response is None)
