"""MessagePack on the way to and from the scripts.

The server's ``cmsgpack`` knows no bin type, so text and bytes are both raw strings on the wire; what is text is
decoded here.
"""

from collections.abc import Sequence
from typing import Any

import msgpack

from fairlane.domain.task import TaskRef, TaskState, TaskView


def pack(value: object) -> bytes:
    """Encode a request of strings, bytes, integers and lists."""
    return bytes(msgpack.packb(value, use_bin_type=False))


def unpack(data: bytes) -> Any:  # noqa: ANN401 - each command knows its reply's shape
    """Decode a reply; strings stay bytes."""
    return msgpack.unpackb(data, raw=True, strict_map_key=False)


def unpack_rows(data: bytes) -> tuple[tuple[str | int, ...], ...]:
    """Decode event rows: names and states are ASCII by construction."""
    rows = msgpack.unpackb(data, raw=False, use_list=False)
    return tuple(rows)


def split_name(name: bytes) -> TaskRef:
    """Decode ``tenant:id``."""
    tenant, _, task = name.decode().partition(":")
    return TaskRef(tenant, task)


def _number(raw: Any) -> int:  # noqa: ANN401
    return int(raw) if raw else 0


def task_view(ref: TaskRef, raw: Sequence[Any]) -> TaskView | None:
    """Build a view from the record fields in VIEW_FIELDS order; None if there is no record."""
    state = raw[0]
    if not state:
        return None
    return TaskView(
        ref=ref,
        state=TaskState(state.decode()),
        cost=_number(raw[1]),
        priority=_number(raw[2]),
        fence=_number(raw[3]),
        failures=_number(raw[4]),
        recoveries=_number(raw[5]),
        throttles=_number(raw[6]),
        submitted_ms=_number(raw[7]),
        started_ms=_number(raw[8]),
        ended_ms=_number(raw[9]),
        actual=int(raw[10]) if raw[10] else None,
        result=raw[11] if raw[10] else None,
        error_code=(raw[12] or b"").decode("utf-8", "replace"),
        error=(raw[13] or b"").decode("utf-8", "replace"),
    )
