"""The protocol, as the types of the openai package have it."""


def departures(reply: object) -> list[str]:
    """Return where a chat reply is not what the protocol promises, a line each; none is right.

    The harness itself reads replies more kindly. What is not there it cannot use, though: without
    `usage` no tokens are counted, and without `finish_reason` a cut reply looks whole.

    >>> departures({"choices": []})[0]
    'id: Field required'
    """
    from openai.types.chat import ChatCompletion
    from pydantic import ValidationError

    try:
        completion = ChatCompletion.model_validate(reply)
    except ValidationError as error:
        return [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    return [] if completion.usage is not None else ["usage: not told"]
