"""Reads the wire form of event rows: arrays that begin with a kind of `fairlane.domain.events.KINDS`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final, get_type_hints

from fairlane.domain.events import ENDS, KINDS, End, EndRow, Event, Row
from fairlane.errors import MalformedEvent


def decode_event(stream_id: str, number: int, at_ms: int, by: str, rows: Sequence[object]) -> Event:
    """Return an entry whose rows are arrays.

    Raises:
        MalformedEvent: naming the first row that this version does not write.

    """
    decoded = []
    for index, row in enumerate(rows):
        try:
            decoded.append(_decode_row(row))
        except ValueError as error:
            raise MalformedEvent(
                f"event {number} ({by}), row {index} {ascii(row)[:200]}: {error}", number=number, by=by, row=row
            ) from None
    return Event(stream_id, number, at_ms, by, tuple(decoded))


def _decode_row(row: object) -> Row:
    if not isinstance(row, list | tuple) or not row or not isinstance(row[0], str) or row[0] not in _LAYOUTS:
        raise ValueError("must be an array that begins with the kind of a row")
    layout = _LAYOUTS[row[0]]
    values = list(row if layout.row is EndRow else row[1:])
    for index in layout.reals:
        if index < len(values) and type(values[index]) is int:
            values[index] = float(values[index])  # Lua knows no difference
    if tuple(map(type, values)) != layout.wire:
        raise ValueError(f"after the kind must come: {', '.join(row_fields(layout.row)) or 'nothing'}")
    for index, members in layout.enums:
        if values[index] not in members:
            raise ValueError(f"{values[index]!r} must be one of {', '.join(members)}")
        values[index] = members[values[index]]
    return layout.row(*values)


def row_fields(row: type[Row]) -> list[str]:
    """Return the names of a row's fields in the order of the wire, without its kind."""
    return [field.name for field in fields(row) if field.name != "end"]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a class stands on the wire. ``enums``: where a member stands by its value."""

    row: type[Row]
    wire: tuple[type, ...]
    enums: tuple[tuple[int, dict[str, StrEnum]], ...]
    reals: tuple[int, ...]


def _layout(row: type[Row]) -> _Layout:
    hints = get_type_hints(row)
    types = [hints[field.name] for field in fields(row)]
    members = [sorted(ENDS) if each == End else each if issubclass(each, StrEnum) else None for each in types]
    return _Layout(
        row,
        tuple(each if known is None else str for each, known in zip(types, members, strict=True)),
        tuple((i, {each.value: each for each in known}) for i, known in enumerate(members) if known is not None),
        tuple(i for i, each in enumerate(types) if each is float),
    )


_LAYOUTS: Final = {kind: _layout(row) for kind, row in KINDS.items()}
