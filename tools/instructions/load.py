"""A steady load in virtual time: cycles of submit, turn and collect, by the store's own methods."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.payload import encode, fingerprint
from fairlane.store.connection import Endpoint
from fairlane.store.keys import DISPATCHER_BELL, client_bell, worker_bell
from fairlane.store.messages import Settlement, Started, StartedTask, Submission, SubmitStatus, Write
from fairlane.store.store import Store

_COST: Final = 1000
_ACTUAL: Final = 700
_WORKERS: Final = ("1" * 24, "2" * 24)
_WORKER_SLOTS: Final = 256
_CLIENT: Final = "c" * 24
_FIRST_MS: Final = 1_700_000_000_000
_CYCLE_MS: Final = 5
_FILL: Final = 256
_CALL_TIMEOUT_MS: Final = 300_000
_PLANNED: Final = 32
_USED: Final = 25
# The event stream is at its limit before anything is counted, so that its trimming is counted too.
_POOL: Final = PoolConfig(slots=512, quantum_units=1000, lease_ms=3_600_000, event_limit=50)
_PAYLOAD: Final = encode({"prompt": "What does a task cost?"})
_FINGERPRINT: Final = fingerprint(_PAYLOAD, _COST, 100, 0)

Calls = Callable[[], Awaitable[Any]]
Around = Callable[[str, Calls], Awaitable[Any]]
"""Makes the calls of one command, and returns what they return."""


async def uncounted(_: str, calls: Calls) -> Any:  # noqa: ANN401 - each command has its own reply
    """Make the calls and count nothing."""
    return await calls()


class Load:
    """Tenants whose queues never are empty, two workers and a client.

    It checks every reply: after a refusal the counts would mean nothing.
    """

    batches: tuple[int, ...] = (64, 1)

    def __init__(self, tenants: int) -> None:
        self.tenants = tenants
        self._now_ms = _FIRST_MS
        self._submitted = self._cycles = 0
        self._collected = "0"
        self._cursors = dict.fromkeys(_WORKERS, 0)
        self._running: dict[str, tuple[StartedTask, ...]] = dict.fromkeys(_WORKERS, ())
        self._store: Store

    def name(self, batch: int) -> str:
        """Name the load in tables and in the budget."""
        return f"{self.tenants:,} tenants, batches of {batch}"

    @asynccontextmanager
    async def on(self, url: str) -> AsyncIterator[None]:
        """Call this server as long as the context lasts. A later server must have the data of the one before it."""
        async with Store(Endpoint(url, _CALL_TIMEOUT_MS), "load", virtual_now_ms=lambda: self._now_ms) as self._store:
            yield

    async def prepare(self) -> None:
        """Register everyone on an empty server, and let at least two tasks wait for every tenant."""
        await self._register()
        for _ in range(0, max(2 * self.tenants, _FILL), _FILL):
            await self._submit(_FILL)

    async def _register(self) -> None:
        await self._store.put_pool(_POOL)
        await self._store.put_tenants({self._tenant(number): TenantConfig() for number in range(self.tenants)})
        for number, incarnation in enumerate(_WORKERS):
            await self._store.register(f"worker-{number}", incarnation, _WORKER_SLOTS)

    async def cycle(self, batch: int, around: Around = uncounted) -> None:
        """Submit a batch, and let the workers, both or one in turn, end what they run and take as many tasks.

        Uncounted, when the size of the batches changes: workers end what they run, and the dispatcher begins.
        """
        self._now_ms += _CYCLE_MS
        working = _WORKERS if batch > 1 else (_WORKERS[self._cycles % 2],)
        self._cycles += 1
        if any(len(self._running[incarnation]) != batch // len(working) for incarnation in working):
            await self._begin(working, batch // len(working))
        await around("submit", lambda: self._submit(batch))
        settled = sum(len(self._running[incarnation]) for incarnation in working)
        await around("turn", lambda: self._turn(working))
        collected = await around("collect", lambda: self._store.collect(_CLIENT, self._collected))
        self._collected = collected.cursor
        taken = sum(len(self._running[incarnation]) for incarnation in working)
        if not (taken == batch and settled == len(collected.tasks)):
            raise RuntimeError(f"of {batch} tasks {taken} were taken; {len(collected.tasks)} of {settled} collected")

    @property
    def bells(self) -> list[str]:
        """The keys of the bells. Nobody sleeps here: take them away after every cycle, or they ring only once."""
        sleepers = (DISPATCHER_BELL, client_bell(_CLIENT), *map(worker_bell, _WORKERS))
        return [self._store.keys.bell(sleeper) for sleeper in sleepers]

    def _tenant(self, number: int) -> str:
        return f"tenant-{number % self.tenants:05}"

    async def _submit(self, count: int) -> None:
        numbers = range(self._submitted, self._submitted + count)
        self._submitted += count
        refs = [TaskRef(self._tenant(number), f"{number:024}") for number in numbers]
        answers = await self._store.submit([Submission(ref, _COST, _PAYLOAD, _FINGERPRINT) for ref in refs], _CLIENT)
        refused = [answer.status for answer in answers if answer.status is not SubmitStatus.ACCEPTED]
        if refused:
            raise RuntimeError(f"a submit was refused: {refused[0]}")

    async def _begin(self, working: tuple[str, ...], count: int) -> None:
        for incarnation in working:
            await self._store.settle(incarnation, self._ends(incarnation))
            await self._submit(count)
            await self._store.dispatch([(incarnation, count)], count)
            self._take(incarnation, await self._store.start(incarnation, self._cursors[incarnation]))
        self._collected = (await self._store.collect(_CLIENT, self._collected)).cursor

    def _ends(self, incarnation: str) -> list[Settlement]:
        tasks = self._running[incarnation]
        return [Settlement(task.ref, task.fence, Outcome.COMPLETED, _ACTUAL, b"jnull") for task in tasks]

    def _take(self, incarnation: str, started: Started) -> None:
        self._running[incarnation] = started.tasks
        self._cursors[incarnation] = max(task.fence for task in started.tasks)

    async def _turn(self, working: tuple[str, ...]) -> None:
        for incarnation in working:
            ends = self._ends(incarnation)
            writes, started = await self._store.settle_and_start(incarnation, ends, self._cursors[incarnation])
            refused = [each for each in writes if each is not Write.DONE]
            if refused:
                raise RuntimeError(f"a settlement was refused: {refused[0]}")
            self._take(incarnation, started)


class RoundTrips(Load):
    """Nothing waits: each task is placed by its submit, at one worker after the other, and ends before the next one."""

    batches = (1,)

    def name(self, batch: int) -> str:
        """See Load."""
        return f"{self.tenants:,} tenants, nothing waits"

    async def prepare(self) -> None:
        """Register everyone on an empty server."""
        await self._register()

    async def cycle(self, batch: int, around: Around = uncounted) -> None:
        """See one task through. The dispatcher makes the next plan while a few places are left."""
        self._now_ms += _CYCLE_MS
        trip = self._cycles % _USED
        incarnation = _WORKERS[trip % 2]
        if trip == 0:
            plan = [(worker, 1) for worker in _WORKERS] * (_PLANNED // 2)
            answer = await around("dispatch", lambda: self._store.dispatch(plan, _PLANNED, _PLANNED))
            if answer.kept != _PLANNED:
                raise RuntimeError(f"of {_PLANNED} places {answer.kept} were kept")
        self._cycles += 1
        await around("submit", lambda: self._submit(batch))
        await around("turn", lambda: self._begin_and_end(incarnation))
        collected = await around("collect", lambda: self._store.collect(_CLIENT, self._collected))
        self._collected = collected.cursor
        if len(collected.tasks) != batch:
            raise RuntimeError(f"{len(collected.tasks)} tasks were collected instead of {batch}")

    async def _begin_and_end(self, incarnation: str) -> None:
        self._take(incarnation, await self._store.start(incarnation, self._cursors[incarnation]))
        ends = self._ends(incarnation)
        await self._store.settle_and_start(incarnation, ends, self._cursors[incarnation])
        self._running[incarnation] = ()
