"""The request of each command: its fields, named once for Python and Lua.

On the wire a request is a MessagePack array of its fields in this order; the field `items` of a batch is an array of
such arrays. Lua writes `request.<field>` and `item.<field>`; the loader puts the indexes there, so that a name costs
nothing when a script runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from fairlane.domain.task import TaskRef
from fairlane.store.codec import pack
from fairlane.store.messages import Return, Settlement, Submission, Throttle


@dataclass(frozen=True, slots=True)
class Items:
    """The elements of a batch. ``read`` turns what the store's method was given into a row of these fields."""

    fields: tuple[str, ...]
    read: Callable[[Any], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Request:
    """What a command takes. ``items`` None: no batch."""

    fields: tuple[str, ...]
    items: Items | None = None


def _plain(*names: str) -> Request:
    return Request(names)


def _batch(*names: str, of: type[tuple[object, ...]] | tuple[str, ...]) -> Request:
    """Return a request whose last field is a batch, of a message or of tuples; a `TaskRef` counts as its two parts."""
    if isinstance(of, tuple):
        return Request((*names, "items"), Items(of, tuple))
    paths = [
        path
        for name, kind in of.__annotations__.items()
        for path in ((f"{name}.tenant", f"{name}.id") if kind is TaskRef else (name,))
    ]
    return Request((*names, "items"), Items(tuple(path.rpartition(".")[2] for path in paths), attrgetter(*paths)))


REQUESTS: Final = {
    "put_pool": _plain("settings"),
    "put_tenants": _batch(of=("tenant", "settings")),
    "change_tenant": _plain("tenant", "read", "wanted"),
    "remove_tenant": _plain("tenant"),
    "submit": _batch("client", of=Submission),
    "cancel": _batch(of=TaskRef),
    "dispatch": _batch("limit", "keep", "unused", of=("incarnation", "slots")),
    "start": _plain("incarnation", "cursor", "limit"),
    "settle": _batch("incarnation", of=Settlement),
    "turn": _batch("incarnation", "cursor", "limit", of=Settlement),
    "throttle": _batch("incarnation", of=Throttle),
    "release": _batch("incarnation", of=Return),
    "register": _plain("name", "incarnation", "slots"),
    "heartbeat": _plain("incarnation"),
    "drain": _plain("incarnation"),
    "evict": _plain("incarnation"),
    "reap": _plain(),
    "fire": _plain(),
    "adapt": _plain("period_ms", "cooldown_ms", "clean_ticks", "minimum_slots"),
    "set_capacity": _plain("slots"),
    "pause": _plain("duration_ms"),
    "admit": _plain("closed"),
    "top_up": _plain("tenant", "units", "key"),
    "ledger": _plain("tenant"),
    "snapshot": _plain("after_tenant", "limit", "tenant"),
}  # fmt: skip
"""By command. Each is a file of `store/lua/`."""


def encode(command: str, /, **values: Any) -> bytes:  # noqa: ANN401 - each field has its own type
    """Return a command's request.

    Raises:
        TypeError: the values are not exactly the command's fields.

    """
    request = REQUESTS[command]
    if values.keys() != set(request.fields):
        raise TypeError(f"{command} takes {', '.join(request.fields)}; given: {', '.join(values)}")
    if request.items is not None:
        values["items"] = [request.items.read(item) for item in values["items"]]
    return pack([values[name] for name in request.fields])
