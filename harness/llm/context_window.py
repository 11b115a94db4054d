"""Prompts that do not fit the model's context window.

Such a prompt is refused before it is sent, and a truncation by the server is detected afterwards.
"""

from harness.errors import ContextOverflowError
from harness.llm.messages import Completion, Request

UNSTATED_ROOM = 512
"""Tokens kept for the reply where nothing says how long it may be."""


def check_before(request: Request, room: int | None, context: int | None, model: str) -> None:
    """Raise ContextOverflowError where prompt and reply together exceed the window."""
    if context is None:
        return
    needed = request.tokens + (UNSTATED_ROOM if room is None else room)
    if needed > context:
        raise ContextOverflowError(
            f"{model}: the prompt takes about {request.tokens} tokens and the reply up to"
            f" {needed - request.tokens}, but the context window holds {context}"
            f" (context={context}); use fewer or shorter passages, or a wider window"
        )


def check_after(
    request: Request, reported: int | None, context: int | None, model: str, exact: bool = False
) -> None:
    """Raise ContextOverflowError where the endpoint cannot have read the whole prompt.

    Servers truncate what is too long and answer as if nothing had happened. Only the reported
    number of prompt tokens shows it: fewer than the prompt can possibly have, or exactly the
    window, known or recognised as a power of two.

    Args:
        request: What was sent.
        reported: Prompt tokens by the endpoint's count; None or 0 where it counts none.
        context: The window, where it is known.
        model: Named in the message.
        exact: Whether the window in force is certainly `context`, so that none is guessed.
    """
    if not reported:
        return
    # No text needs more than half a token a character; only below that are its words counted,
    # which would take a third of the client's time a call.
    characters = sum(len(message.content) for message in request.messages)
    cut = 2 * reported < characters and reported < request.fewest_tokens
    full = context is not None and reported >= context
    # Exactly 2,048 tokens are a window and not a prompt where more was to be expected.
    round_limit = reported >= 512 and reported & (reported - 1) == 0
    guessed = not exact and round_limit and request.tokens >= 1.25 * reported
    if cut or full or guessed:
        raise ContextOverflowError(
            f"{model}: the endpoint read {reported} tokens of a prompt of about"
            f" {request.tokens}: it truncated what exceeds its context window; widen the window on"
            " the server (num_ctx under chat=ollama), or use fewer or shorter passages"
        )


def check_ended(reply: Completion, room: int | None, model: str) -> None:
    """Raise ContextOverflowError where the window ended a reply that had tokens left.

    For models whose window is not part of their identity: a reply that a wider window would let
    go on must not be cached. It also finds a window wider than the model's own, which servers
    narrow.

    Args:
        reply: The completion.
        room: Tokens that it could take; None where only the window limited it.
        model: Named in the message.
    """
    written = reply.output_tokens
    filled = room is not None and (written is None or written >= room)
    if reply.finish_reason != "length" or filled:
        return
    raise ContextOverflowError(
        f"{model}: the reply reached the end of the context window after {reply.input_tokens}"
        f" tokens of prompt and {written} of reply; limit it (max_tokens=...), use fewer or shorter"
        " passages, or a wider window (context=...) where the model has one"
    )
