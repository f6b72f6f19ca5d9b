"""The messages between a subprocess worker and its process, and their framing on a byte stream.

A frame is a length followed by a pickled message. Imports the standard library only.
"""

import pickle
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_LENGTH: Final = struct.Struct("!Q")


class AnswerKind(StrEnum):
    """How a call ended, which determines the answer's payload."""

    VALUE = "value"
    """The call returned; the payload is the pickled value."""
    RAISED = "raised"
    """The call raised; the payload is the pickled exception."""
    CANCELLED = "cancelled"
    UNUSABLE = "unusable"
    """The call could not be loaded; the payload says why, in UTF-8."""


@dataclass(frozen=True, slots=True)
class Ready:
    """From the process: it accepts calls."""


@dataclass(frozen=True, slots=True)
class Call:
    """Execute the pickled work with the pickled input."""

    number: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel a call. Its answer follows when it has ended."""

    number: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Answer as soon as the event loop runs."""

    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """From the process: the outcome of a call or a ping. ``trace`` is the traceback of a raised exception."""

    number: int
    kind: AnswerKind
    payload: bytes = b""
    trace: str = ""


Request = Call | Cancel | Ping
"""Messages to a process."""
Message = Request | Ready | Answer


def pack(message: Message) -> bytes:
    """Return the frame."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Unpacker:
    """Reassembles messages from chunks of bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield the messages that this chunk completes."""
        self._buffer += chunk
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(memoryview(self._buffer)[_LENGTH.size : end])
            del self._buffer[:end]
            yield pickle.loads(body)  # noqa: S301 - from our own process, over a private socket
