"""What all chat models behind a server have in common."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from harness.errors import ContextOverflowError
from harness.llm.calls import Calls
from harness.llm.chat import Chat, Completion, Request
from harness.llm.remote import PLACE, Remote
from harness.llm.window import check_after, check_before

if TYPE_CHECKING:
    from harness.llm.endpoint import Endpoint


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

    async def send(self, request: Request, place: "Endpoint", calls: Calls) -> Completion:
        """Send the request as this protocol wants it and read the reply."""
        raise NotImplementedError

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Ask the server. Raises EndpointError; ContextOverflowError where it cannot fit."""
        from harness.llm.endpoint import endpoint
        from harness.llm.failures import RefusedError

        check_before(request, self.room(request), self.context, self.label)
        try:
            completion = await self.send(request, endpoint(self.address()), calls)
        except RefusedError as error:
            if not error.too_long:
                raise
            raise ContextOverflowError(
                f"{error} (the prompt takes about {request.tokens} tokens)"
            ) from error
        check_after(
            request, completion.input_tokens, self.context, self.label, self.context_in_force
        )
        return completion
