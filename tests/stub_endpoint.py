"""A model server for tests: OpenAI-compatible and Ollama-native, on loopback, scripted.

    with StubEndpoint("yes") as stub:                       # the same reply to everything
        OpenAIChat(base_url=stub.base_url, model="stub")

    StubEndpoint([Reply(status=429, headers={"Retry-After": "0.1"}), "yes"])   # one after another
    StubEndpoint(lambda received: received.prompt[-1])                         # worked out

Runs in a thread of its own; `python -m tests.stub_endpoint --latency 0.2` runs it as a process.
"""

import argparse
import asyncio
import hashlib
import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Received:
    """One request as it came over the wire."""

    path: str
    query: str
    """What follows the question mark."""
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    at: float
    """`time.perf_counter()` on arrival."""

    @property
    def is_chat(self) -> bool:
        return self.path.endswith(("/chat/completions", "/api/chat"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", ()))

    @property
    def prompt(self) -> str:
        """The text of all messages, joined by line ends."""
        return "\n".join(_texts(message["content"]) for message in self.messages)


@dataclass(frozen=True)
class Reply:
    """What to send back; the faults are fields too."""

    content: str | None = ""
    others: Sequence[str] | None = None
    """The other choices where `n` asks for more; none of them is a server that ignores it."""
    reasoning: str | None = None
    message: Mapping[str, object] = field(default_factory=dict)
    """Fields of the message besides, or in place of, those above (OpenAI protocol)."""
    model: str | None = None
    """The model that the reply names; None: the one that was asked for."""
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    """None reports a plausible count, or the window where the prompt is longer."""
    completion_tokens: int = 7
    status: int = 200
    error: str = "scripted failure"
    """The message of a reply whose status is not 200."""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent in place of the JSON body."""
    delay: float = 0.0
    """Seconds, on top of the latency."""
    hang: bool = False
    """Never answer."""
    cut: bool = False
    """Close the connection in the middle of the body."""
    twice: bool = False
    """Send the reply twice at once, on the same connection."""
    late: bool = False
    """Send it a second time as soon as the connection is used again."""
    again_after: float | None = None
    """Seconds after which it is sent a second time, on the same connection."""
    drop: bool = False
    """Close the connection without a reply."""
    content_type: str = "application/json"


Script = str | Reply | Sequence[str | Reply] | Callable[[Received], str | Reply]


class StubEndpoint:
    """A scripted server. `received` logs every request in order of arrival.

    Args:
        script: The reply to each chat request: one for all, a sequence whose last is
            repeated, or a function of the request.
        latency: Seconds that every request takes.
        slots: How many requests are served at a time; the others queue. None: all.
        window: Tokens of a prompt that are read; what is beyond is cut without a word.
        embed: A text's vector; by default eight numbers from its hash.
        fault: What becomes of each embedding request, whose content is the vectors' business, and
            of each wish for a tunnel to port 443.
        digest: What `/api/tags` says of every model in `models`.
        tls: Serves https with it.
    """

    def __init__(
        self,
        script: Script = "ok",
        *,
        latency: float = 0.0,
        slots: int | None = None,
        window: int | None = None,
        embed: Callable[[str], Sequence[float]] | None = None,
        fault: Reply | None = None,
        models: Sequence[str] = ("stub",),
        digest: str = "sha256:0123",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.script = script
        self.latency = latency
        self.window = window
        self.embed = embed or hashed_vector
        self.fault = fault or Reply()
        self.models = list(models)
        self.digest = digest
        self.tls = tls
        self.received: list[Received] = []
        self.most_at_once = 0
        """Most requests that were ever served at the same time."""
        self.connections: set[_Connection] = set()
        self.serving = 0
        """Requests that are being served now."""
        self._turn = 0
        self._slots = slots
        self._port = 0

    def __enter__(self) -> "StubEndpoint":
        started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """Where Ollama's native paths live."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """Where the OpenAI protocol lives."""
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[Received]:
        """The chat requests among those received."""
        return [received for received in self.received if received.is_chat]

    def _run(self, started: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        self._gate = asyncio.Semaphore(self._slots or 1_000_000)
        server = await self._loop.create_server(
            lambda: _Connection(self), "127.0.0.1", self._port, backlog=512, ssl=self.tls
        )
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        # Closing the server while a connection is being accepted would leave its socket open
        # (the transport refuses a closed server): stop accepting, let what was accepted appear,
        # and close it first.
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        for turn in range(1000):
            if turn > 10 and not self.connections:
                break
            for connection in list(self.connections):
                connection.transport.abort()
            await asyncio.sleep(0)
        server.close()

    async def answer(self, received: Received) -> tuple[bytes, Reply]:
        """Return the bytes to send, and the reply that they are of."""
        self.received.append(received)
        # The latency counts from the arrival, or from its turn where a request has to queue.
        queues = self._gate.locked()
        async with self._gate:
            self.serving += 1
            self.most_at_once = max(self.most_at_once, self.serving)
            try:
                over = (time.perf_counter() if queues else received.at) + self.latency
                reply = self._reply(received)
                if reply.hang:
                    await asyncio.Event().wait()
                body = reply.raw if reply.raw is not None else self._body(received, reply)
                if self.latency + reply.delay:
                    await asyncio.sleep(over + reply.delay - time.perf_counter())
            finally:
                self.serving -= 1
        head = [f"HTTP/1.1 {reply.status} scripted", f"Content-Type: {reply.content_type}"]
        head += [f"{name}: {value}" for name, value in reply.headers.items()]
        head += [f"Content-Length: {len(body)}", "", ""]
        sent = body[: len(body) // 2] if reply.cut else body
        return "\r\n".join(head).encode() + sent, reply

    def _reply(self, received: Received) -> Reply:
        if not received.is_chat:
            faulty = received.path.endswith(("/embeddings", ":443"))
            return self.fault if faulty else Reply()
        reply: str | Reply
        if isinstance(self.script, str | Reply):
            reply = self.script
        elif callable(self.script):
            reply = self.script(received)
        else:
            reply = self.script[min(self._turn, len(self.script) - 1)]
            self._turn += 1
        return Reply(reply) if isinstance(reply, str) else reply

    def _body(self, received: Received, reply: Reply) -> bytes:
        if reply.status != 200:
            found: object = {"error": {"message": reply.error, "type": "scripted"}}
        elif received.path.endswith("/chat/completions"):
            found = self._completion(received, reply)
        elif received.path == "/api/chat":
            found = self._ollama(received, reply)
        elif received.path.endswith("/embeddings"):
            texts = received.body["input"]
            data = [{"index": i, "embedding": list(self.embed(t))} for i, t in enumerate(texts)]
            tokens = sum(len(text.encode("utf-8", "replace")) // 3 + 1 for text in texts)
            usage = {"prompt_tokens": min(tokens, self.window or tokens)}
            found = {"data": data, "model": received.body["model"], "usage": usage}
        else:
            found = {
                "data": [{"id": name} for name in self.models],
                "models": [{"name": name, "digest": self.digest} for name in self.models],
            }
        return json.dumps(found).encode()

    def _completion(self, received: Received, reply: Reply) -> dict[str, object]:
        wanted = int(received.body.get("n", 1))
        others = [reply.content] * (wanted - 1) if reply.others is None else reply.others
        contents = [reply.content, *others][:wanted]
        choices = []
        for index, content in enumerate(contents):
            message: dict[str, object] = {"role": "assistant", "content": content}
            if reply.reasoning is not None:
                message["reasoning_content"] = reply.reasoning
            message |= reply.message
            finish = reply.finish_reason
            choices.append({"index": index, "message": message, "finish_reason": finish})
        tokens = self._prompt_tokens(received, reply)
        written = reply.completion_tokens * len(choices)
        return {
            "id": "stub",
            "object": "chat.completion",
            "created": 0,
            "model": reply.model or received.body.get("model"),
            "choices": choices,
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": written,
                "total_tokens": tokens + written,
            },
        }

    def _ollama(self, received: Received, reply: Reply) -> dict[str, object]:
        message = {"role": "assistant", "content": reply.content or ""}
        if reply.reasoning is not None:
            message["thinking"] = reply.reasoning
        return {
            "model": reply.model or received.body.get("model"),
            "message": message,
            "done": True,
            "done_reason": reply.finish_reason,
            "prompt_eval_count": self._prompt_tokens(received, reply),
            "eval_count": reply.completion_tokens,
        }

    def _prompt_tokens(self, received: Received, reply: Reply) -> int:
        if reply.prompt_tokens is not None:
            return reply.prompt_tokens
        tokens = len(received.prompt.encode("utf-8", "replace")) // 3 + 1
        return min(tokens, self.window or tokens)


def hashed_vector(text: str) -> list[float]:
    """Eight numbers in [-1, 1] that stand for the text, the same on every machine."""
    return [byte / 127.5 - 1.0 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "\n".join(part.get("text", "") for part in content)


class _Connection(asyncio.Protocol):
    """One client: requests are read as they come and answered one after another."""

    def __init__(self, stub: StubEndpoint) -> None:
        self.stub = stub
        self.buffer = b""
        self.task: asyncio.Task[None] | None = None
        self.repeated = b""
        """What is sent again as soon as the next request arrives."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.stub.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.stub.connections.discard(self)
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        arrived = time.perf_counter()
        if self.repeated:
            self.transport.write(self.repeated)
            self.repeated = b""
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        body = json.loads(rest[:length]) if length else {}
        path, _, query = first.split(" ")[1].partition("?")
        received = Received(path, query, headers, body, arrived)
        self.task = asyncio.get_running_loop().create_task(self._answer(received))

    async def _answer(self, received: Received) -> None:
        sent, reply = await self.stub.answer(received)
        if not reply.drop:
            self.transport.write(sent + sent if reply.twice else sent)
        self.repeated = sent if reply.late else b""
        if reply.again_after is not None:
            await asyncio.sleep(reply.again_after)
            self.transport.write(sent)
        keeps = reply.late or reply.again_after is not None
        asked_to_close = received.headers.get("connection") == "close"
        if reply.cut or reply.drop or (asked_to_close and not keeps):
            self.transport.close()


def main() -> None:
    """Serve until interrupted; the first line printed is the base URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--slots", type=int)
    parser.add_argument("--content", default='{"verdict": 1}')
    chosen = parser.parse_args()
    with StubEndpoint(chosen.content, latency=chosen.latency, slots=chosen.slots) as stub:
        print(stub.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
