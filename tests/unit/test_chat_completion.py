"""The request for a payload, and how usage, completions and errors are read, without a network."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from fairlane.domain.limits import MAX_COST
from fairlane.errors import ProviderRefused
from fairlane.lifecycle.payload import decode, encode
from fairlane.providers.chat_completion import (
    UnreadableCompletion,
    error_message,
    read_completion,
    request_body,
    units_used,
)

MESSAGES = [{"role": "user", "content": "hi"}]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("payload", ["hi", MESSAGES, {"messages": MESSAGES}], ids=["text", "messages", "body"])
def test_a_text_messages_and_a_body_make_the_same_request(payload: object) -> None:
    assert request_body(payload, "tiny") == {"messages": MESSAGES, "model": "tiny"}


def test_a_body_is_sent_unchanged_with_its_model() -> None:
    body = {"messages": MESSAGES, "model": "big", "temperature": 0, "tools": [{"type": "function"}], "stream": False}
    assert request_body(body, "tiny") == body


def test_the_payload_itself_is_not_changed() -> None:
    payload: dict[str, object] = {"messages": MESSAGES}
    request_body(payload, "tiny")
    assert payload == {"messages": MESSAGES}


@pytest.mark.parametrize(
    ("payload", "given"),
    [(None, "messages"), (7, "messages"), (b"hi", "messages"), ([], "messages"), ({}, "messages"), (["hi"], "messages"),
     ({"messages": "hi"}, "messages"), ({"messages": MESSAGES, "stream": True}, "stream")],
)  # fmt: skip
def test_a_payload_that_is_not_a_chat_is_refused(payload: object, given: str) -> None:
    with pytest.raises(ProviderRefused, match=given):
        request_body(payload, "tiny")


def test_without_any_model_nothing_is_sent() -> None:
    with pytest.raises(ProviderRefused, match="model"):
        request_body("hi", None)


def _used(usage: object, cached_permille: int = 1000) -> int | None:
    return units_used({"usage": usage}, cached_permille)


def test_prompt_and_completion_tokens_are_the_cost() -> None:
    assert _used({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}) == 12
    assert _used({"prompt_tokens": 9, "completion_tokens": 0}) == 9
    assert _used({"total_tokens": 12}) == 12


@pytest.mark.parametrize(("permille", "units"), [(1000, 103), (500, 63), (100, 31), (0, 23)])
def test_cached_prompt_tokens_cost_their_weight_rounded_up(permille: int, units: int) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 80}}
    assert _used(usage, permille) == units
    usage["prompt_tokens_details"] = {"cached_tokens": 1}
    assert _used(usage, 1) == 103


@pytest.mark.parametrize(
    "details", [None, {}, "x", {"cached_tokens": None}, {"cached_tokens": 101}, {"cached_tokens": -1}]
)
def test_cached_tokens_that_make_no_sense_count_as_zero(details: object) -> None:
    assert _used({"prompt_tokens": 100, "completion_tokens": 3, "prompt_tokens_details": details}, 0) == 103


@pytest.mark.parametrize(
    "usage",
    [None, "many", [], {}, {"prompt_tokens": 5}, {"prompt_tokens": -1, "completion_tokens": 3},
     {"prompt_tokens": 1.5, "completion_tokens": 3}, {"prompt_tokens": True, "completion_tokens": 3},
     {"total_tokens": "12"}, {"prompt_tokens": MAX_COST, "completion_tokens": 1}, {"total_tokens": 10**30}],
)  # fmt: skip
def test_usage_that_is_missing_or_makes_no_sense_is_unknown(usage: object) -> None:
    assert _used(usage) is None
    assert units_used({}, 1000) is None


@given(JSON, st.integers(0, 1000))
def test_any_usage_is_a_cost_or_unknown(usage: Any, permille: int) -> None:
    units = _used(usage, permille)
    assert units is None or (type(units) is int and 0 <= units <= MAX_COST)


@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", b"\xff\xfe", b"null", b"[]", b'"x"', b"{}", b'{"choices": []}', b'{"choices": {}}',
     b'{"choices": [1]', b"[" * 100_000],
    ids=range(11),
)  # fmt: skip
def test_a_body_that_is_not_a_completion_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableCompletion, match="the response"):
        read_completion(raw)


@pytest.mark.parametrize(
    ("given", "read"),
    [('"\\ud83d"', "\ufffd"), ('"cut \\ud83d"', "cut \ufffd"), ('"\\ude00 cut"', "\ufffd cut"),
     ('"\\ud83d\\ude00 whole"', "😀 whole"), ('"ü😀"', "ü😀"), ("-Infinity", None), ("NaN", None), ("1e999", None),
     ("1.5", 1.5)],
)  # fmt: skip
def test_values_that_a_result_cannot_hold_are_replaced_at_any_depth(given: str, read: object) -> None:
    body = read_completion(f'{{"choices": [{{"deep": [{given}]}}], "more": {given}}}'.encode())
    assert body == {"choices": [{"deep": [read]}], "more": read}
    assert decode(encode(body)) == body


def test_the_message_of_an_error_in_a_successful_response_is_kept() -> None:
    with pytest.raises(UnreadableCompletion, match="no choices: upstream is down"):
        read_completion(b'{"error": {"message": "upstream\\nis down"}}')


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_without_surprise(raw: bytes) -> None:
    assert error_message(raw).isprintable()
    with contextlib.suppress(UnreadableCompletion):
        assert read_completion(raw)["choices"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [(b'{"error": {"message": "no such model"}}', "no such model"), (b'{"error": "busy"}', "busy"),
     (b'{"message": "bad\\u001b[31m key"}', "bad[31m key"), (b"Bad  Gateway\n", "Bad Gateway"), (b"", ""),
     (b'{"error": 7}', ""), (b"[1]", ""), (b"{" * 3, "{{{")],
)  # fmt: skip
def test_an_error_message_is_found_in_its_usual_places(raw: bytes, message: str) -> None:
    assert error_message(raw) == message
