"""What is sent and comes back: its key, its tokens, and whether it fits the context window."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ContextOverflowError
from harness.llm import (
    Calls,
    Completion,
    Message,
    OllamaChat,
    OpenAIChat,
    RemoteChat,
    Request,
)
from harness.llm.messages import (
    cached_completion,
    check_before,
    check_ended,
    completion_payload,
    data_url,
    estimate_tokens,
    fewest_tokens,
    ignores_format,
    request_key,
)
from tests.stub_endpoint import Received, Reply, StubEndpoint

texts = st.text(st.characters(codec="utf-8"), max_size=20)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant"]),
    content=texts,
    images=st.lists(st.binary(max_size=4), max_size=2).map(tuple),
)
schemas = st.none() | st.dictionaries(texts, st.integers() | texts, max_size=2)
requests = st.builds(
    Request,
    messages=st.lists(messages, min_size=1, max_size=3).map(tuple),
    schema=schemas,
    max_tokens=st.none() | st.integers(1, 4),
    sample=st.integers(0, 2),
)
identities = st.dictionaries(
    st.sampled_from(["model", "base_url", "digest", "temperature", "seed"]),
    st.none() | texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    max_size=4,
)


@settings(deadline=None)
@given(identities, requests, st.sampled_from(["model", "digest", "seed"]), texts)
def test_any_part_of_the_identity_changes_the_key(
    identity: dict[str, object], request: Request, name: str, value: str
) -> None:
    """Another value under any name of the identity, or one more name, is another call."""
    other = {**identity, name: [value]}

    assert request_key(identity, request) != request_key(other, request)


@settings(deadline=None)
@given(requests, texts)
def test_any_field_of_the_request_changes_the_key(request: Request, text: str) -> None:
    """Changing any one field, or one of a message, changes the key."""
    first = request.messages[0]
    changed = [
        replace(request, messages=(*request.messages, Message("user", ""))),
        replace(request, messages=(replace(first, content=first.content + "x"),)),
        replace(request, messages=(replace(first, role=first.role + "x"),)),
        replace(request, messages=(replace(first, images=(*first.images, b"x")),)),
        replace(request, schema={**(request.schema or {}), text + "x": 0.5}),
        replace(request, max_tokens=(request.max_tokens or 0) + 1),
        replace(request, sample=request.sample + 1),
        replace(request, generation=request.generation + "again 1"),
    ]
    alone = replace(request, messages=(first,))

    for other in changed:
        before = alone if len(other.messages) == 1 and other.messages[0] != first else request
        assert request_key({}, before) != request_key({}, other)


def test_model_and_sampling_change_the_key() -> None:
    """Another model, temperature, maximum length or address is another key: eight in all."""
    request = Request((Message("user", "q"),))
    chat = OpenAIChat(base_url="http://one/v1", model="A")
    others = [
        chat,
        replace(chat, model="B"),
        replace(chat, temperature=1.0),
        replace(chat, max_tokens=10),
        replace(chat, base_url="http://two/v1"),
        replace(chat, seed=7),
        replace(chat, top_p=0.5),
        replace(chat, extra={"reasoning_effort": "low"}),
    ]

    assert len({other.key(request) for other in others}) == 8


def test_place_and_pace_leave_the_key() -> None:
    """Concurrency and time-outs do not change the replies, so they are not in the key."""
    request = Request((Message("user", "q"),))
    chat = OpenAIChat(base_url="http://one/v1", model="A")
    other = replace(chat, base_url="http://one/v1/", concurrency=1, timeout=1.0, context=4096)

    assert chat.key(request) == other.key(request)


def test_key_is_the_same_in_every_process() -> None:
    """The key holds no memory address and no salted hash."""
    program = (
        "from harness.llm import *; "
        "print(OpenAIChat(model='A').key(Request((Message('user', '塔', (b'x',)),), {'a': 1})))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }

    assert len(keys) == 1


def test_completion_from_the_cache(calls: Calls) -> None:
    """A completion from the cache is the same, but marked as cached."""
    completion = Completion("塔", "stop", 5, 1, 0.5, "k", reasoning="because")
    calls.put("k", "chat", completion_payload(completion))
    kept = calls.get_many(["k"]).get("k")
    assert kept is not None

    assert cached_completion("k", kept) == replace(completion, remembered=True)


def test_data_url_names_the_kind_of_image(tmp_path: Path) -> None:
    """An image is sent with its own media type."""
    assert data_url(b"\xff\xd8\xff") == "data:image/jpeg;base64,/9j/"
    assert data_url(b"\x89PNG").startswith("data:image/png;")
    assert data_url(b"GIF89a").startswith("data:image/gif;")
    assert data_url(b"RIFF\0\0\0\0WEBP").startswith("data:image/webp;")


PARAGRAPH = (
    "The measles surveillance report of week 48 lists 27 imported cases, most of them among "
    "travellers who returned from areas with ongoing outbreaks; no deaths were reported."
)


def test_chinese_counts_a_token_a_character() -> None:
    """3,200 Chinese characters are at least 3,200 tokens, and not 800."""
    assert estimate_tokens("麻疹" * 1600) >= 3200


@pytest.mark.parametrize(
    "text", ["霧日最多為四月", "デング熱の報告数", "홍역 환자", "１９３１年", "𠮷野家"]
)
def test_every_east_asian_script_counts_in_full(text: str) -> None:
    """Kana, Hangul, full-width digits and rare ideographs count one token a character too."""
    assert estimate_tokens(text) >= len(text.replace(" ", ""))


def test_english_is_near_its_true_count() -> None:
    """The paragraph takes 34 tokens by cl100k_base: estimated above, but within a half."""
    assert 34 <= estimate_tokens(PARAGRAPH) <= 51


def test_fewest_is_below_what_real_tokenizers_need() -> None:
    """The lower bound lies below the paragraph's true 34 tokens, and above half of them."""
    assert 17 <= fewest_tokens(PARAGRAPH) <= 34


def test_fewest_for_chinese_is_under_half_a_token_a_character() -> None:
    """Some tokenizers pack two characters in a token: the lower bound allows for it."""
    assert fewest_tokens("麻疹" * 50) == 40


def test_bounds_are_in_order() -> None:
    """The lower bound never exceeds the estimate."""
    for text in ("", "  \n", PARAGRAPH, "麻疹 27 例", "{'a': [1, 2]}", "\ud83d", "x" * 400):
        assert fewest_tokens(text) <= estimate_tokens(text)


def test_empty_text() -> None:
    """An empty text has no tokens."""
    assert estimate_tokens("") == 0


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


def test_full_known_window_counts_as_cut(calls: Calls, chat_at: Callable[..., OpenAIChat]) -> None:
    """A prompt that fills the stated window to the last token was truncated."""
    with StubEndpoint(Reply("fine", prompt_tokens=7000)) as stub:
        with pytest.raises(ContextOverflowError):
            chat_at(stub, context=7000).complete(LONG, calls)

        assert len(stub.received) == 1


@pytest.mark.parametrize("reported", [0, 6000, 3900, 2500])
def test_plausible_counts_pass(
    calls: Calls, chat_at: Callable[..., OpenAIChat], reported: int
) -> None:
    """No count, or one that some tokenizer may come to, does not show a truncation."""
    with StubEndpoint(Reply("fine", prompt_tokens=reported)) as stub:
        assert chat_at(stub, context=8192).complete(LONG, calls).text == "fine"

        assert len(stub.received) == 1


def chat_by(protocol: str, stub: StubEndpoint) -> RemoteChat:
    """Return a model with a window of 8,192 tokens at a stub."""
    if protocol == "openai":
        return OpenAIChat(base_url=stub.base_url, model="stub", context=8192)
    return OllamaChat(base_url=stub.url, model="stub", context=8192)


PROSE = Request((Message("user", "The lighthouses were completely restored. " * 556),))
"""23,352 characters of English."""


@pytest.mark.parametrize("protocol", ["openai", "ollama"])
@pytest.mark.parametrize("limit", [4098, 4096, 4090, 2050])
def test_half_the_window_is_found_out(calls: Calls, protocol: str, limit: int) -> None:
    """A server that reads half of the configured window counts as many tokens of any longer one."""
    with StubEndpoint("fine", window=limit) as stub:
        chat = chat_by(protocol, stub)

        for sample in range(2):
            with pytest.raises(ContextOverflowError, match=f"read {limit} tokens of a prompt"):
                chat.complete(replace(PROSE, sample=sample), calls)

        assert len(stub.chats) == 3  # a longer prompt once; the second is known to be cut
        assert calls.size().calls == {}


def test_a_prompt_that_happens_to_fill_a_window_is_kept(
    calls: Calls, chat_at: Callable[..., OpenAIChat]
) -> None:
    """A longer prompt has more tokens: the server read both."""
    counts = iter([4098, 4300])
    with StubEndpoint(lambda _: Reply("fine", prompt_tokens=next(counts))) as stub:
        assert chat_at(stub, context=8192).complete(PROSE, calls).text == "fine"

    assert (calls.asked, calls.tokens["stub"][0]) == (2, 4098 + 4300)


def test_one_longer_prompt_decides_for_many(
    calls: Calls, chat_at: Callable[..., OpenAIChat]
) -> None:
    """Prompts of one length that fills a common window by chance cost one more call together."""

    def reply(received: Received) -> Reply:
        return Reply("fine", prompt_tokens=4098 + 300 * ("Reference" in received.prompt))

    with StubEndpoint(reply) as stub:
        many = [replace(PROSE, sample=sample, schema={}) for sample in range(6)]
        chat_at(stub, context=8192).complete_all(many, calls)

        assert len([received for received in stub.chats if "Reference" in received.prompt]) == 1


@pytest.mark.parametrize("limit", [None, 4098])
def test_a_longer_prompt_in_flight_decides_without_one_more(
    calls: Calls, chat_at: Callable[..., OpenAIChat], limit: int | None
) -> None:
    """A doubtful reply waits for the longest prompt; nothing is stored where that is cut, too."""
    text = PROSE.messages[0].content

    def reply(received: Received) -> Reply:
        long = len(received.prompt) > len(text)
        return Reply("fine", prompt_tokens=limit or 4098 + 900 * long, delay=0.2 * long)

    with StubEndpoint(reply) as stub:
        longer = Request((Message("user", text + text[:4000]),))
        found = chat_at(stub, context=8192).complete_all([PROSE, longer], calls)

        assert len(stub.chats) == (3 if limit else 2)

    assert [isinstance(one, Completion) for one in found] == [limit is None] * 2
    assert calls.size().calls == ({} if limit else {"chat stub": 2})


@pytest.mark.parametrize(
    ("text", "finish", "ignored"),
    [
        ("It is entailed.", "stop", ["json_schema", "json_object"]),
        ('```json\n{"verdict": "yes"}\n```', "stop", ["json_schema", "json_object"]),
        ('"yes"', "stop", ["json_schema", "json_object"]),
        ('{"answer": "yes"}', "stop", ["json_schema"]),
        ('{"verdict": "yes"}', "stop", []),
        ('<think>It is.</think>{"verdict": "yes"}', "stop", []),
        ('{"verdict": "y', "stop", []),
        ("It is enta", "length", []),
        ("", "stop", []),
    ],
)
def test_what_shows_that_a_format_is_ignored(text: str, finish: str, ignored: list[str]) -> None:
    """Whole replies that the format excludes; not thinking, nor what was truncated or damaged."""
    reply, schema = Completion(text, finish, 9, 4, 0.1), {"required": ["verdict"]}
    forms = ("json_schema", "json_object", "prose")

    assert [form for form in forms if ignores_format(reply, form, schema)] == ignored


@pytest.mark.parametrize("protocol", ["openai", "ollama"])
def test_the_format_in_force_is_counted(calls: Calls, protocol: str) -> None:
    """New replies to requests with a schema count, by both protocols; it is part of no key."""
    asked = Request((Message("user", "Is it?"),), schema={"required": ["verdict"]})
    with StubEndpoint(["Yes.", '{"verdict": "yes"}']) as stub:
        chat = chat_by(protocol, stub)
        key = chat.key(asked)
        for request in (asked, replace(asked, sample=1), asked, replace(asked, schema=None)):
            chat.complete(request, calls)

        assert calls.reply_formats == {"json_schema": 2, "ignored": 1}
        assert chat.key(asked) == key


def shared_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


class CachingServer:
    """A server that counts only the tokens that follow the longest prompt it has seen."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, received: Received) -> Reply:
        shared = max((shared_length(one, received.prompt) for one in self.seen), default=0)
        self.seen.append(received.prompt)
        return Reply("fine", prompt_tokens=max(1, (len(received.prompt) - shared) // 4))


@pytest.mark.parametrize("protocol", ["openai", "ollama"])
@pytest.mark.parametrize("kept", [23000, 20000, 0])
def test_counts_of_a_caching_server_are_no_truncation(
    calls: Calls, protocol: str, kept: int
) -> None:
    """Few tokens, since the rest is in the server's cache, do not mean that it was not read."""
    server, text = CachingServer(), PROSE.messages[0].content
    server.seen.append(text[:kept])
    with StubEndpoint(server) as stub:
        chat = chat_by(protocol, stub)
        for sample in range(3):
            request = Request((Message("user", text[:20000] + f"{sample} " * 1500),))
            assert chat.complete(request, calls).text == "fine"

        assert len(stub.chats) <= 4


def test_tokens_that_the_server_says_it_cached_count_as_read(
    calls: Calls, chat_at: Callable[..., OpenAIChat]
) -> None:
    """`cached_tokens` beside fewer `prompt_tokens` than the prompt has."""
    usage = {"prompt_tokens": 600, "prompt_tokens_details": {"cached_tokens": 4400}}
    choice = {"message": {"content": "fine"}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    with StubEndpoint(Reply(raw=body)) as stub:
        assert chat_at(stub, context=8192).complete(PROSE, calls).text == "fine"

        assert len(stub.received) == 1


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
