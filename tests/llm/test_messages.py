"""The key of a call changes with whatever may change the reply, and with nothing else."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.llm import Calls, Completion, Message, OpenAIChat, Request
from harness.llm.messages import cached_completion, completion_payload, data_url, request_key

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
