"""Converts a Retry-After header to milliseconds, as `Throttled` takes them."""

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from fairlane.clock import SYSTEM_CLOCK, Clock

LONGEST_PAUSE_MS: Final = 24 * 3600 * 1000
"""A day. Longer pauses are cut to it."""
_SECONDS: Final = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)
_DATE: Final = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? .+", re.ASCII | re.IGNORECASE)
_LONGEST_VALUE: Final = 100


def retry_after_ms(
    value: str | float | None,
    *,
    date: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
    longest_ms: int = LONGEST_PAUSE_MS,
) -> int | None:
    """Return the pause that ``value`` asks for, from 0 to ``longest_ms``; None if ``value`` is unusable.

    ``value`` is the header (seconds, with or without a fraction, or an HTTP date), or a number of seconds. A date in
    the past gives 0; a negative number is unusable. A date is compared with ``date``, the Date header of the same
    response, so that the clocks of the two machines need not agree; without a usable ``date``, with this machine's
    ``clock``. Fractions of a millisecond are rounded up, so that the pause is never too short.
    """
    seconds: float | None
    if isinstance(value, int | float):
        seconds = value if value >= 0 and not isinstance(value, bool) else None  # NaN is not >= 0 either
    else:
        seconds = _seconds(value, date, clock)
    if seconds is None:
        return None
    return longest_ms if seconds >= longest_ms / 1000 else math.ceil(seconds * 1000)


def _seconds(value: object, date: str | None, clock: Clock) -> float | None:
    text = value.strip() if isinstance(value, str) else ""
    if _SECONDS.fullmatch(text) is not None:
        return float(text)
    until_s = _http_date(text)
    if until_s is None:
        return None
    now_s = _http_date(date.strip()) if isinstance(date, str) else None
    return max(0.0, until_s - (clock.wall_s() if now_s is None else now_s))


def _http_date(text: str) -> float | None:
    """Return the seconds since the epoch of a date in one of HTTP's three forms; None if it is something else."""
    if len(text) > _LONGEST_VALUE or _DATE.fullmatch(text) is None:
        return None
    try:
        parsed = parsedate_to_datetime(text)
        return (parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
