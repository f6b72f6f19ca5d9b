"""The event stream: what each script call did, in order; the evidence for reports and audits.

One stream entry per script call that changed something, with the fields ``n`` (a sequence without gaps), ``at``
(server ms), ``by`` (the command) and ``rows`` (MessagePack: an array of rows, in the order of the decisions).
A row is an array whose first element is its kind.

    pending    tenant id cost priority                       accepted by submit
    enqueued   tenant id fence cost charge incarnation       reserved and handed over, one step
    active     tenant id fence                               started
    <an end>   tenant id fence actual forfeited ratio task_state not_before_ms
               completed throttled failed lost expired cancelled returned; fence 0: it ended while pending;
               also rejected (always fence 0)
    ready      tenant id                                     its own wait is over, it is in the queue again
    parked     tenant reason
    released   tenant deficit                                its head fits again, or it has none left
    entered    tenant deficit                                its queue is no longer empty; left out when it owes nothing
    tenant     tenant weight slot_ceiling cost_ceiling       put or changed; has no budget unless one follows
    budget     tenant limit                                  put, changed, topped up, or without what was added to the
                                                             period before
    period     tenant number                                 a new budget period
    late       tenant id fence actual                        usage of an attempt that had been taken away
    removed    tenant
    capacity   from to reason
    worker     incarnation name state
    paused     until_ms
    resumed
    epoch      number                                        the pool was idle; deficits start afresh
"""

from dataclasses import dataclass
from enum import StrEnum

Scalar = str | int


class EventKind(StrEnum):
    """The kinds of rows that are not an attempt's or a task's new state."""

    PENDING = "pending"
    READY = "ready"
    REJECTED = "rejected"
    PARKED = "parked"
    RELEASED = "released"
    ENTERED = "entered"
    TENANT = "tenant"
    REMOVED = "removed"
    BUDGET = "budget"
    PERIOD = "period"
    LATE = "late"
    CAPACITY = "capacity"
    WORKER = "worker"
    PAUSED = "paused"
    RESUMED = "resumed"
    EPOCH = "epoch"


@dataclass(frozen=True, slots=True)
class Event:
    """One stream entry.

    ``stream_id`` is where to read on; ``number`` grows by exactly one from entry to entry.
    """

    stream_id: str
    number: int
    at_ms: int
    by: str
    rows: tuple[tuple[Scalar, ...], ...]
