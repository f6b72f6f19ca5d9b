"""The history of service, told from the event stream, in the form `service_gap` measures."""

from bisect import insort
from dataclasses import dataclass, field

from fairlane.domain.events import Event, Scalar
from fairlane.store.messages import Snapshot

Change = tuple[str | int, ...]
Row = tuple[Scalar, ...]
Place = tuple[int, int, str, int]

_RETURNED = frozenset({"throttled", "returned"})
_RETURNING_COMMANDS = frozenset({"throttle", "release", "cancel"})


@dataclass
class _Account:
    """One tenant. The queue holds (priority, arrival, id, cost), first the one to be served next."""

    index: int
    weight: int
    ratio: int = 1000
    queue: list[Place] = field(default_factory=list)
    backlogged: bool = False
    parked: bool = False
    head: int | None = None


class ServiceHistory:
    """Feed it the events of every call, and the snapshot after it; `changes` is the history so far."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._accounts: dict[str, _Account] = {}
        self._places: dict[tuple[str, str], Place] = {}
        self._active: set[int] = set()

    def read(self, events: list[Event], snapshot: Snapshot) -> None:
        """Take in what one operation wrote. The snapshot says what a tenant had whose weight was changed."""
        deficits = {tenant.id: tenant.deficit for tenant in snapshot.tenants}
        for event in events:
            for row in event.rows:
                self._read_row(row, event.by, deficits)
        for tenant in snapshot.tenants:
            account = self._accounts[tenant.id]
            assert account.backlogged == tenant.in_calendar, f"{tenant.id}: the events do not tell where it is"

    def _read_row(self, row: Row, by: str, deficits: dict[str, int]) -> None:
        match row:
            case ("tenant", str(tenant), int(weight), _, _):
                self._weight(tenant, weight, deficits.get(tenant, 0))
            case ("pending", str(tenant), str(task), int(cost), int(priority)):
                self._places[tenant, task] = (priority, len(self._places), task, cost)
                self._queue(tenant, task)
            case ("ready", str(tenant), str(task)):
                self._queue(tenant, task)
            case ("active", _, _, int(fence)):
                self._active.add(fence)
            case ("entered", str(tenant), int(deficit)):
                self._enter(self._accounts[tenant], deficit)
            case ("released", str(tenant), int(deficit)):
                account = self._accounts[tenant]
                account.parked = False
                if account.queue:
                    self._enter(account, deficit)
            case ("parked", str(tenant), _):
                self._leave(self._accounts[tenant])
                self._accounts[tenant].parked = True
            case ("enqueued", str(tenant), str(task), int(fence), _, int(charge), _):
                self.changes.append(("dispatched", self._accounts[tenant].index, fence, charge))
                self._unqueue(tenant, task)
            case (_, str(), str(), int(), int(), int(), int(), str(), int()):
                self._end(row, by)

    def _weight(self, tenant: str, weight: int, deficit: int) -> None:
        account = self._accounts.setdefault(tenant, _Account(len(self._accounts), weight))
        self.changes.append(("weight", account.index, weight))
        if account.backlogged:
            account.backlogged, account.head = False, None
            self._enter(account, deficit)

    def _end(self, row: Row, by: str) -> None:
        kind, tenant, task, fence, actual, forfeited, ratio, state, not_before = row
        tenant, task, fence = str(tenant), str(task), int(fence)
        account = self._accounts[tenant]
        account.ratio = int(ratio)
        if kind == "completed":
            self.changes.append(("settled", account.index, fence, int(actual), int(forfeited)))
        elif fence and (kind in _RETURNED or by in _RETURNING_COMMANDS or fence not in self._active):
            self.changes.append(("reversed", account.index, fence))
        elif fence:
            self.changes.append(("kept", account.index, fence))
        if fence == 0:
            self._unqueue(tenant, task)
        elif state == "pending" and not_before == 0:
            self._queue(tenant, task)
        self._note_head(account)

    def _queue(self, tenant: str, task: str) -> None:
        """Put a task in its place. A tenant that had none enters; that it owes something is told by another row."""
        account = self._accounts[tenant]
        insort(account.queue, self._places[tenant, task])
        if not account.backlogged and not account.parked:
            self._enter(account, 0)
        self._note_head(account)

    def _unqueue(self, tenant: str, task: str) -> None:
        account, place = self._accounts[tenant], self._places[tenant, task]
        if place in account.queue:
            account.queue.remove(place)
        if not account.queue:
            self._leave(account)
        self._note_head(account)

    def _enter(self, account: _Account, deficit: int) -> None:
        if account.backlogged:
            at = max(i for i, change in enumerate(self.changes) if change[:2] == ("backlogged", account.index))
            self.changes[at] = ("backlogged", account.index, deficit)
        else:
            self.changes.append(("backlogged", account.index, deficit))
        account.backlogged = True
        self._note_head(account)

    def _leave(self, account: _Account) -> None:
        if account.backlogged:
            self.changes.append(("unbacklogged", account.index))
        account.backlogged, account.head = False, None

    def _note_head(self, account: _Account) -> None:
        if account.backlogged and account.queue:
            charge = max(1, -(-account.queue[0][3] * account.ratio // 1000))
            if charge != account.head:
                account.head = charge
                self.changes.append(("head", account.index, charge))
