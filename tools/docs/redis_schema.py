"""Renders docs/redis-schema.md: every key, how long it lives, and its fields.

Run as ``python -m tools.docs.redis_schema > docs/redis-schema.md``.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from fairlane.domain.event_decoder import row_fields
from fairlane.domain.events import KINDS
from fairlane.store import keys

_INTRO: Final = """\
# What Fairlane stores

Generated from `fairlane.store.keys` and `fairlane.domain.events` by `python -m tools.docs.redis_schema`; do not edit.

Schema version {version}. Every key of a scheduler starts with `{prefix}`: the braces put all of them
into one cluster slot, so that one script can change them together. Ids of tenants and tasks never hold a colon or a
brace, so that a key is read from left to right. Nothing outside Fairlane should write these keys.

Numbers are whole and exact up to 2^53, except virtual times (`virtual_time`, `rebased`, `base`, scores of the calendar)
and deficits, which are doubles. Other times are milliseconds of the server's clock since the epoch. Durations are
milliseconds. Costs are units.
"""

_RECORDS: Final[Sequence[tuple[str, Sequence[str], Sequence[str], str]]] = (
    ("`pool`, field `state`", keys.POOL_STATE, (), "Every command that changes something writes it."),
    ("`tenant`", keys.TENANT_NUMBERS, keys.TENANT_TEXTS, "Written with the tenant's tasks."),
    (
        "`limits`",
        keys.LIMIT_NUMBERS,
        (),
        "A tenant without limits, a ledger or windows has no entry.",
    ),
    (
        "`task:<tenant>:<id>`",
        keys.TASK_NUMBERS,
        keys.TASK_TEXTS,
        "The length of an error text (4 bytes) and the text follow, and the payload, or the result once the task has "
        "ended. `fence`, `started`, `actual` and `worker` are those of the latest attempt that has ended. `lost`: the "
        "latest attempt whose worker was lost before it reported its usage.",
    ),
    (
        "`flight`",
        keys.ATTEMPT_NUMBERS,
        ("worker",),
        "Once the attempt is active, the task's record without payload follows, so that the task can end without being "
        "read.",
    ),
    ("`worker`", keys.WORKER_NUMBERS, keys.WORKER_TEXTS, "One life of a worker."),
)
"""Where a record stands, its numbers, its texts, and a remark."""

_RECORD_INTRO: Final = """\
A record is its numbers, then its texts. A number is a double, little-endian. A text has its length in one byte before
it.
"""

_EVENTS: Final = """\
## Events

An entry of the stream `events` is what one script call changed. Its fields:

- `n`: the entry's number; each entry's is one more than the number of the entry before it
- `at`: when, server ms
- `by`: the command
- `rows`: the rows, one after the other, in the order of the decisions

A row is its kind, one byte, then these fields in this order, as numbers and texts of a record. An attempt's end is one
kind of row; it begins with the name of the end.
"""


_PLAN: Final = """\
The places that the dispatcher left for tasks to come, in the order in which `submit` uses them while nothing waits: how
many, in one byte, then the incarnation of each, behind one byte for its length."""


def render() -> str:
    """Return the page."""
    prefix = keys.Keys("<name>").prefix
    lines = [*_INTRO.format(version=keys.SCHEMA_VERSION, prefix=prefix).splitlines(), "", "## Keys", ""]
    rows = [(f"`{spec.pattern}`", spec.type, spec.holds, spec.owner) for spec in keys.KEYS]
    lines += _table(("key", "type", "holds", "lives as long as"), rows)
    lines += ["", "## Records", "", *_RECORD_INTRO.splitlines()]
    for place, numbers, texts, remark in _RECORDS:
        lines += ["", f"### {place}", "", remark, "", f"- numbers: {_names(numbers)}"]
        lines += [f"- texts: {_names(texts)}"] if texts else []
    lines += ["", "### `pool`, field `settings`", "", "Written by `put_pool`; MessagePack values, one after the other."]
    lines += ["", f"- {_names(keys.POOL_SETTINGS)}"]
    lines += ["", "### `pool`, field `plan`", "", *_PLAN.splitlines()]
    lines += ["", "## Sleepers", "", "The roles that block on `bell:<sleeper>`:", ""]
    sleepers = (
        (keys.DISPATCHER_BELL, "a dispatcher: a task may be placed, or the plan is nearly used up"),
        (keys.worker_bell("<incarnation>"), "a worker: it was handed a task, or should stop one"),
        (keys.client_bell("<client>"), "a client: a task it waits for has ended"),
    )
    lines += _table(("sleeper", "wakes"), [(f"`{sleeper}`", why) for sleeper, why in sleepers])
    lines += ["", f"A bell lives {keys.BELL_TTL_MS // 1000} s if nobody waits for it.", ""]
    lines += [*_EVENTS.splitlines(), "", *_table(("kind", "fields", "meaning"), list(_event_rows())), ""]
    return "\n".join(lines)


def _event_rows() -> Iterator[tuple[str, str, str]]:
    for row in dict.fromkeys(KINDS.values()):
        kinds = ", ".join(f"`{kind}`" for kind, each in KINDS.items() if each is row)
        fields = ", ".join(f"`{name}`" for name in row_fields(row))
        yield kinds, fields or "none", " ".join((row.__doc__ or "").split())


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [head, *escaped]) for column in range(len(head))]
    yield _line(head, widths)
    yield _line(["-" * width for width in widths], widths)
    for row in escaped:
        yield _line(row, widths)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


if __name__ == "__main__":
    sys.stdout.write(render())
