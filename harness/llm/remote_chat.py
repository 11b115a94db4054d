"""What all chat models behind a server have in common."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from harness.errors import ConfigError, ContextOverflowError
from harness.llm.calls import Calls
from harness.llm.chat import Chat, Completion, Request
from harness.llm.remote import PLACE, Remote
from harness.llm.window import check_after, check_before

if TYPE_CHECKING:
    from harness.llm.endpoint import Endpoint

_SECRET = re.compile(
    r"(api|access|auth|private|secret|client)[_-]?(key|token|secret)|^token$|authorization"
    r"|bearer|password|passwd|secret|credential",
    re.IGNORECASE,
)


@dataclass
class RemoteChat(Remote, Chat):
    """A chat model behind a server. A subclass gives `endpoint_identity` and `send`."""

    context_in_force: ClassVar[bool] = False
    """Whether the server is told `context`, so that no other window can be in force."""

    temperature: float | None = 0.0
    """None is not sent: some models take no temperature."""
    top_p: float | None = None
    seed: int | None = 0
    max_tokens: int | None = None
    """Room for a reply where the request does not say."""
    context: int | None = field(default=None, metadata=PLACE)
    """The model's window in tokens, prompt and reply together; None where it is not known."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Sent as it is beside the rest: reasoning_effort, cache_prompt and the like."""

    def __post_init__(self) -> None:
        refuse_secrets(self.extra)

    @property
    def width(self) -> int:
        """As many as the endpoint may get, and some that wait to try again."""
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
        """Return what stands for the model: its weights' hash, else host and name."""
        raise NotImplementedError

    def room(self, request: Request) -> int | None:
        """Return how many tokens the reply may take."""
        return request.max_tokens if request.max_tokens is not None else self.max_tokens

    def sampling(self, request: Request) -> dict[str, object]:
        """Return how the reply is drawn; each sample has a seed of its own."""
        warm, seed = self.temperature, self.seed
        return {
            "temperature": None if warm is None else max(warm, request.least_temperature),
            "top_p": self.top_p,
            "seed": None if seed is None else seed + request.sample,
        }

    async def send(
        self, request: Request, place: "Endpoint", calls: Calls, samples: int = 1
    ) -> list[Completion]:
        """Send the request as this protocol wants it and read the reply, or replies.

        Args:
            request: The first of the samples, if there are more.
            place: Where to send it.
            calls: The account.
            samples: How many are asked for at once; more than one only where `samples_at_once`.
        """
        raise NotImplementedError

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Ask the server. Raises EndpointError; ContextOverflowError where it cannot fit."""
        return (await self.ask_for(1, request, calls))[0]

    async def ask_for(self, samples: int, request: Request, calls: Calls) -> list[Completion]:
        """Ask the server for so many replies; some send one whatever is asked. Raises as `ask`."""
        from harness.llm.endpoint import endpoint
        from harness.llm.failures import RefusedError

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
    """Raise ConfigError over a key that is named like a secret, however deep it stands.

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
