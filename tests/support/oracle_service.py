"""The history of service from the event stream, in the form that `service_gap` measures."""

from bisect import insort
from dataclasses import dataclass, field

from fairlane.domain import events as rows
from fairlane.domain.events import EndRow, Event, Row
from fairlane.store.messages import Snapshot

Change = tuple[str | int | float, ...]
Place = tuple[int, int, str]

_RETURNED = frozenset({"throttled", "returned"})
_RETURNING_COMMANDS = frozenset({"throttle", "release", "cancel"})


@dataclass
class _Account:
    """One tenant. The queue holds (priority, arrival, id), the next one first."""

    index: int
    weight: int
    queue: list[Place] = field(default_factory=list)
    backlogged: bool = False
    parked: bool = False


class ServiceHistory:
    """Feed it the events of every call, and the snapshot after it; `changes` is the history so far."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._accounts: dict[str, _Account] = {}
        self._places: dict[tuple[str, str], Place] = {}
        self._active: set[int] = set()

    def read(self, events: list[Event], snapshot: Snapshot) -> None:
        """Read the events of one operation. The snapshot has the deficit of a tenant whose weight was changed."""
        deficits = {tenant.id: tenant.deficit for tenant in snapshot.tenants}
        for event in events:
            for row in event.rows:
                self._read_row(row, event.by, deficits)
        for tenant in snapshot.tenants:
            account = self._accounts[tenant.id]
            assert account.backlogged == tenant.in_calendar, (
                f"{tenant.id}: the events and the snapshot disagree on its place"
            )

    def _read_row(self, row: Row, by: str, deficits: dict[str, float]) -> None:
        match row:
            case rows.TenantRow():
                self._weight(row.tenant, row.weight, deficits.get(row.tenant, 0))
            case rows.PendingRow():
                self._places[row.tenant, row.task] = (row.priority, len(self._places), row.task)
                self._queue(row.tenant, row.task)
            case rows.ReadyRow():
                self._queue(row.tenant, row.task)
            case rows.ActiveRow():
                self._active.add(row.fence)
            case rows.EnteredRow():
                self._enter(self._accounts[row.tenant], row.deficit)
            case rows.ReleasedRow():
                account = self._accounts[row.tenant]
                account.parked = False
                if account.queue:
                    self._enter(account, row.deficit)
            case rows.ParkedRow():
                self._leave(self._accounts[row.tenant], "parked")
                self._accounts[row.tenant].parked = True
            case rows.EnqueuedRow():
                self.changes.append(("dispatched", self._accounts[row.tenant].index, row.fence, row.charge, row.owed))
                self._unqueue(row.tenant, row.task)
            case EndRow():
                self._end(row, by)

    def _weight(self, tenant: str, weight: int, deficit: float) -> None:
        account = self._accounts.setdefault(tenant, _Account(len(self._accounts), weight))
        self.changes.append(("weight", account.index, weight))
        if account.backlogged:
            account.backlogged = False
            self._enter(account, deficit)

    def _end(self, row: EndRow, by: str) -> None:
        tenant, task, fence = row.tenant, row.task, row.fence
        account = self._accounts[tenant]
        if row.end == "completed":
            self.changes.append(("settled", account.index, fence, row.actual, row.owed))
        elif fence and (row.end in _RETURNED or by in _RETURNING_COMMANDS or fence not in self._active):
            self.changes.append(("reversed", account.index, fence, row.owed))
        elif fence:
            self.changes.append(("kept", account.index, fence))
        if fence == 0:
            self._unqueue(tenant, task)
        elif row.state == "pending" and row.not_before_ms == 0:
            self._queue(tenant, task)

    def _queue(self, tenant: str, task: str) -> None:
        """Put a task into its queue. A tenant without tasks enters with deficit 0; another row has its debt, if any."""
        account = self._accounts[tenant]
        insort(account.queue, self._places[tenant, task])
        if not account.backlogged and not account.parked:
            self._enter(account, 0)

    def _unqueue(self, tenant: str, task: str) -> None:
        account, place = self._accounts[tenant], self._places[tenant, task]
        if place in account.queue:
            account.queue.remove(place)
        if not account.queue:
            self._leave(account, "idle")

    def _enter(self, account: _Account, deficit: float) -> None:
        if account.backlogged:
            at = max(i for i, change in enumerate(self.changes) if change[:2] == ("backlogged", account.index))
            self.changes[at] = ("backlogged", account.index, deficit)
        else:
            self.changes.append(("backlogged", account.index, deficit))
        account.backlogged = True

    def _leave(self, account: _Account, kind: str) -> None:
        if account.backlogged or kind == "idle":
            self.changes.append((kind, account.index))
        account.backlogged = False
