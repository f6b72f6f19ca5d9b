"""An attempt at a task: a reservation (hold, slot, worker and fence), and how it can end."""

from enum import StrEnum
from typing import Final


class AttemptState(StrEnum):
    """The state of an attempt. An end also decides what the attempt costs.

    ``completed``, ``failed``, ``expired`` and ``cancelled`` after a start settle the actual cost. ``throttled``,
    ``returned`` and every end before a start cost nothing. ``lost`` counts a recovery if the attempt was active.
    """

    RESERVED = "reserved"
    ENQUEUED = "enqueued"
    ACTIVE = "active"
    COMPLETED = "completed"
    THROTTLED = "throttled"
    FAILED = "failed"
    LOST = "lost"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    RETURNED = "returned"


_ENDS_UNSTARTED: Final = frozenset(
    {AttemptState.LOST, AttemptState.EXPIRED, AttemptState.CANCELLED, AttemptState.RETURNED}
)
ATTEMPT_ENDS: Final = _ENDS_UNSTARTED | {AttemptState.COMPLETED, AttemptState.THROTTLED, AttemptState.FAILED}

ATTEMPT_TRANSITIONS: Final[dict[AttemptState, frozenset[AttemptState]]] = {
    AttemptState.RESERVED: frozenset({AttemptState.ENQUEUED}),
    AttemptState.ENQUEUED: frozenset({AttemptState.ACTIVE}) | _ENDS_UNSTARTED,
    AttemptState.ACTIVE: ATTEMPT_ENDS,
    **dict.fromkeys(ATTEMPT_ENDS, frozenset()),
}
"""``dispatch`` reserves and enqueues in one step, so ``reserved`` is never stored."""


class Outcome(StrEnum):
    """How an attempt ended, as its worker reports it."""

    COMPLETED = "completed"
    FAILED = "failed"
    """Another attempt may succeed."""
    REFUSED = "refused"
    """No attempt can succeed: the task fails now."""
    EXPIRED = "expired"
    CANCELLED = "cancelled"
