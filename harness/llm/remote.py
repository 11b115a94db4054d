"""What all models behind a server have in common: address, patience, sampling."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harness.errors import ConfigError, ContextOverflowError
from harness.llm.address import Address, is_address
from harness.llm.call_store import Calls
from harness.llm.chat import Chat
from harness.llm.context_window import check_after, check_before
from harness.llm.endpoint import Endpoint, endpoint
from harness.llm.failures import RefusedError
from harness.llm.messages import Completion, Request

PLACE: dict[str, bool] = {"factor": False}
"""Marks a field that says where or how fast, not what."""

WEIGHTS: dict[str, bool] = {"factor": False, "named": True}
"""Marks the path of a file that counts by its content: that is a factor, as the model's build."""

_SECRET = re.compile(
    r"(api|access|auth|private|secret|client)[_-]?(key|token|secret)|^token$|authorization"
    r"|bearer|password|passwd|secret|credential",
    re.IGNORECASE,
)


@dataclass
class Remote:
    """A model behind a server."""

    loads_weights: ClassVar[bool] = False
    """Whether it is a local server that loads weights when asked: it gets one request at first."""

    base_url: str = field(default="https://api.openai.com/v1", metadata=PLACE)
    model: str = ""
    api_key_env: str | None = field(default=None, metadata=PLACE)
    """Name of the environment variable that holds the key; never the key itself."""
    concurrency: int = field(default=8, metadata=PLACE)
    """Requests in flight at most; fewer while more do not bring more answers per second."""
    timeout: float = field(default=120.0, metadata=PLACE)
    """Seconds for one attempt at most. Once some answers show what is usual, an attempt that hangs
    is ended earlier; the last attempt of a call has all of it."""
    deadline: float = field(default=300.0, metadata=PLACE)
    """Seconds for all attempts of a call together."""
    retries: int = field(default=5, metadata=PLACE)
    backoff: float = field(default=0.5, metadata=PLACE)
    """Seconds before the first retry, doubled each time."""

    @property
    def label(self) -> str:
        """The model's name."""
        return self.model

    def named(self, protocol: str) -> dict[str, object]:
        """Return the identity of a model whose weights are unknown: protocol, address, name.

        Raises ConfigError where no model is named, or the address or the variable is invalid.
        """
        if self.api_key_env and not re.fullmatch(r"[A-Za-z_]\w*", self.api_key_env):
            raise ConfigError(
                "api_key_env is the name of an environment variable, and never the key itself:"
                " export MY_KEY=... and set api_key_env=MY_KEY"
            )
        if not is_address(self.base_url):
            raise ConfigError(
                f"base_url={self.base_url} is not an address; write it as http://host:port/v1"
            )
        if not self.model:
            raise ConfigError(f"{self.base_url}: which model? set model=<name> beside base_url")
        return {"protocol": protocol, "base_url": self.base_url.rstrip("/"), "model": self.model}

    def address(self) -> Address:
        """Return where the model is, and the limits on time, retries and concurrency."""
        return Address(
            base_url=self.base_url.rstrip("/"),
            model=self.model,
            api_key_env=self.api_key_env,
            concurrency=self.concurrency,
            loads_weights=self.loads_weights,
            timeout=self.timeout,
            deadline=self.deadline,
            retries=self.retries,
            backoff=self.backoff,
        )


@dataclass
class RemoteChat(Remote, Chat):
    """A chat model behind a server. A subclass implements `endpoint_identity` and `send`."""

    context_in_force: ClassVar[bool] = False
    """Whether the server is sent `context`, so that no other window can be in force."""

    temperature: float | None = 0.0
    """None is not sent: some models accept no temperature."""
    top_p: float | None = None
    seed: int | None = 0
    max_tokens: int | None = None
    """Maximum length of a reply where the request does not say."""
    context: int | None = field(default=None, metadata=PLACE)
    """The context window in tokens, prompt and reply together; None where it is not known."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Sent unchanged with the rest: reasoning_effort, cache_prompt and similar."""

    def __post_init__(self) -> None:
        refuse_secrets(self.extra)

    @property
    def width(self) -> int:
        """As many as the endpoint may get, and some that wait for a retry."""
        return self.concurrency + self.concurrency // 2 + 1

    def identity(self) -> dict[str, object]:
        """Return the endpoint and the sampling. Raises ConfigError where no model is named."""
        sampling = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "extra": dict(self.extra),
        }
        return {**self.endpoint_identity(), **sampling}

    def endpoint_identity(self) -> dict[str, object]:
        """Return what identifies the model: the hash of its weights, else host and name."""
        raise NotImplementedError

    def room(self, request: Request) -> int | None:
        """Return how many tokens the reply may take."""
        return request.max_tokens if request.max_tokens is not None else self.max_tokens

    def sampling(self, request: Request) -> dict[str, object]:
        """Return how the reply is drawn; each sample has its own seed."""
        warm, seed = self.temperature, self.seed
        return {
            "temperature": None if warm is None else max(warm, request.least_temperature),
            "top_p": self.top_p,
            "seed": None if seed is None else seed + request.sample,
        }

    async def send(
        self, request: Request, place: Endpoint, calls: Calls, samples: int = 1
    ) -> list[Completion]:
        """Send the request in this protocol and read the reply, or replies.

        Args:
            request: The first of the samples, if there are more.
            place: Where to send it.
            calls: The account.
            samples: How many to request at once; more than one only where `samples_at_once`.
        """
        raise NotImplementedError

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Send the request. Raises EndpointError; ContextOverflowError where it cannot fit."""
        return (await self.ask_for(1, request, calls))[0]

    async def ask_for(self, samples: int, request: Request, calls: Calls) -> list[Completion]:
        """Request a number of replies; some servers send only one. Raises as `ask` does."""
        check_before(request, self.room(request), self.context, self.label)
        try:
            completions = await self.send(request, endpoint(self.address()), calls, samples)
        except RefusedError as error:
            if not error.too_long:
                raise
            raise ContextOverflowError(
                f"{error} (the prompt takes about {request.tokens} tokens)"
            ) from error
        read = completions[0].input_tokens
        check_after(request, read, self.context, self.label, self.context_in_force)
        return completions


def refuse_secrets(extra: Mapping[str, Any], inside: str = "extra.") -> None:
    """Raise ConfigError for a key that is named like a secret, at any depth.

    What `extra` holds is written down with the run, and may be part of its name.
    """
    for key, value in extra.items():
        if _SECRET.search(str(key)):
            raise ConfigError(
                f"{inside}{key} looks like a secret, and would be written into the run's record; "
                "put it into an environment variable and give its name: chat.api_key_env=<name>"
            )
        if isinstance(value, Mapping):
            refuse_secrets(value, f"{inside}{key}.")
