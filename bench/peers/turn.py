"""One turn of one queue, on a server of its own that has run nothing before, while no other queue runs."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from bench.peers.environments import Environment
from bench.peers.processes import Crew
from bench.shared.platform import Progress
from bench.shared.session import ScenarioError
from bench.throughput.meter import read
from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

_WARM_UP: Final = 500
_WARM_UPS: Final = 40
_WORKING: Final = 2
"""Every queue has two workers."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much a turn measures."""

    tasks: int
    """Of a load; a queue's share may be smaller."""
    trips: int
    waiting: int
    trips_s: float = 10.0
    """A queue whose trips take longer makes fewer."""
    wait_s: float = 180.0
    """After so long without an answer, a turn has failed."""


@dataclass(frozen=True, slots=True)
class Load:
    """One load, from the first submit until the client has seen every result."""

    tasks: int
    seconds: float
    server_cpu_s: float
    crew_cpu_s: float
    """Of the client and the workers."""
    calls: int
    """Commands that the server executed, in scripts and out."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn measured. Every task ran once, and its right result was seen."""

    loads: dict[int, Load]
    """By tenants."""
    trips_ms: list[float]
    bytes_per_task: float
    """Server memory that a waiting task takes."""
    tasks: int
    """All that were submitted, and checked."""


async def take_turn(
    environment: Environment, size: Size, tenants: tuple[int, ...], log: BinaryIO, progress: Progress
) -> Turn:
    """Measure one queue once: memory while tasks wait, then round trips, then the loads in the given order.

    Raises:
        ScenarioError: a task did not run exactly once, a result is wrong or missing, or a process failed.
        EmbeddedServerError: the server could not be started.
    """
    with (
        tempfile.TemporaryDirectory(prefix="bench-peers-") as ran,
        Guard.start() as guard,
        EmbeddedServer(guard=guard) as server,
    ):
        crew = Crew(environment, socket=server.address.socket, ran=Path(ran), guard=guard, log=log)
        async with Store(Endpoint(server.address.url), "bench-peers") as store, crew:
            return await _Turn(environment, size, store, crew, progress).take(tenants)


class _Turn:
    def __init__(self, environment: Environment, size: Size, store: Store, crew: Crew, progress: Progress) -> None:
        self._peer = environment.peer
        self._size = size
        self._store = store
        self._crew = crew
        self._progress = progress
        self._submitted = 0

    async def take(self, tenants: tuple[int, ...]) -> Turn:
        bytes_per_task = await self._wait()
        await self._warm_up()
        self._progress("round trips")
        order = {"do": "trips", "count": self._size.trips, "limit_s": self._size.trips_s}
        trips_ms = [float(each) for each in (await self._crew.ask(order, self._size.wait_s))["ms"]]
        self._submitted += len(trips_ms)
        loads = {}
        for count in tenants:
            self._progress(f"a load of {count:,} tenants")
            loads[count] = await self._load(self._size.tasks // self._peer.share, count)
        self._check_ran()
        return Turn(loads, trips_ms, bytes_per_task, self._submitted)

    async def _wait(self) -> float:
        """Let tasks wait, then run them; return the bytes that each took."""
        self._progress("starting")
        if self._peer.workers_first:
            await self._crew.start_workers()
        await self._submit("submit", 10)  # what the first tasks allocate is no task's
        before = await self._data_bytes()
        await self._submit("submit", self._size.waiting)
        taken = await self._data_bytes() - before
        if not self._peer.workers_first:
            await self._crew.start_workers()
        await self._crew.ask({"do": "collect"}, self._size.wait_s)
        return taken / self._size.waiting

    async def _warm_up(self) -> None:
        """Load until both workers have run tasks."""
        for _ in range(_WARM_UPS):
            await self._submit("load", _WARM_UP)
            if self._crew.at_work() >= _WORKING:
                return
        raise ScenarioError(f"{self._peer.name}: {self._crew.at_work()} of {_WORKING} workers took tasks")

    async def _load(self, tasks: int, tenants: int) -> Load:
        before, crew_cpu_s = await read(self._store), self._crew.cpu_s()
        seconds = await self._submit("load", tasks, tenants)
        used = (await read(self._store)).since(before)
        return Load(tasks, seconds, used.cpu_s, self._crew.cpu_s() - crew_cpu_s, used.work_calls)

    async def _submit(self, do: str, tasks: int, tenants: int = 3) -> float:
        self._submitted += tasks
        answer = await self._crew.ask({"do": do, "tasks": tasks, "tenants": tenants}, self._size.wait_s)
        return float(answer.get("seconds", 0.0))

    async def _data_bytes(self) -> int:
        """Return the server's memory without the buffers of its clients."""
        memory = await self._store.info("memory")
        return int(memory["used_memory"]) - int(memory["mem_clients_normal"])

    def _check_ran(self) -> None:
        ran, wanted = self._crew.ran(), set(range(self._submitted))
        again = [number for number, times in ran.items() if times > 1]
        if ran.keys() != wanted or again:
            raise ScenarioError(
                f"{self._peer.name}: of {len(wanted)} tasks {len(wanted - ran.keys())} did not run, {len(again)} ran "
                f"more than once, and {len(ran.keys() - wanted)} unknown ones ran"
            )
