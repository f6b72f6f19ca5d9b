"""The numeric bounds of the system, and the form of its ids.

All accounting is in integers that a double holds exactly (up to 2^53), because Redis's Lua has only doubles.
"""

import re
from typing import Final

from fairlane.errors import FairlaneError, InvalidTask

MAX_COST: Final = 2**40
MAX_WEIGHT: Final = 10**6
MAX_QUANTUM: Final = 2**30
MAX_SLOTS: Final = 10**6
MAX_PRIORITY: Final = 255
RATIO_ONE: Final = 1000
"""The charge ratio is in permille."""
MAX_SERVED: Final = 2**52
"""A tenant's debt of service grows no further."""
MAX_VIRTUAL_SERVICE: Final = 2**48
"""The pool's virtual time returns to 0 when it, times the largest weight, exceeds this; see docs/fairness.md."""
PRIORITY_STEP: Final = 2**44
"""Pending score = priority * PRIORITY_STEP + arrival sequence."""
MAX_DURATION_MS: Final = 10 * 365 * 24 * 3600 * 1000

MAX_TENANT_ID: Final = 128
MAX_TASK_ID: Final = 200
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*", re.ASCII)


def id_problem(value: object, *, longest: int) -> str | None:
    """Say why ``value`` cannot be an id, or None if it can."""
    if not isinstance(value, str):
        return f"must be a string, not {type(value).__name__}"
    if not value:
        return "must not be empty"
    if len(value) > longest:
        return f"is {len(value)} characters long; at most {longest} are accepted"
    if _ID.fullmatch(value) is None:
        return "must start with a letter or digit and hold only letters, digits and . _ @ -"
    return None


def check_tenant_id(value: object) -> str:
    """Return a valid tenant id.

    Raises:
        InvalidTask: with field ``tenant``.

    """
    return _checked(value, field="tenant", longest=MAX_TENANT_ID)


def check_task_id(value: object) -> str:
    """Return a valid task id.

    Raises:
        InvalidTask: with field ``task_id``.

    """
    return _checked(value, field="task_id", longest=MAX_TASK_ID)


def check_integer(
    value: object, *, field: str, lowest: int, highest: int, error: type[FairlaneError] = InvalidTask
) -> int:
    """Return ``value`` if it is a true integer (not a bool, not a float) within the bounds.

    Raises:
        FairlaneError: of the given kind, naming field, value and what is accepted.

    """
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise error(
            f"{field} = {_shown(value)}: must be a whole number from {lowest} to {highest}",
            field=field,
            value=_shown(value),
        )
    return value


def _checked(value: object, *, field: str, longest: int) -> str:
    problem = id_problem(value, longest=longest)
    if problem is not None:
        raise InvalidTask(f"{field} = {_shown(value)}: {problem}", field=field, value=_shown(value))
    assert isinstance(value, str)  # noqa: S101 - id_problem said so
    return value


def _shown(value: object) -> str:
    """Show a bad value without its control characters and without all of its length."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
