"""Task records and entries of `flight`, as the scripts write them: see `fairlane.store.keys`."""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.store.codec import split_name, unpack_numbers, unpack_texts
from fairlane.store.keys import ATTEMPT_NUMBERS, TASK_NUMBERS, TASK_TEXTS

_SIZE: Final = struct.Struct("<I")
_END: Final = struct.Struct("<HI")


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
    record = task_record(raw)
    numbers = _whole(record.numbers)
    flying = attempt(entry) if entry else None
    latest = _whole(flying.numbers) if flying else numbers
    ended = numbers["ended"] > 0
    return TaskView(
        ref=ref,
        state=flying.state if flying else TaskState(record.state),
        cost=numbers["cost"],
        priority=numbers["priority"],
        fence=latest["fence"],
        failures=numbers["failures"],
        recoveries=numbers["recoveries"],
        throttles=numbers["throttles"],
        submitted_ms=numbers["submitted"],
        started_ms=latest["started"],
        ended_ms=numbers["ended"],
        actual=numbers["actual"] if ended else None,
        result=record.body if ended else None,
        error_code=record.code,
        error=record.error,
    )


def _whole(numbers: dict[str, int | float]) -> dict[str, int]:
    fractions = [name for name, value in numbers.items() if isinstance(value, float)]
    if fractions:
        raise ValueError(f"no whole number: {', '.join(fractions)}")
    return cast("dict[str, int]", numbers)


def ends(data: bytes) -> Iterator[tuple[TaskRef, bytes]]:
    """Yield the tasks of an entry that a client waits for, and their records; b"" if the record was too large."""
    at = 0
    while at < len(data):
        name, size = _END.unpack_from(data, at)
        at += _END.size
        yield split_name(data[at : at + name]), data[at + name : at + name + size]
        at += name + size
