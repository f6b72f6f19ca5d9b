"""The processes of one queue: its client, which takes orders, its workers, and the CPU time that they use."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import psutil

from bench.peers.environments import ROOT, Environment
from bench.shared.session import ScenarioError
from bench.shared.text import visible
from fairlane.embedded.guard import Guard

_MARKER: Final = "BENCH_PEERS_TURN"
_LINE_BYTES: Final = 2**20
_STOP_S: Final = 20.0


class Crew:
    """A queue's client and workers on one server. An async context manager that ends them all.

    ``ran`` is an empty directory in which every process that executes tasks keeps a file of what it has run. The guard
    ends the crew if this process is killed. The processes' own output goes to ``log``.
    """

    def __init__(self, environment: Environment, *, socket: Path, ran: Path, guard: Guard, log: BinaryIO) -> None:
        self._environment = environment
        self._ran = ran
        self._log = log
        marker = secrets.token_hex(16)
        guard.watch_marker(_MARKER, marker)
        self._variables = os.environ | {
            _MARKER: marker,
            "BENCH_PEERS_SOCKET": str(socket),
            "BENCH_PEERS_RAN": str(ran),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._workers: list[Process] = []

    async def __aenter__(self) -> Self:
        self._client = await self._start(self._environment.command_of_client(), stdin=PIPE, stdout=PIPE)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        everyone = list(self._everyone())
        if self._client.stdin is not None:
            self._client.stdin.close()
        for worker in self._workers:
            with contextlib.suppress(ProcessLookupError):
                worker.send_signal(signal.SIGTERM)
        ends = [asyncio.create_task(each.wait()) for each in (self._client, *self._workers)]
        _, late = await asyncio.wait(ends, timeout=_STOP_S)
        for process in (*everyone, *self._everyone()):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if late:
            await asyncio.wait(late)

    async def start_workers(self) -> None:
        """Start the workers; they need some time until they take tasks."""
        for _ in range(self._environment.peer.workers):
            self._workers.append(await self._start(self._environment.command_of_worker(), stdin=DEVNULL, stdout=None))

    async def ask(self, order: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Let the client carry out an order; return its answer.

        Raises:
            ScenarioError: it failed, ended, or did not answer in time.
        """
        stdin, stdout = self._client.stdin, self._client.stdout
        assert stdin is not None  # noqa: S101 - both are pipes
        assert stdout is not None  # noqa: S101
        what = f"{self._environment.peer.name}: {order['do']}"
        try:
            stdin.write(json.dumps(order).encode() + b"\n")
            async with asyncio.timeout(timeout_s):
                line = await stdout.readline()
        except TimeoutError:
            raise ScenarioError(f"{what}: no answer within {timeout_s:g} s") from None
        except ConnectionError:
            line = b""
        if not line:
            raise ScenarioError(f"{what}: the client's process has ended")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ScenarioError(f"{what}: not a JSON object: {visible(line[:200].decode(errors='replace'))}")
        if "error" in answer:
            raise ScenarioError(f"{what}: {visible(answer['error'])[:300]}")
        return answer

    def cpu_s(self) -> float:
        """Return the CPU time of all processes, with that of children that have ended."""
        total = 0.0
        for process in self._everyone():
            with contextlib.suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
        return total

    def ran(self) -> Counter[int]:
        """Return how often each task was executed so far."""
        return Counter(int(line) for file in self._ran.iterdir() for line in file.read_text().split())

    def at_work(self) -> int:
        """Return how many processes have executed tasks."""
        return sum(1 for _ in self._ran.iterdir())

    async def _start(self, command: list[str], *, stdin: int, stdout: int | None) -> Process:
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=self._environment.working_directory,
            env=self._variables,
            stdin=stdin,
            stdout=self._log if stdout is None else stdout,
            stderr=self._log,
            limit=_LINE_BYTES,
            start_new_session=True,
        )

    def _everyone(self) -> Iterator[psutil.Process]:
        for process in (self._client, *self._workers):
            with contextlib.suppress(psutil.NoSuchProcess):
                parent = psutil.Process(process.pid)
                yield from (parent, *parent.children(recursive=True))
