"""The chat estimator: the bytes of the text, and all the output that the payload allows."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from fairlane.config import EstimateConfig
from fairlane.domain.limits import MAX_COST
from fairlane.lifecycle.estimate import ChatEstimator

ONE_TOKEN_A_BYTE = ChatEstimator(EstimateConfig(bytes_per_token=1.0, output_tokens=100, attachment_tokens=1000))
FRAME = len("role" + "user" + "content")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def _chat(content: object, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": content}], **more}


def test_a_prompt_alone_costs_its_text_and_the_default_output() -> None:
    assert ONE_TOKEN_A_BYTE.estimate("x" * 50) == 150
    assert ONE_TOKEN_A_BYTE.estimate(b"x" * 50) == 150
    assert ChatEstimator().estimate("x" * 50) == 13 + 512


def test_a_message_costs_its_text_and_a_few_tokens_of_frame() -> None:
    framed = FRAME + len("messages")
    assert ONE_TOKEN_A_BYTE.estimate(_chat("x" * 50)) == 50 + framed + 100


@pytest.mark.parametrize(("text", "size"), [("abc", 3), ("äöü", 6), ("日本語", 9), ("🦊", 4), ("\ud800", 1)])
def test_text_costs_by_its_bytes_so_that_dense_scripts_cost_more(text: str, size: int) -> None:
    assert ONE_TOKEN_A_BYTE.estimate(text) == size + 100


@pytest.mark.parametrize(
    ("limits", "output"),
    [({}, 100), ({"max_tokens": 7}, 7), ({"max_completion_tokens": 5}, 5), ({"n": 3}, 300),
     ({"max_tokens": 7, "max_completion_tokens": 5}, 5), ({"max_tokens": 7, "n": 3}, 21),
     ({"max_tokens": None, "n": None}, 100), ({"max_tokens": -1, "n": 0}, 100), ({"max_tokens": "7"}, 100),
     ({"max_tokens": True}, 100)],
)  # fmt: skip
def test_the_output_is_what_the_payload_allows(limits: dict[str, Any], output: int) -> None:
    payload = {"messages": [], **limits}
    text = ONE_TOKEN_A_BYTE.estimate({"messages": [], **dict.fromkeys(limits)}) - 100
    others = sum(len(value) - 4 for value in limits.values() if isinstance(value, str))
    assert ONE_TOKEN_A_BYTE.estimate(payload) == text + others + output


def test_an_attachment_has_a_flat_cost() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}}
    with_it = ONE_TOKEN_A_BYTE.estimate(_chat([{"type": "text", "text": "what is this"}, picture]))
    without = ONE_TOKEN_A_BYTE.estimate(_chat([{"type": "text", "text": "what is this"}]))
    assert with_it - without == 1000


def test_tools_count_with_their_names() -> None:
    tools = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
    assert ONE_TOKEN_A_BYTE.estimate(_chat("x", tools=tools)) > ONE_TOKEN_A_BYTE.estimate(_chat("x")) + 40


def test_no_estimate_is_above_the_largest_cost() -> None:
    assert ChatEstimator().estimate({"max_tokens": 10**30, "n": 10**30}) == MAX_COST


def test_a_deeply_nested_payload_is_estimated() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    assert ONE_TOKEN_A_BYTE.estimate(deep) == 101


@given(JSON | st.binary())
def test_any_payload_has_an_estimate_that_is_a_cost_and_repeats(payload: Any) -> None:
    estimate = ChatEstimator().estimate(payload)
    assert type(estimate) is int
    assert 1 <= estimate <= MAX_COST
    assert ChatEstimator().estimate(payload) == estimate


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert ChatEstimator().estimate(_chat(text + more)) >= ChatEstimator().estimate(_chat(text))
