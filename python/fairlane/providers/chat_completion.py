"""The chat completions format, without the network: makes requests and reads responses."""

import json
import math

from fairlane.domain.limits import MAX_COST
from fairlane.errors import ProviderRefused


class UnreadableCompletion(Exception):
    """The body of a successful response is not a chat completion. ``body`` is the JSON object, if it is one."""

    def __init__(self, message: str, body: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.body = body or {}


def request_body(payload: object, model: str | None) -> dict[str, object]:
    """Return the request body for a task's payload.

    A payload is a whole body (an object with ``messages``), a list of messages, or text: one message from the user.
    ``model`` is for payloads that name none.

    Raises:
        ProviderRefused: the payload is none of these, asks for a stream, or names no model and there is no default.
    """
    body: dict[str, object]
    if isinstance(payload, dict):
        body = payload
    elif isinstance(payload, str):
        body = {"messages": [{"role": "user", "content": payload}]}
    else:
        body = {"messages": payload}
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(item, dict) for item in messages):
        raise ProviderRefused("payload: must be text, a list of messages, or an object with a list of messages")
    if body.get("stream"):
        raise ProviderRefused(
            "payload stream: not supported, since results are stored when they are complete; leave it out"
        )
    if body.get("model") is None:
        if model is None:
            raise ProviderRefused("payload model: missing, and the provider has no default; name one in the payload")
        body = {**body, "model": model}
    return body


def read_completion(raw: bytes) -> dict[str, object]:
    """Return a successful response's body.

    Because the answer is paid for, values that a result cannot hold are replaced: numbers that are not finite by null,
    lone surrogates (text cut within a pair) by U+FFFD.

    Raises:
        UnreadableCompletion: the body is not JSON, or has no choices.
    """
    try:
        body: object = _whole(json.loads(raw, parse_constant=lambda _: None, parse_float=_finite))
    except (ValueError, RecursionError):
        raise UnreadableCompletion("the response is not JSON") from None
    if not isinstance(body, dict):
        raise UnreadableCompletion(f"the response is a JSON {type(body).__name__}, not an object")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        message = _message_of(body)
        why = f"the response has no choices: {message}" if message else "the response has no choices"
        raise UnreadableCompletion(why, body)
    return body


def units_used(body: dict[str, object], cached_permille: int) -> int | None:
    """Return the tokens that a completion used, cached ones at their weight; None if it does not say.

    Prompt and completion tokens count, or else the total. Invalid counts (negative, fractions, more cached tokens than
    prompt tokens) are ignored.
    """
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return _count(usage.get("total_tokens"))
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    if cached is None or cached > prompt:
        cached = 0
    return _count(prompt - cached + -(-cached * cached_permille // 1000) + completion)


def error_message(raw: bytes) -> str:
    """Return the message of an error response, on one line; empty if it has none."""
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError):
        body = raw.decode("utf-8", "replace")
    return _message_of(body)


def _message_of(body: object) -> str:
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str):
        return ""
    line = " ".join(message.split())
    return "".join(character for character in line if character.isprintable())


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_COST else None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _whole(value: object) -> object:
    """Return a decoded value with U+FFFD for each lone surrogate in its texts and names."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_whole(each) for each in value]
        case dict():
            return {_whole(name): _whole(each) for name, each in value.items()}
        case _:
            return value
