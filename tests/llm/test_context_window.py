"""No silent truncation: what does not fit is an error, before or after sending."""

from collections.abc import Callable

import pytest

from harness.errors import ContextOverflowError
from harness.llm import Calls, Completion, Message, OpenAIChat, Request
from harness.llm.context_window import check_after, check_before, check_ended
from tests.stub_endpoint import Reply, StubEndpoint

LONG = Request((Message("user", "麻疹疫情" * 1500),))
"""6,000 characters, so about 6,000 tokens and at least 2,400."""


def test_prompt_beyond_the_window_is_refused_before_sending(
    calls: Calls, chat_at: Callable[..., OpenAIChat]
) -> None:
    """3,200 characters, 600 of instructions and the reply exceed 4,096 tokens."""
    prompt = Request((Message("system", "x1 " * 300), Message("user", "麻疹" * 1600)))
    with StubEndpoint() as stub:
        chat = chat_at(stub, context=4096)
        with pytest.raises(ContextOverflowError, match=r"takes about \d{4} tokens.*holds 4096"):
            chat.complete(prompt, calls)

        assert stub.received == []
        assert calls.sent == 0


def test_room_for_the_reply_counts() -> None:
    """A prompt fits or not depending on how long the reply may be."""
    request = Request((Message("user", "麻疹" * 45),))

    check_before(request, room=100, context=200, model="m")
    with pytest.raises(ContextOverflowError, match="reply up to 120"):
        check_before(request, room=120, context=200, model="m")


def test_unknown_window_is_not_checked() -> None:
    """Without a stated window nothing is refused."""
    check_before(LONG, room=None, context=None, model="m")


@pytest.mark.parametrize("window", [2048, 2000, 1500])
def test_cut_prompt_is_found_out(
    calls: Calls, chat_at: Callable[..., OpenAIChat], window: int
) -> None:
    """A server that reads 2,048 of 6,000 tokens and answers 200 has truncated the prompt."""
    with StubEndpoint("fine", window=window) as stub:
        with pytest.raises(ContextOverflowError, match=f"read {window} tokens of a prompt"):
            chat_at(stub).complete(LONG, calls)

        assert calls.size().calls == {}


def test_two_servers_ways_come_to_the_same(
    calls: Calls, chat_at: Callable[..., OpenAIChat]
) -> None:
    """A 400 that mentions the context length is an overflow like a truncated prompt."""
    refusal = Reply(status=400, error="This model's maximum context length is 2048 tokens")
    with StubEndpoint(refusal) as stub:
        with pytest.raises(ContextOverflowError, match=r"2048.*prompt takes about 6004 tokens"):
            chat_at(stub).complete(LONG, calls)

        assert len(stub.received) == 1


def test_divided_window_is_found_out(calls: Calls, chat_at: Callable[..., OpenAIChat]) -> None:
    """Four parallel slots leave each prompt a quarter of the window; the token count shows it."""
    with StubEndpoint("fine", window=8192) as alone, StubEndpoint("fine", window=2048) as shared:
        assert chat_at(alone).complete(LONG, calls).text == "fine"
        with pytest.raises(ContextOverflowError):
            chat_at(shared).complete(LONG, calls)


def test_full_known_window_counts_as_cut() -> None:
    """A prompt that fills the stated window to the last token was truncated."""
    with pytest.raises(ContextOverflowError):
        check_after(LONG, reported=5000, context=5000, model="m")


@pytest.mark.parametrize("reported", [None, 0, 6000, 3900, 2500])
def test_plausible_counts_pass(reported: int | None) -> None:
    """No count, or one that some tokenizer may come to, does not show a truncation."""
    check_after(LONG, reported, context=8192, model="m")


def test_round_count_is_no_sign_where_the_window_is_known_to_be_in_force() -> None:
    """4,096 tokens of about 6,000 are suspicious, unless the server was sent its window."""
    check_after(LONG, 4096, context=8192, model="m", exact=True)
    with pytest.raises(ContextOverflowError):
        check_after(LONG, 4096, context=None, model="m")


@pytest.mark.parametrize(
    ("finish", "written", "room", "cut"),
    [
        ("length", 323, 400, True),
        ("length", 0, 400, True),
        ("length", 323, None, True),
        ("length", 400, 400, False),
        ("length", None, 400, False),
        ("stop", 323, 400, False),
    ],
)
def test_a_reply_with_room_left_was_ended_by_the_window(
    finish: str, written: int | None, room: int | None, cut: bool
) -> None:
    """Where `max_tokens` was reached, or may have been, the reply is kept as truncated."""
    reply = Completion("x", finish, 189, written, 0.1)

    if cut:
        with pytest.raises(ContextOverflowError, match="reached the end of the context window"):
            check_ended(reply, room, "m")
    else:
        check_ended(reply, room, "m")
