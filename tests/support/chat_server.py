"""A chat completions endpoint on loopback that misbehaves on command. Speaks just enough HTTP/1.1."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

TIMEOUT_S = 20.0


def completion(text: str = "hello", usage: object = None) -> dict[str, Any]:
    """Return a valid completion; without usage if ``usage`` is None."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body: dict[str, Any] = {"id": "c1", "object": "chat.completion", "model": "tiny", "choices": [choice]}
    return body if usage is None else {**body, "usage": usage}


@dataclass
class Answer:
    """The answer to one request."""

    status: int = 200
    body: object = field(default_factory=completion)
    """Bytes are sent as they are, anything else as JSON."""
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False
    """Send nothing: the client has to give up."""
    cut_after: int | None = None
    """Send this number of bytes of the body, then cut the connection. -1: do not even send the head."""
    stalls_after: int | None = None
    """Send this number of bytes of the body, then nothing: the client has to give up."""


@dataclass
class Request:
    """A client's request."""

    path: str
    headers: dict[str, str]
    body: Any


class ChatServer:
    """Sends ``answers`` in order, and good completions when none is left. An async context manager."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.requests: list[Request] = []
        self.asked = asyncio.Event()
        """Set by each request."""
        self.left = asyncio.Event()
        """Set when a client leaves a silent answer."""
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def will(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        sent = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append(Request(first.split()[1], headers, json.loads(sent)))
        self.asked.set()
        answer = self.answers.popleft() if self.answers else Answer(body=completion(usage=_USAGE))
        if answer.silent:
            await reader.read()
            self.left.set()
            return False
        if answer.cut_after == -1:
            return False
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
        writer.write(f"HTTP/1.1 {answer.status} Told\r\n".encode())
        writer.write("".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode() + b"\r\n")
        writer.write(body[: answer.cut_after if answer.stalls_after is None else answer.stalls_after])
        await writer.drain()
        if answer.stalls_after is not None:
            await reader.read()
            self.left.set()
            return False
        return answer.cut_after is None


_USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
