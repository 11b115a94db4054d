"""Is a judge fit for use: judged on endpoints whose faults are known."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from harness.judge.fitness import FOLDER, labelled, labelled_languages, sentinel
from harness.records import Label
from tests.conftest import Command, Done
from tests.stub_endpoint import Received, Reply, StubEndpoint

Script = Callable[[Received], "str | Reply"]
WORDS = {Label.ENTAILED: "entailed", Label.CONTRADICTED: "contradicted", Label.UNKNOWN: "unknown"}
KNOWN = {
    (job.text, claim): WORDS[Label(label)]
    for language in labelled_languages()
    for job, labels in labelled(language)
    for claim, label in zip(job.items, labels, strict=True)
}


def well(received: Received) -> str:
    """Answer as a good judge on a good server does."""
    last = str(received.messages[-1]["content"])
    if "code word" in last:
        return "heron-4711" if "The code word is heron-4711" in last else "I see none"
    if "one word: yes" in last:
        return "yes"
    if "Greet me" in last:
        return json.dumps({"verdict": "lighthouse"})
    asked: dict[str, Any] = json.loads(last)
    rows = [
        {"id": c["id"], "reason": "r", "verdict": KNOWN[asked["text"], c["claim"]]}
        for c in asked["claims"]
    ]
    return json.dumps({"verdicts": rows})


@pytest.fixture
def doctor(command: Command) -> Callable[..., Done]:
    """Examine the judge behind a stub."""

    def run(stub: StubEndpoint, *words: str) -> Done:
        at = (f"judge.chat.base_url={stub.base_url}", "judge.chat.model=stub")
        return command("doctor", "judge=chat", "judge.language=en", *at, *words)

    return run


Doctor = Callable[..., Done]


def line(done: Done, name: str) -> str:
    return next(text for text in done.stdout.splitlines() if text.startswith(name))


def test_a_good_judge(doctor: Doctor) -> None:
    """All is well: 24 of 24 right, the schema enforced, the window read, the same twice."""
    with StubEndpoint(well) as stub:
        done = doctor(stub)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "fit" in line(done, "reachable")
    assert "has the form that the openai package expects" in line(done, "protocol")
    assert "the schema is enforced" in line(done, "structured output")
    assert "a prompt of 8,192 tokens was read completely" in line(done, "window")
    assert "24 of 24 right [0.86, 1.00]" in line(done, "accuracy (en)")
    assert "3 of 3 questions" in line(done, "same answer twice")
    assert "8 calls in" in line(done, "speed (en)")
    assert "advice" not in done.stdout
    assert "fit for use" in done.stdout


def test_the_words_of_a_server_are_shown_escaped(doctor: Doctor) -> None:
    """A control sequence in an error of the server does not act on the terminal."""
    with StubEndpoint(Reply(status=400, error="\x1b]0;title\x07")) as stub:
        done = doctor(stub)

    assert done.returncode == 1
    assert r"\x1b]0;title\x07" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_nobody_there(doctor: Doctor) -> None:
    """An endpoint that does not answer is the end of it, with the remedy."""
    with StubEndpoint() as stub:
        pass
    done = doctor(stub, "judge.chat.backoff=0.01")
    assert done.returncode == 1
    assert "connection refused" in line(done, "reachable")
    assert "accuracy" not in done.stdout


@pytest.mark.parametrize(
    ("greeting", "said"),
    [
        ("Hello there!", "does not enforce the schema: it accepts it and sends prose"),
        ('{"greeting": "Hello"}', "does not enforce the schema: it sends JSON of another form"),
    ],
)
def test_a_schema_that_is_ignored(greeting: str, said: str, doctor: Doctor) -> None:
    """An endpoint that accepts a schema with status 200 and ignores it is detected."""

    def script(received: Received) -> str:
        return greeting if "Greet me" in received.prompt else well(received)

    with StubEndpoint(script) as stub:
        done = doctor(stub)

    assert said in line(done, "structured output")
    assert "use with care" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("change", "level", "said"),
    [
        (lambda reply: reply.pop("usage"), "doubtful", "expects: usage: missing"),
        (
            lambda reply: reply["choices"][0].update(finish_reason="eos_token"),
            "doubtful",
            "expects: choices.0.finish_reason: Input should be 'stop'",
        ),
        (lambda reply: reply.pop("created"), "fit", "expects: created: Field required"),
    ],
    ids=["usage", "finish_reason", "created"],
)
def test_departures_from_the_protocol(
    change: Callable[[dict[str, Any]], object], level: str, said: str, doctor: Doctor
) -> None:
    """Missing parts of the protocol are reported with their consequence."""

    def script(received: Received) -> Reply:
        reply = {
            "id": "stub",
            "object": "chat.completion",
            "created": 0,
            "model": "stub",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": well(received)},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 9000, "completion_tokens": 7, "total_tokens": 9007},
        }
        change(reply)
        return Reply(raw=json.dumps(reply).encode())

    with StubEndpoint(script) as stub:
        done = doctor(stub)

    found = line(done, "protocol")
    assert said in found
    assert found.split()[1] == level
    assert ("advice: protocol: without usage" in done.stdout) == (level == "doubtful")


class TestWindow:
    """The window that is in force, not the one on the model's card."""

    @staticmethod
    def cutting(window: int) -> Script:
        """Read the end of a prompt only, as a server does that says nothing of it."""

        def script(received: Received) -> str | Reply:
            tokens = len(received.prompt) // 4
            if tokens > window and "code word" in received.prompt:
                return Reply("I see none", prompt_tokens=window)
            return Reply(well(received), prompt_tokens=tokens)

        return script

    def test_configured_wider_than_it_is(self, doctor: Doctor) -> None:
        """A configured window larger than the measured one is an error with both numbers."""
        with StubEndpoint(self.cutting(2048)) as stub:
            done = doctor(stub, "judge.chat.context=131072")

        assert done.returncode == 1
        assert (
            "context=131,072 is configured, but the model did not see the start of a prompt of "
            "4,096 tokens; 2,048 tokens were read completely"
        ) in line(done, "window")
        assert "not fit for use" in done.stdout

    def test_cut_without_a_word(self, doctor: Doctor) -> None:
        """A prompt truncated at its start with status 200 is detected by its code word."""
        with StubEndpoint(self.cutting(3000)) as stub:
            done = doctor(stub)
        assert "did not see the start of a prompt of 4,096 tokens" in line(done, "window")
        assert "set judge.chat.context=2048" in done.stdout

    def test_refused(self, doctor: Doctor) -> None:
        """A server that refuses long prompts gives the same result."""

        def script(received: Received) -> str | Reply:
            if len(received.prompt) // 4 > 5000:
                return Reply(status=400, error="maximum context length is 5000 tokens")
            return well(received)

        with StubEndpoint(script) as stub:
            done = doctor(stub)
        assert "did not see the start of a prompt of 8,192 tokens; 4,096" in line(done, "window")

    @pytest.mark.parametrize("size", [1024, 8192])
    def test_the_prompts_have_the_size(self, size: int) -> None:
        """With its reply the prompt fills the size, and does not exceed it."""
        request = sentinel(size)
        assert request.max_tokens is not None
        assert size - 20 <= request.tokens + request.max_tokens <= size


def test_guessing_is_found_out(doctor: Doctor) -> None:
    """A judge that calls everything entailed is right 8 times in 24, as guessing would be."""

    def script(received: Received) -> str:
        return well(received).replace("contradicted", "entailed").replace("unknown", "entailed")

    with StubEndpoint(script) as stub:
        done = doctor(stub)

    assert done.returncode == 1
    assert "8 of 24 right [0.18, 0.53]" in line(done, "accuracy (en)")
    assert "contradicted 0/8, unknown 0/8, entailed 8/8" in line(done, "accuracy (en)")
    assert "no better than guessing" in done.stdout


def test_unreadable_replies_are_counted(doctor: Doctor) -> None:
    """Unusable replies are counted beside the accuracy; above a fifth the judge is unfit."""

    def script(received: Received) -> str:
        return (
            "hm." if "museum" in received.prompt or "buses" in received.prompt else well(received)
        )

    with StubEndpoint(script) as stub:
        done = doctor(stub)
    assert done.returncode == 1
    assert "without a label" in line(done, "accuracy (en)")
    assert "too few replies can be read" in done.stdout


def test_a_window_without_room_for_the_prompts(doctor: Doctor) -> None:
    """Nothing comes, so nothing is said of readable replies, of speed or of sameness."""
    with StubEndpoint(well) as stub:
        done = doctor(stub, "judge.chat.context=1024")

    assert "unfit     no reply fitted the token limit: " in line(done, "accuracy (en)")
    assert "unknown: there was no reply" in line(done, "same answer twice")
    assert "a larger judge.chat.context" in done.stdout
    assert not any(text.startswith("speed") for text in done.stdout.splitlines())


def test_another_reply_each_time(doctor: Doctor) -> None:
    """A model that is not deterministic is reported, with advice."""
    turns = iter(range(10_000))

    def script(received: Received) -> str:
        return well(received).replace('"r"', f'"{next(turns)}"')

    with StubEndpoint(script) as stub:
        done = doctor(stub)
    assert "0 of 3 questions got the same reply twice" in line(done, "same answer twice")
    assert "set temperature=0 and a seed" in done.stdout


@pytest.mark.parametrize("language", ["ja", "zh_hant"])
def test_in_the_language_of_the_judge(language: str, doctor: Doctor) -> None:
    """The set is the one of the judge's language, asked with its prompts."""
    with StubEndpoint(well) as stub:
        done = doctor(stub, f"judge.language={language}")
    assert "24 of 24 right" in line(done, f"accuracy ({language})")


def test_every_language_where_the_judges_has_no_set(doctor: Doctor) -> None:
    """A judge without a test set in its language is tested on all sets."""
    with StubEndpoint(well) as stub:
        done = doctor(stub, "judge.language=zh_hans")
    assert [line(done, f"accuracy ({language})") for language in ("en", "ja", "zh_hant")]


def test_a_judge_without_a_model(command: Command) -> None:
    """The embedded judge shows how it did on labels that people gave."""
    done = command("doctor", "judge=overlap")
    assert done.returncode == 0
    assert "calls no model" in done.stdout
    assert "ExpertQA" in done.stdout


def test_help(command: Command) -> None:
    """The help says what is tried."""
    assert "python -m harness.doctor judge=chat" in command("doctor", "--help").stdout


@pytest.mark.parametrize("language", labelled_languages())
def test_the_set(language: str) -> None:
    """Each language has 20 claims or more, as many of each label, and no claim twice."""
    rows = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    claims = [row[word] for row in rows for word in WORDS.values()]
    assert len(set(claims)) == len(claims) >= 20
    assert all(set(row) == {"text", *WORDS.values()} for row in rows)
