"""Ids and numbers: which are accepted, and how others are refused."""

import math

import pytest

from fairlane.domain.limits import (
    MAX_COST,
    MAX_TASK_ID,
    MAX_TENANT_ID,
    check_integer,
    check_task_id,
    check_tenant_id,
    id_problem,
)
from fairlane.errors import InvalidTask

GOOD = ["a", "A", "7", "acme", "a.b-c_d@e.f", "0" * MAX_TENANT_ID, "user@example.com"]
BAD = {
    "braces": "a{b}",
    "an opening brace": "{",
    "a colon": "a:b",
    "a space": "a b",
    "a space at the end": "a ",
    "a newline": "a\nb",
    "a newline at the end": "a\n",
    "a carriage return": "a\r",
    "NUL": "a\0b",
    "a path up": "../etc/passwd",
    "a path": "a/b",
    "a backslash": "a\\b",
    "a dot first": ".hidden",
    "a dash first": "-rf",
    "an at first": "@a",
    "10 kB": "a" * 10_240,
    "an emoji": "🦊",
    "an accent": "é",
    "an Arabic digit": "٣",
    "a full-width letter": "\uff41",
    "a zero-width joiner": "a\u200db",
    "markup": "<script>",
    "a pipe": "a|b",
    "an escape": "\x1b[31m",
    "a formula": "=1+1",
    "a wildcard": "a*",
    "nothing": "",
}


@pytest.mark.parametrize("value", GOOD)
def test_a_valid_id_is_returned_unchanged(value: str) -> None:
    assert check_tenant_id(value) == value
    assert check_task_id(value) == value


@pytest.mark.parametrize("check", [check_tenant_id, check_task_id])
@pytest.mark.parametrize("case", BAD)
def test_a_bad_id_is_refused_in_one_short_printable_line(case: str, check: object) -> None:
    with pytest.raises(InvalidTask) as caught:
        check(BAD[case])  # type: ignore[operator]
    text = str(caught.value)
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 200
    assert caught.value.context["field"] in {"tenant", "task_id"}


@pytest.mark.parametrize("value", [None, 7, 1.5, True, b"a", ["a"], ("a",), {"a": 1}])
def test_an_id_must_be_text(value: object) -> None:
    with pytest.raises(InvalidTask, match=type(value).__name__):
        check_tenant_id(value)


def test_the_longest_ids() -> None:
    assert id_problem("a" * MAX_TENANT_ID, longest=MAX_TENANT_ID) is None
    assert "129" in str(id_problem("a" * (MAX_TENANT_ID + 1), longest=MAX_TENANT_ID))
    assert check_task_id("a" * MAX_TASK_ID)
    with pytest.raises(InvalidTask, match="201"):
        check_task_id("a" * (MAX_TASK_ID + 1))


@pytest.mark.parametrize("cost", [1, 2, MAX_COST])
def test_a_good_cost_is_returned(cost: int) -> None:
    assert check_integer(cost, field="cost", lowest=1, highest=MAX_COST) == cost


@pytest.mark.parametrize(
    "cost", [0, -1, 2**53 + 1, MAX_COST + 1, 1.5, 1.0, math.nan, math.inf, 1e308, True, False, "1", None, [], 10**400]
)
def test_a_bad_cost_is_refused_naming_field_value_and_bounds(cost: object) -> None:
    with pytest.raises(InvalidTask) as caught:
        check_integer(cost, field="cost", lowest=1, highest=MAX_COST)
    text = str(caught.value)
    assert text.startswith("cost = ")
    assert ascii(cost)[:40] in text
    assert f"from 1 to {MAX_COST}" in text
    assert len(text) < 200
