"""The reference world beside a real store: both get the same operations, and every difference is an error."""

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from typing import Self

from fairlane.domain.events import Row, kind_of
from fairlane.domain.policy import QueuePolicy
from fairlane.domain.task import TaskState
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store
from tests.support import world_operations as ops
from tests.support.store_raw import command
from tests.support.world_model import PENDING, WAITING, Call, tenant_id
from tests.support.world_reference import Reference
from tests.support.world_state import differences, expected, observed

DECISIONS = frozenset(
    ["pending", "ready", "enqueued", "active", "completed", "throttled", "failed", "lost", "cancelled", "returned"],
)
MOVES = frozenset({"parked", "released", "entered"})


class Twin:
    """Use as an async context manager; the scheduler's keys are deleted afterwards."""

    def __init__(self, endpoint: Endpoint, name: str, setup: ops.Setup) -> None:
        self.reference = Reference(setup)
        self.store = Store(endpoint, name, virtual_now_ms=lambda: self.reference.now)
        self.history: list[ops.Operation] = []
        self._event_cursor = "0"

    async def __aenter__(self) -> Self:
        await self._call(self.reference.begin())
        self.snapshot = await self.store.snapshot()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.store.erase()
        await self.store.close()

    async def step(self, operation: ops.Operation) -> None:
        """Apply one operation to both and compare the answers and the whole state."""
        self.history.append(operation)
        await self._call(self.reference.apply(operation))
        self.snapshot = await self.store.snapshot()
        seen, wanted = observed(self.snapshot), expected(self.reference)
        assert seen == wanted, self._at(differences(seen, wanted))

    async def run(self, operations: Iterable[ops.Operation]) -> None:
        """Apply operations one after another, then compare the decisions and the stored records."""
        for operation in operations:
            await self.step(operation)
        await self.compare_decisions()
        await self.compare_records()

    async def compare_decisions(self) -> None:
        """Compare every decision since the last comparison: tasks, order, charges."""
        rows: list[Row] = []
        while events := await self.store.events(self._event_cursor, limit=1000):
            self._event_cursor = events[-1].stream_id
            rows.extend(row for event in events for row in event.rows)
        wanted = self.reference
        made = [row for row in rows if kind_of(row) in DECISIONS]
        for at, (ours, theirs) in enumerate(zip_longest(made, wanted.decisions)):
            assert ours == theirs, self._at(f"decision {at}: the store decided {ours}, must be {theirs}")
        assert [row for row in rows if kind_of(row) == "rejected"] == wanted.rejections, self._at("rejections differ")
        moves = Counter(row for row in rows if kind_of(row) in MOVES)
        assert moves == wanted.moves, self._at(f"wrote {moves - wanted.moves}, must be {wanted.moves - moves}")
        wanted.decisions.clear()
        wanted.rejections.clear()
        wanted.moves.clear()

    async def compare_records(self) -> None:
        """Compare the calendar, the order of every queue, and the state of every task, ended or not."""
        keys, stored = self.store.keys, await self.store.stored()
        scheduler, tasks = self.reference.scheduler, self.reference.tasks
        flat = await command(self.store, "ZRANGE", keys.key("calendar"), 0, -1, "WITHSCORES")
        calendar = [(float(rank), name[8:].decode()) for name, rank in zip(flat[::2], flat[1::2], strict=True)]
        wanted = [(rank, tenant_id(tenant)) for rank, tenant in scheduler.calendar()]
        if self.reference.setup.policy is QueuePolicy.WDRR:
            assert calendar == wanted
        assert [tenant for _, tenant in calendar] == [tenant for _, tenant in wanted]
        for tenant in self.reference.tenants:
            queue = sorted(stored.pending.get(tenant_id(tenant), {}).items(), key=lambda entry: entry[1])
            order = [f"{tasks[number].cost}:{tasks[number].ref.id}" for number in scheduler.pending(tenant)]
            assert [member for member, _ in queue] == order
        states = {task.ref: PENDING if task.state == WAITING else task.state for task in tasks.values()}
        states |= self.reference.ended
        views = await self.store.get(list(states))
        assert {view.ref: view.state for view in views if view} == {
            ref: TaskState(state) for ref, state in states.items()
        }

    async def _call(self, calls: Iterable[Call]) -> None:
        for call in calls:
            try:
                answer = call.view(await getattr(self.store, call.method)(*call.arguments))
            except Exception as error:
                if type(error) is not call.expected:
                    raise AssertionError(self._at(f"{call.method}: {error!r}")) from error
            else:
                assert answer == call.expected, self._at(f"{call.method} returned {answer}, must be {call.expected}")

    def _at(self, problem: str) -> str:
        last = "\n  ".join(str(operation) for operation in self.history[-5:])
        return f"operation {len(self.history)}: {problem}\nthe last operations:\n  {last}"
