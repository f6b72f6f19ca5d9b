"""A Retry-After of seconds or a date becomes a pause that is never too short and never endless; others become None."""

import math
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from fairlane.errors import Throttled
from fairlane.providers.retry_after import LONGEST_PAUSE_MS, retry_after_ms

NOW = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)
NOW_SENT = "Sun, 06 Nov 1994 08:49:37 GMT"


class Wall:
    """A clock that always shows the same time."""

    def __init__(self, at_s: float = NOW.timestamp()) -> None:
        self.at_s = at_s

    def wall_s(self) -> float:
        return self.at_s

    def monotonic_s(self) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("value", "pause_ms"),
    [("0", 0), ("1", 1000), (" 120 ", 120_000), ("1.5", 1500), (".25", 250), ("2.", 2000), ("0.0001", 1),
     (0, 0), (3, 3000), (2.5, 2500)],
)  # fmt: skip
def test_seconds_are_taken_as_they_are_and_rounded_up(value: str | float, pause_ms: int) -> None:
    assert retry_after_ms(value) == pause_ms


@pytest.mark.parametrize(
    "value",
    ["Sun, 06 Nov 1994 08:49:47 GMT", "Sunday, 06-Nov-94 08:49:47 GMT", "Sun Nov  6 08:49:47 1994"],
    ids=["today's form", "RFC 850", "asctime"],
)
def test_all_three_forms_of_a_date_are_read(value: str) -> None:
    assert retry_after_ms(value, clock=Wall()) == 10_000


def test_a_date_is_measured_by_the_clock_of_its_sender() -> None:
    an_hour_off = Wall(NOW.timestamp() + 3600)
    until = "Sun, 06 Nov 1994 08:49:47 GMT"
    assert retry_after_ms(until, date=NOW_SENT, clock=an_hour_off) == 10_000
    assert retry_after_ms(until, date="yesterday", clock=Wall()) == 10_000


def test_a_date_that_has_passed_asks_for_no_pause() -> None:
    assert retry_after_ms("Sun, 06 Nov 1994 08:49:36 GMT", clock=Wall()) == 0


@pytest.mark.parametrize(
    "value",
    [None, "", " ", "-1", "+1", "-0.5", "soon", "1e3", "nan", "inf", "0x10", "1_000", "٣", "1 s", "1,5", "1;2",
     "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994", "Sun, 06 Nov 123456789 08:49:37 GMT", "1994-11-06T08:49:37Z",
     "Sun, " + "9" * 10_000, -1, -0.001, math.nan, True, b"1", [1]],
)  # fmt: skip
def test_an_unusable_value_is_none(value: Any) -> None:
    assert retry_after_ms(value, clock=Wall()) is None


@pytest.mark.parametrize(
    "value", ["86401", "9" * 400, "9" * 5000, 10**400, math.inf, "Fri, 31 Dec 9999 23:59:59 GMT"], ids=range(6)
)
def test_a_pause_is_at_most_a_day_or_longest_ms(value: str | float) -> None:
    assert retry_after_ms(value, clock=Wall()) == LONGEST_PAUSE_MS == 86_400_000
    assert retry_after_ms(value, clock=Wall(), longest_ms=5_000) == 5_000


@given(st.text() | st.binary() | st.floats() | st.integers() | st.none() | st.booleans(), st.none() | st.text())
def test_any_value_is_a_pause_or_none(value: Any, date: str | None) -> None:
    pause_ms = retry_after_ms(value, date=date, clock=Wall())
    assert pause_ms is None or (type(pause_ms) is int and 0 <= pause_ms <= LONGEST_PAUSE_MS)


@given(st.integers(0, 86_400), st.integers(0, 86_400))
def test_seconds_and_a_date_so_far_ahead_mean_the_same(seconds: int, skew_s: int) -> None:
    until = format_datetime(datetime.fromtimestamp(NOW.timestamp() + seconds, UTC), usegmt=True)
    skewed = Wall(NOW.timestamp() + skew_s)
    assert retry_after_ms(until, clock=Wall()) == retry_after_ms(str(seconds)) == seconds * 1000
    assert retry_after_ms(until, date=NOW_SENT, clock=skewed) == seconds * 1000


@given(st.floats(0, 86_400, allow_subnormal=False))
def test_a_pause_is_never_shorter_than_asked(seconds: float) -> None:
    pause_ms = retry_after_ms(seconds)
    assert pause_ms is not None
    assert seconds * 1000 <= pause_ms <= seconds * 1000 + 1


def test_a_users_own_provider_can_pass_the_header_on() -> None:
    assert Throttled(retry_after_ms=retry_after_ms("2")).retry_after_ms == 2000
    assert Throttled(retry_after_ms=retry_after_ms("later")).retry_after_ms is None
