"""Event rows on the wire: the writers of the scripts and the reader, both made from `fairlane.domain.events`.

A row is its kind, one byte, then its fields in order: a number is a double, a text has its length in one byte before
it.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final, get_type_hints

from fairlane.domain.events import KINDS, EndRow, Row

_DOUBLE: Final = struct.Struct("<d")


@dataclass(frozen=True, slots=True)
class _Layout:
    """``kind``: the row's, as the sources name it. ``fields``: by name, whether it is a text."""

    kind: str
    fields: dict[str, bool]


def _layout(kind: str, row: type[Row]) -> _Layout:
    hints = get_type_hints(row)
    return _Layout(kind, {field.name: hints[field.name] not in {int, float} for field in fields(row)})


_LAYOUTS: Final = tuple(
    _layout(kind, row) for kind, row in {("end" if row is EndRow else kind): row for kind, row in KINDS.items()}.items()
)


def kind_number(kind: str) -> int:
    """Return the byte with which rows of this kind begin."""
    return next(number for number, layout in enumerate(_LAYOUTS) if layout.kind == kind)


def lua_writers() -> Iterator[str]:
    """Yield a Lua function for each kind of row, which appends a row to `rows`."""
    for number, layout in enumerate(_LAYOUTS):
        wire = "<B" + "".join("Bc0" if text else "d" for text in layout.fields.values())
        names = [f"{name}_" for name in layout.fields]  # `end` is a word of Lua
        values = [
            f"#{name}, {name}" if text else name for name, text in zip(names, layout.fields.values(), strict=True)
        ]
        packed = f"struct.pack('{wire}', {', '.join([str(number), *values])})"
        yield f"local function event_{layout.kind}({', '.join(names)}) rows[#rows + 1] = {packed} end"


def unpack_rows(data: bytes) -> list[list[object]]:
    """Return the rows as arrays that begin with their kinds; a whole number is an int.

    Raises:
        ValueError: the data are no rows of this version.

    """
    rows = []
    at = 0
    while at < len(data):
        if data[at] >= len(_LAYOUTS):
            raise ValueError(f"byte {at} is {data[at]}, which is no kind of a row")
        layout = _LAYOUTS[data[at]]
        row: list[object] = [] if layout.kind == "end" else [layout.kind]
        at += 1
        for text in layout.fields.values():
            size = 1 + data[at] if text and at < len(data) else _DOUBLE.size
            if at + size > len(data):
                raise ValueError(f"a row of kind {layout.kind} breaks off after {len(data)} bytes")
            row.append(data[at + 1 : at + size].decode() if text else _number(data, at))
            at += size
        rows.append(row)
    return rows


def _number(data: bytes, at: int) -> int | float:
    (value,) = _DOUBLE.unpack_from(data, at)
    return int(value) if value.is_integer() else float(value)
