"""Task records and entries of `flight`, as the scripts write them: see `fairlane.store.keys`."""

import struct
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from fairlane.domain.limits import PRIORITY_STEP
from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.store.codec import doubles, split_name, unpack_numbers, unpack_texts
from fairlane.store.keys import ATTEMPT_NUMBERS, TASK_NUMBERS, TASK_TEXTS, TENANT_NUMBERS

_SIZE: Final = struct.Struct("<I")
_END: Final = struct.Struct("<HI")
_DOUBLE: Final = struct.Struct("<d")
_TASK: Final = struct.Struct(doubles(TASK_NUMBERS))
_ATTEMPT: Final = struct.Struct(doubles(ATTEMPT_NUMBERS))
_VIEWED: Final = (
    "ended", "cost", "priority", "submitted", "failures", "recoveries", "throttles", "fence", "started", "actual",
)  # fmt: skip
_of_task = itemgetter(*map(TASK_NUMBERS.index, _VIEWED))
_of_attempt = itemgetter(*map(ATTEMPT_NUMBERS.index, ("active", "fence", "started")))
STATES: Final = {state.value.encode(): state for state in TaskState}
"""The states as the scripts write them."""


class TaskRecord(NamedTuple):
    """A decoded record. ``body``: the payload, or the result once the task has ended."""

    numbers: dict[str, int | float]
    client: str
    worker: str
    state: str
    code: str
    error: str
    body: bytes


class Attempt(NamedTuple):
    """A decoded entry of `flight`."""

    numbers: dict[str, int | float]
    worker: str

    @property
    def state(self) -> TaskState:
        """The state of its task."""
        return TaskState.ACTIVE if self.numbers["active"] else TaskState.ENQUEUED


def task_record(raw: bytes) -> TaskRecord:
    """Decode a record.

    Raises:
        struct.error, IndexError: it breaks off.

    """
    numbers = unpack_numbers(raw, TASK_NUMBERS)
    texts, at = unpack_texts(raw, 8 * len(TASK_NUMBERS), len(TASK_TEXTS))
    (size,) = _SIZE.unpack_from(raw, at)
    at += _SIZE.size
    client, worker, state, _, code = texts
    return TaskRecord(
        numbers,
        client.decode(),
        worker.decode(),
        state.decode(),
        code.decode("utf-8", "replace"),
        raw[at : at + size].decode("utf-8", "replace"),
        raw[at + size :],
    )


def attempt(entry: bytes) -> Attempt:
    """Decode an entry of `flight`."""
    numbers = unpack_numbers(entry, ATTEMPT_NUMBERS)
    (worker,), _ = unpack_texts(entry, 8 * len(ATTEMPT_NUMBERS), 1)
    return Attempt(numbers, worker.decode())


def task_view(ref: TaskRef, raw: bytes, entry: bytes | None = None) -> TaskView:
    """Build a view from a record, and from its entry while it is in flight.

    Raises:
        struct.error, IndexError, ValueError: they are damaged.

    """
    numbers = _whole(_TASK, raw, TASK_NUMBERS)
    ended, cost, priority, submitted, failures, recoveries, throttles, fence, started, actual = _of_task(numbers)
    (_, _, stored, _, code), at = unpack_texts(raw, _TASK.size, len(TASK_TEXTS))
    (size,) = _SIZE.unpack_from(raw, at)
    at += _SIZE.size
    if entry:
        active, fence, started = _of_attempt(_whole(_ATTEMPT, entry, ATTEMPT_NUMBERS))
        state = TaskState.ACTIVE if active else TaskState.ENQUEUED
    else:
        state = STATES.get(stored) or TaskState(stored.decode())
    return TaskView(
        ref,
        state,
        cost,
        priority,
        fence,
        failures,
        recoveries,
        throttles,
        submitted,
        started,
        ended,
        actual if ended > 0 else None,
        raw[at + size :] if ended > 0 else None,
        code.decode("utf-8", "replace"),
        raw[at : at + size].decode("utf-8", "replace"),
    )


def _whole(layout: struct.Struct, data: bytes, names: Sequence[str]) -> tuple[int, ...]:
    values = layout.unpack_from(data)
    try:
        numbers = tuple(map(int, values))
    except (ValueError, OverflowError):
        numbers = ()
    if numbers != values:
        fractions = [name for name, value in zip(names, values, strict=True) if not value.is_integer()]
        raise ValueError(f"no whole number: {', '.join(fractions)}")
    return numbers


def arrival(raw: bytes) -> int:
    """Return a record's place in the order of arrival, which is the pool's sequence when it was admitted.

    Raises:
        struct.error, ValueError: it breaks off, or is damaged.

    """
    (score,) = _DOUBLE.unpack_from(raw, 8 * TASK_NUMBERS.index("score"))
    return int(score) % PRIORITY_STEP


def registered_at(raw: bytes) -> int:
    """Return the pool's sequence when this tenant was registered; what arrived before is a former tenant's.

    Raises:
        struct.error, ValueError: the tenant's record breaks off, or is damaged.

    """
    (sequence,) = _DOUBLE.unpack_from(raw, 8 * TENANT_NUMBERS.index("registered"))
    return int(sequence)


def ends(data: bytes) -> Iterator[tuple[TaskRef, bytes]]:
    """Yield the tasks of an entry that a client waits for, and their records; b"" if the record was too large."""
    at = 0
    while at < len(data):
        name, size = _END.unpack_from(data, at)
        at += _END.size
        yield split_name(data[at : at + name]), data[at + name : at + name + size]
        at += name + size
