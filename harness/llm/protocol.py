"""The protocol, as the types of the openai package have it."""


def departures(reply: object) -> dict[str, str]:
    """Return where a chat reply is not what the protocol promises: field -> what is wrong.

    The harness itself reads replies more kindly. What is not there it cannot use, though: without
    `usage` no tokens are counted, and without `finish_reason` a cut reply looks whole.

    >>> departures({"choices": []})["id"]
    'Field required'
    """
    from openai.types.chat import ChatCompletion
    from pydantic import ValidationError

    try:
        completion = ChatCompletion.model_validate(reply, strict=True)
    except ValidationError as error:
        return {".".join(map(str, each["loc"])): each["msg"] for each in error.errors()}
    return {} if completion.usage is not None else {"usage": "not told"}
