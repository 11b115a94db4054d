"""The call store: cached by content, shared by threads and processes, within a budget."""

import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from harness.errors import BudgetError, ConfigError, EndpointError, HarnessError, NotRecordedError
from harness.llm import Budget, Calls, Completion, OpenAIChat, Price, Request, Usual, call_key
from tests.stub_endpoint import Reply, StubEndpoint

MakeRequest = Callable[..., Request]
MakeChat = Callable[..., OpenAIChat]


def test_get_returns_what_was_put(calls: Calls) -> None:
    """What was stored comes back equal, surrogates and all, and is counted."""
    calls.put("k", "chat stub", {"text": "塔\ud83d", "seconds": 0.25, "reasoning": None})

    assert calls.get_many(["k"]) == {"k": {"text": "塔\ud83d", "seconds": 0.25, "reasoning": None}}
    assert calls.get_many(["other"]) == {}
    assert calls.remembered == 1


def test_nan_is_not_stored(calls: Calls) -> None:
    """NaN is not JSON, so a payload with it is refused and not written."""
    with pytest.raises(ValueError, match="JSON"):
        calls.put("k", "chat stub", {"seconds": float("nan")})

    assert calls.get_many(["k"]) == {}


def test_first_answer_stays(calls: Calls) -> None:
    """Where two processes sent the same call, both use the answer that came first."""
    calls.put("k", "chat stub", {"text": "first"})
    calls.put("k", "chat stub", {"text": "second"})

    assert calls.get_many(["k"]) == {"k": {"text": "first"}}


def test_a_reply_that_is_no_answer_is_forgotten(calls: Calls, tmp_path: Path) -> None:
    """Its call can be sent and stored again; a store that is only read keeps it."""
    calls.put("k", "chat stub", {"text": "hm"})
    calls.put("l", "chat stub", {"text": "yes"})
    calls.forget([])
    assert calls.path is not None
    Calls(calls.path.parent, "read").forget(["k"])
    assert calls.known(["k", "l"]) == {"k", "l"}

    calls.forget(["k", "other"])
    assert calls.known(["k", "l"]) == {"l"}
    calls.put("k", "chat stub", {"text": "no"})
    assert calls.get_many(["k"]) == {"k": {"text": "no"}}

    Calls(tmp_path / "none").forget([])
    assert not (tmp_path / "none").exists()


def test_vectors_keep_their_bits(calls: Calls) -> None:
    """A float32 vector comes back bit for bit; unknown keys are left out."""
    vector = np.array([0.1, -1e-30, 3.0], np.float32)
    calls.put_vectors({"v": vector})

    found = calls.get_vectors(["v", "w"])

    assert list(found) == ["v"]
    assert found["v"].tobytes() == vector.tobytes()


def test_more_keys_than_one_statement_takes(calls: Calls) -> None:
    """Twelve hundred vectors are stored and found in one call each."""
    vectors = {f"v{i}": np.array([i], np.float32) for i in range(1200)}
    calls.put_vectors(vectors)

    assert len(calls.get_vectors(list(vectors))) == 1200


@pytest.mark.parametrize("mode", ["off", "none"])
def test_off_caches_nothing(tmp_path: Path, mode: str) -> None:
    """With cache=off, or without a folder, nothing is cached and no file is created."""
    calls = Calls(tmp_path / "cache", "off") if mode == "off" else Calls(None)
    calls.put("k", "chat stub", {"text": "a"})
    calls.about_to_ask("stub")

    assert calls.get_many(["k"]) == {}
    assert calls.asked == 1
    assert list(tmp_path.iterdir()) == []


def test_read_finds_and_writes_nothing(tmp_path: Path) -> None:
    """With cache=read cached calls are found, nothing is added, and a new call is an error."""
    with_it = Calls(tmp_path)
    with_it.put("k", "chat stub", {"text": "a"})
    reading = Calls(tmp_path, "read")
    reading.put("new", "chat stub", {"text": "b"})

    assert reading.get_many(["k"]) == {"k": {"text": "a"}}
    assert reading.get_many(["new"]) == {}
    with pytest.raises(NotRecordedError, match=r"stub.*cache=read.*cache=readwrite"):
        reading.about_to_ask("stub")


def test_reading_a_missing_store_creates_none(tmp_path: Path) -> None:
    """Reading a store that does not exist finds nothing and creates no file."""
    assert Calls(tmp_path / "cache", "read").get_many(["k"]) == {}
    assert list(tmp_path.iterdir()) == []


def test_unknown_mode(tmp_path: Path) -> None:
    """An unknown mode is an error that lists the modes."""
    with pytest.raises(ConfigError, match=r"readwrite, read, off \(got write\)"):
        Calls(tmp_path, "write")


def test_file_of_another_format(tmp_path: Path) -> None:
    """A file of another format in place of the store is a one-line error with the remedy."""
    (tmp_path / "calls.sqlite").write_text("not a database, and long enough to be read as one" * 9)

    with pytest.raises(HarnessError, match=r"calls\.sqlite.*move the file away"):
        Calls(tmp_path).get_many(["k"])


def test_many_threads(calls: Calls) -> None:
    """Eight threads write and read at once, and nothing is lost or miscounted."""

    def work(thread: int) -> None:
        for i in range(25):
            calls.put(f"{thread}-{i}", "chat stub", {"text": str(i)})
            assert calls.get_many([f"{thread}-{i}"])

    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert calls.size().calls == {"chat stub": 200}
    assert calls.remembered == 200


@pytest.mark.slow
def test_several_processes_at_once(tmp_path: Path) -> None:
    """Three processes that open the same new store at the same time all write to it."""
    program = (
        "import sys; from pathlib import Path; from harness.llm import Calls\n"
        "calls = Calls(Path(sys.argv[1]))\n"
        "for i in range(40): calls.put(f'{sys.argv[2]}-{i}', 'chat stub', {'text': 'a'})\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(n)]) for n in range(3)
    ]

    assert [process.wait() for process in running] == [0, 0, 0]
    assert Calls(tmp_path).size().calls == {"chat stub": 120}


def test_size_and_prune(calls: Calls) -> None:
    """Entries are counted by kind and can be deleted by kind or all at once."""
    for model in ("a", "b"):
        calls.put(f"chat-{model}", f"chat {model}", {"text": "x"})
    calls.put("caption", "caption", {"text": "x"})
    calls.put_vectors({"v": np.zeros(3, np.float32)})
    size = calls.size()

    assert dict(size.calls) == {"caption": 1, "chat a": 1, "chat b": 1}
    assert (size.vectors, size.bytes > 0) == (1, True)
    assert calls.prune(before=time.time() - 3600) == 0
    assert calls.prune(kind="chat a") == 1
    assert calls.prune(kind="chat") == 1
    assert calls.prune(kind="vector") == 1
    assert calls.prune() == 1
    assert calls.size().calls == {}


def test_no_pickle(calls: Calls) -> None:
    """The payload is stored as JSON that any tool can read."""
    calls.put("k", "chat stub", {"b": 1, "a": "塔"})
    assert calls.path is not None

    with sqlite3.connect(calls.path) as connection:
        row = connection.execute("SELECT kind, payload FROM calls").fetchone()
    connection.close()

    assert row == ("chat stub", '{"a":"\\u5854","b":1}')


def test_call_key_refuses_what_is_not_json() -> None:
    """An object that is not JSON cannot be part of a key."""
    with pytest.raises(TypeError):
        call_key({"model": object()})


def test_usual_is_the_mean_of_a_kind(calls: Calls) -> None:
    """Calls of 1 and 3 s with 10 and 30 tokens: 2 s and 20 tokens; other models do not count."""
    for key, seconds, tokens in (("a", 1.0, 10), ("b", 3.0, 30)):
        calls.put(key, "chat m", {"seconds": seconds, "output_tokens": tokens})
    calls.put("c", "chat other", {"seconds": 9.0, "output_tokens": None})

    assert calls.usual("chat m") == Usual(2, 2.0, 20.0)
    assert calls.usual("chat other") == Usual(1, 9.0, None)
    assert calls.usual("chat none") is None
    assert Calls(None).usual("chat m") is None


def test_known_does_not_count(calls: Calls) -> None:
    """Looking up what is cached does not count as reading it."""
    calls.put("k", "chat m", {"text": "x"})
    assert calls.known(["k", "l"]) == {"k"}
    assert calls.remembered == 0
    assert Calls(None).known(["k"]) == set()


def test_run_ends_cleanly_and_is_resumed(
    tmp_path: Path, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """With four calls to spend, four of ten are answered; the next run sends the other six."""
    requests = [ask(str(i)) for i in range(10)]
    with StubEndpoint() as stub:
        chat = chat_at(stub, concurrency=2)
        outcomes = chat.complete_all(requests, Calls(tmp_path, budget=Budget(calls=4)))
        assert sum(isinstance(outcome, Completion) for outcome in outcomes) == 4
        assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) == 6
        assert len(stub.chats) == 4

        again = chat.complete_all(requests, Calls(tmp_path))

    assert all(isinstance(outcome, Completion) for outcome in again)
    assert len(stub.chats) == 10


def test_cached_calls_cost_nothing(tmp_path: Path, chat_at: MakeChat, ask: MakeRequest) -> None:
    """With a budget of zero, cached calls are answered."""
    with StubEndpoint() as stub:
        chat = chat_at(stub)
        chat.complete(ask("known"), Calls(tmp_path))
        spent = Calls(tmp_path, budget=Budget(calls=0))

        assert chat.complete(ask("known"), spent).text == "ok"
        with pytest.raises(BudgetError, match=r"budget\.calls=0 is spent; raise it and run"):
            chat.complete(ask("unknown"), spent)


def test_tokens_are_those_reported(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Tokens of prompts and replies are those the endpoint reports, per model."""
    with StubEndpoint(Reply("ok", prompt_tokens=90, completion_tokens=10)) as stub:
        chat_at(stub).complete_all([ask("a"), ask("b"), ask("b")], calls)

    assert calls.tokens == {"stub": (180, 20)}


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Budget(calls=3), "calls=3 is spent"),
        (Budget(tokens=2000), "tokens=2000 is spent"),
        (Budget(usd=0.01, prices={"m": Price(input=2.0, output=16.0)}), "usd=0.01 is spent"),
        (Budget(minutes=1.5), "minutes=1.5 is spent"),
    ],
)
def test_each_limit_holds(budget: Budget, message: str) -> None:
    """3 calls, 2,000 tokens, 1,000 x $2/M + 500 x $16/M = $0.01, or 1.5 minutes: all reached."""
    budget.check(2, {"m": (999, 499)}, 1.4, "m")
    with pytest.raises(BudgetError, match=message):
        budget.check(3, {"m": (1000, 1000)}, 1.5, "m")


def test_money_needs_a_price() -> None:
    """A limit on money without the price of the model is an error."""
    with pytest.raises(ConfigError, match=r"no price is known for m; add it to conf/prices"):
        Budget(usd=1.0).check(0, {}, 0.0, "m")


@pytest.mark.parametrize("name", ["calls", "tokens", "usd", "minutes"])
def test_a_negative_limit_is_refused(name: str) -> None:
    """It would limit nothing, or everything: neither is what was meant."""
    with pytest.raises(ConfigError, match=rf"budget\.{name}=-1: a limit is 0 or more"):
        Budget(**{name: -1})


@pytest.mark.parametrize("limit", [{"tokens": 3000}, {"usd": 0.003}])
def test_prompts_in_flight_count_as_spent(
    tmp_path: Path, chat_at: MakeChat, ask: MakeRequest, limit: dict[str, float]
) -> None:
    """Thirteen calls start before the first reply: of prompts of 1,004 tokens, two are sent."""
    budget = Budget(prices={"stub": Price(1.0, 1.0)}, **limit)  # type: ignore[arg-type]
    requests = [ask(f"{'塔' * 999}{i}") for i in range(20)]
    calls = Calls(tmp_path, budget=budget)
    with StubEndpoint(Reply("ok", prompt_tokens=1500, completion_tokens=7)) as stub:
        outcomes = chat_at(stub).complete_all(requests, calls)

    assert (len(stub.chats), calls.tokens) == (2, {"stub": (3000, 14)})
    assert str(outcomes[-1]).startswith("budget.")


def test_a_prompt_that_exceeds_the_limit_is_not_sent(
    tmp_path: Path, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """The message does not say that anything was spent."""
    with StubEndpoint() as stub, pytest.raises(BudgetError, match="tokens=5 is too little for"):
        chat_at(stub).complete(ask(), Calls(tmp_path, budget=Budget(tokens=5)))

    assert stub.chats == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b'{"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 10}}'),
        Reply("ok", prompt_tokens=90, completion_tokens=10),
    ],
    ids=["no_choices", "truncated_prompt"],
)
def test_unusable_replies_are_billed(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, reply: Reply
) -> None:
    """A reply without choices, and one to a truncated prompt, cost the tokens they report."""
    with StubEndpoint(reply) as stub:
        chat = chat_at(stub, retries=0, context=90 if reply.raw is None else None)
        with pytest.raises(EndpointError):
            chat.complete(ask("short", max_tokens=1), calls)

    assert calls.tokens == {"stub": (90, 10)}


@pytest.mark.parametrize("limit", [{"tokens": 5000}, {"usd": 1.0}])
def test_tokens_that_are_not_reported_cannot_be_limited(
    tmp_path: Path, chat_at: MakeChat, ask: MakeRequest, limit: dict[str, float]
) -> None:
    """A server that omits `usage` would never reach the limit: the first reply ends the run."""
    budget = Budget(prices={"stub": Price(1.0, 1.0)}, **limit)  # type: ignore[arg-type]
    reply = Reply(raw=b'{"choices": [{"message": {"content": "27 m"}}]}')
    with StubEndpoint(reply) as stub, pytest.raises(ConfigError, match="reports no token counts"):
        chat_at(stub, concurrency=1).complete_all(
            [ask(str(i)) for i in range(20)], Calls(tmp_path, budget=budget)
        )

    assert len(stub.chats) < 4
    assert Calls(tmp_path).size().calls["chat stub"] >= 1


PAYLOAD = {"text": "27", "finish_reason": "stop", "input_tokens": 1, "output_tokens": 1,
           "seconds": 0.5, "reasoning": None}  # fmt: skip
VECTOR = np.array([0.1, 0.2], np.float32)


def changed(calls: Calls, sql: str, *values: object) -> None:
    """Change the file of a store from outside."""
    assert calls.path is not None
    calls.close()
    with sqlite3.connect(calls.path) as connection:
        connection.execute(sql, values)
    connection.close()


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize(
    "payload", ["no JSON", '{"text": "27"}', '{"text": 27}', "[1]", "5", b"\x8c\x00", '{"te']
)
def test_a_damaged_payload_is_dropped(
    calls: Calls, caplog: pytest.LogCaptureFixture, payload: str | bytes, hashed: bool
) -> None:
    """One line names the row; it is no longer in the store, so the call is asked again."""
    calls.put("whole", "chat m", PAYLOAD)
    calls.put("k", "chat m", PAYLOAD)
    changed(calls, "UPDATE calls SET payload = ? WHERE key = 'k'", payload)
    if not hashed:
        changed(calls, "DELETE FROM sums")

    assert calls.get_many(["k", "whole"]) == {"whole": PAYLOAD}
    [line] = [record.getMessage() for record in caplog.records]
    assert f"{calls.path}: the row k of calls is damaged and dropped" in line
    assert calls.known(["k", "whole"]) == {"whole"}
    calls.put("k", "chat m", PAYLOAD)
    assert calls.get_many(["k"]) == {"k": PAYLOAD}
    assert calls.usual("chat m") == Usual(2, 0.5, 1.0)


def test_a_flipped_bit_of_a_reply_is_found(calls: Calls) -> None:
    """A payload that is still JSON, but says something else, is not an answer."""
    calls.put("k", "chat m", PAYLOAD)
    changed(calls, "UPDATE calls SET payload = replace(payload, '27', '26')")

    assert calls.get_many(["k"]) == {}
    assert calls.entries(["k"]) == []


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize(
    "blob", [b"", b"\x00" * 7, b"\x00" * 8, np.array([np.nan, 1], "<f4").tobytes(), "text", 5]
)
def test_a_damaged_vector_is_dropped(
    calls: Calls, caplog: pytest.LogCaptureFixture, blob: object, hashed: bool
) -> None:
    """Of odd length, of zeros or NaN, or no vector at all: one line, and it is embedded again."""
    calls.put_vectors({"v": VECTOR})
    changed(calls, "UPDATE vectors SET vector = ?", blob)
    if not hashed:
        changed(calls, "DELETE FROM sums")

    assert calls.get_vectors(["v"]) == {}
    assert "the row v of vectors is damaged and dropped" in caplog.text
    calls.put_vectors({"v": VECTOR})
    assert list(calls.get_vectors(["v"])) == ["v"]


def test_a_damaged_row_is_only_ignored_where_nothing_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With cache=read the file stays as it is."""
    calls = Calls(tmp_path)
    calls.put("k", "chat m", PAYLOAD)
    changed(calls, "UPDATE calls SET payload = 'x'")
    reading = Calls(tmp_path, "read")

    assert reading.get_many(["k"]) == {}
    assert "damaged and ignored" in caplog.text
    assert reading.known(["k"]) == {"k"}
    reading.close()


def test_rows_of_an_earlier_version_are_read(
    calls: Calls, caplog: pytest.LogCaptureFixture
) -> None:
    """A store without hashes opens as before; what is pruned leaves no hash behind."""
    calls.put("k", "chat m", PAYLOAD)
    calls.put_vectors({"v": VECTOR})
    changed(calls, "DROP TABLE sums")

    assert calls.get_many(["k"]) == {"k": PAYLOAD}
    assert list(calls.get_vectors(["v"])) == ["v"]
    calls.put("l", "chat m", PAYLOAD)
    calls.prune()
    assert calls._database.rows("SELECT count(*) FROM sums") == [(0,)]
    assert not caplog.records


@pytest.mark.parametrize("size", [20, 5_000])
def test_a_store_that_was_cut_off_is_moved_away(tmp_path: Path, size: int) -> None:
    """The error gives the command that makes it work again."""
    calls = Calls(tmp_path)
    for number in range(300):
        calls.put(f"k{number}", "chat m", PAYLOAD)
    calls.close()
    file = tmp_path / "calls.sqlite"
    file.write_bytes(file.read_bytes()[:size])

    with pytest.raises(HarnessError, match=r"run the same command again: mv ") as raised:
        Calls(tmp_path).get_many(["k1"])
    subprocess.run(str(raised.value).partition("again: ")[2], shell=True, check=True)

    again = Calls(tmp_path)
    assert again.get_many(["k1"]) == {}
    again.put("k1", "chat m", PAYLOAD)
    assert again.get_many(["k1"]) == {"k1": PAYLOAD}
    again.close()


def test_every_flipped_bit_of_a_store_is_found(tmp_path: Path) -> None:
    """One bit in the file: the rows are as they were, or missing, or one error names the file."""
    calls = Calls(tmp_path)
    payloads = {f"k{n}": {**PAYLOAD, "text": str(n)} for n in range(8)}
    for key, payload in payloads.items():
        calls.put(key, "chat m", payload)
    vectors = {f"v{n}": np.array([n + 1, 2], np.float32) for n in range(8)}
    calls.put_vectors(vectors)
    calls.close()
    file, turns = tmp_path / "calls.sqlite", random.Random(11)
    whole = file.read_bytes()
    used = [at for at, byte in enumerate(whole) if byte]

    for at in turns.sample(used, 150):
        for left in tmp_path.glob("calls.sqlite*"):
            left.unlink()
        file.write_bytes(
            whole[:at] + bytes([whole[at] ^ 1 << turns.randrange(8)]) + whole[at + 1 :]
        )
        with closing(Calls(tmp_path)) as damaged, suppress(HarnessError):
            found = damaged.get_many(list(payloads))
            assert all(found[key] == payloads[key] for key in found)
            found_vectors = damaged.get_vectors(list(vectors))
            assert all((found_vectors[key] == vectors[key]).all() for key in found_vectors)
