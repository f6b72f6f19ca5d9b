"""An attempt: one reservation of a task (hold + slot + worker + fence), and how it can end."""

from enum import StrEnum
from typing import Final


class AttemptState(StrEnum):
    """Where an attempt is; its ends also say what it costs the task.

    ``completed``, ``failed``, ``expired`` and ``cancelled`` after a start settle their actual cost; ``throttled``,
    ``returned`` and everything before a start cost nothing; ``lost`` counts a recovery if it was active.
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
"""``dispatch`` reserves and enqueues in one step, so ``reserved`` is never seen on its own."""


class Outcome(StrEnum):
    """How a worker says that an attempt it ran has ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    """Another attempt may succeed."""
    REFUSED = "refused"
    """No attempt can succeed: the task fails now."""
    EXPIRED = "expired"
    CANCELLED = "cancelled"
