"""What a subprocess worker and its process tell each other, and how it is put on a stream of bytes.

A frame is a pickled message behind its length. Imports the standard library only.
"""

import pickle
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_LENGTH: Final = struct.Struct("!Q")


class AnswerKind(StrEnum):
    """How a call ended, and so what the answer's payload is."""

    VALUE = "value"
    """It returned the pickled value."""
    RAISED = "raised"
    """It raised the pickled exception."""
    CANCELLED = "cancelled"
    UNUSABLE = "unusable"
    """The call could not be loaded; the payload says why, in UTF-8."""


@dataclass(frozen=True, slots=True)
class Ready:
    """From the process: it takes calls."""


@dataclass(frozen=True, slots=True)
class Call:
    """Execute the pickled work with the pickled input."""

    number: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel that call. It is answered all the same, when it has ended."""

    number: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Answer as soon as the event loop turns."""

    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """From the process: what became of a call or a ping. ``trace`` is the traceback of what it raised."""

    number: int
    kind: AnswerKind
    payload: bytes = b""
    trace: str = ""


Order = Call | Cancel | Ping
"""What a process is told."""
Message = Order | Ready | Answer


def pack(message: Message) -> bytes:
    """Return the frame."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Unpacker:
    """Puts frames together from the pieces in which they arrive."""

    def __init__(self) -> None:
        self._pieces = bytearray()

    def feed(self, piece: bytes) -> Iterator[Message]:
        """Yield the messages that are complete with this piece."""
        self._pieces += piece
        while len(self._pieces) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._pieces)
            end = _LENGTH.size + length
            if len(self._pieces) < end:
                return
            body = bytes(memoryview(self._pieces)[_LENGTH.size : end])
            del self._pieces[:end]
            yield pickle.loads(body)  # noqa: S301 - from our own process, over a socket nobody else has
