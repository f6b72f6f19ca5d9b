"""MessagePack on the way to and from the scripts.

The server's ``cmsgpack`` has no bin type: text and bytes are both raw strings on the wire, and this module decodes
the text.
"""

import struct
from collections.abc import Sequence
from typing import Any

import msgpack

from fairlane.domain.task import TaskRef
from fairlane.store.keys import TEXT, WORKER_NUMBERS, WORKER_TEXTS


def pack(value: object) -> bytes:
    """Encode a request of strings, bytes, integers and lists."""
    return bytes(msgpack.packb(value, use_bin_type=False))


def unpack(data: bytes) -> Any:  # noqa: ANN401 - each command knows its reply's shape
    """Decode a reply; strings stay bytes."""
    return msgpack.unpackb(data, raw=True, strict_map_key=False)


def doubles(names: Sequence[str]) -> str:
    """Return the format of these numbers as doubles, for Python and Lua."""
    return "<" + "d" * len(names)


def pack_numbers(numbers: Sequence[float]) -> bytes:
    """Encode numbers as doubles, one after the other."""
    return struct.pack(f"<{len(numbers)}d", *numbers)


def unpack_numbers(data: bytes, names: Sequence[str]) -> dict[str, int | float]:
    """Decode the doubles at the beginning of the data; a whole number is an int.

    Raises:
        struct.error: the data are too short.

    """
    values = struct.unpack_from(doubles(names), data)
    return {name: int(value) if value.is_integer() else value for name, value in zip(names, values, strict=True)}


def unpack_texts(data: bytes, at: int, count: int) -> tuple[list[bytes], int]:
    """Return the texts from a place on, each behind its length in one byte, and the place after them.

    Raises:
        IndexError: the data break off.

    """
    texts = []
    for _ in range(count):
        end = at + 1 + data[at]
        texts.append(data[at + 1 : end])
        at = end
    return texts, at


def split_name(name: bytes) -> TaskRef:
    """Decode ``tenant:id``."""
    tenant, _, task = name.decode().partition(":")
    return TaskRef(tenant, task)


def unpack_row(data: bytes, length: int) -> Sequence[Any]:
    """Decode ``length`` values that were packed one after the other; strings stay bytes."""
    values: Sequence[Any] = unpack(b"\xdc" + length.to_bytes(2) + data)  # as one array, by its header
    return values


def first_value(data: bytes) -> Any:  # noqa: ANN401 - a row of another version may begin with anything
    """Decode the first of the values that were packed one after the other."""
    unpacker = msgpack.Unpacker(raw=True)
    unpacker.feed(data)
    return unpacker.unpack()


def parts(raw: bytes | None, names: Sequence[str]) -> dict[str, int | str]:
    """Decode a packed field into its parts; an absent field has empty parts."""
    values = unpack_row(raw, len(names)) if raw else [b"" if name in TEXT else 0 for name in names]
    return {
        name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for name, value in zip(names, values, strict=True)
    }


def worker_record(data: bytes) -> tuple[dict[str, int], str, str]:
    """Decode a worker's entry: its numbers, state and name."""
    numbers = unpack_numbers(data, WORKER_NUMBERS)
    (state, name), _ = unpack_texts(data, 8 * len(WORKER_NUMBERS), len(WORKER_TEXTS))
    return {key: int(value) for key, value in numbers.items()}, state.decode(), name.decode()
