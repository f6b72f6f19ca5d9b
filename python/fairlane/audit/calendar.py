"""Rule `calendar`: each tenant is where its `place` says, at the rank that its deficit and its next task imply."""

from collections.abc import Iterator

from fairlane.audit.parking import Parking
from fairlane.audit.violation import Rule, Violation
from fairlane.domain.limits import RATIO_ONE
from fairlane.domain.policy import ParkReason, QueuePolicy
from fairlane.store.stored import Stored, StoredTenant

_CALENDAR = "calendar"
_PARKED = frozenset(ParkReason)


def check_calendar(stored: Stored) -> Iterator[Violation]:
    """Compare the calendar and the parked tenants with each tenant's own numbers."""
    parking = Parking(stored)
    for tenant, row in stored.tenants.items():
        head = _head(stored, tenant)
        yield from _check_place(stored, tenant, row)
        if (head is None) != (row.place == ""):
            yield _violation(f"tenant:{tenant} place", _shown(row.place), "idle exactly when nothing is queued")
        elif head is not None and row.place == _CALENDAR:
            yield from _check_rank(stored, tenant, row, head)
        elif head is not None and row.place in _PARKED:
            yield from parking.check(tenant, row, head[0])
    for tenant in (stored.calendar.keys() | stored.parked.keys()) - stored.tenants.keys():
        yield _violation(f"calendar or parked {tenant}", "there", "no entry of an unknown tenant")


def _check_place(stored: Stored, tenant: str, row: StoredTenant) -> Iterator[Violation]:
    if (tenant in stored.calendar) != (row.place == _CALENDAR):
        found = "in the calendar" if tenant in stored.calendar else "not in the calendar"
        yield _violation(f"calendar {tenant}", found, f"as its place says: {_shown(row.place)}")
    reason = stored.parked.get(tenant, "")
    if reason != (row.place if row.place != _CALENDAR else ""):
        yield _violation(f"parked {tenant}", _shown(reason), f"as its place says: {_shown(row.place)}")
    if row.place not in {"", _CALENDAR} | _PARKED:
        yield _violation(f"tenant:{tenant} place", row.place, "a place that exists")


def _check_rank(stored: Stored, tenant: str, row: StoredTenant, head: tuple[int, int]) -> Iterator[Violation]:
    cost, score = head
    found = stored.calendar.get(tenant)
    if found is None:
        return
    if stored.policy != QueuePolicy.WDRR:
        expected = score
    else:
        missing = max(1, _ceil_div(cost * row.numbers["ratio"], RATIO_ONE)) - row.numbers["deficit"]
        per_round = row.numbers["weight"] * stored.pool["quantum"]
        expected = row.numbers["credited"] + max(0, _ceil_div(missing, per_round))
        if found < stored.pool["round"]:
            yield _violation(f"calendar {tenant}", f"round {found}", f"not before round {stored.pool['round']}")
        if row.numbers["epoch"] != stored.pool["epoch"]:
            yield _violation(f"tenant:{tenant} epoch", str(row.numbers["epoch"]), str(stored.pool["epoch"]))
    if found != expected:
        yield _violation(f"calendar {tenant}", f"rank {found}", f"rank {expected}")


def _head(stored: Stored, tenant: str) -> tuple[int, int] | None:
    """Return cost and score of the task to serve next."""
    queue = stored.pending.get(tenant)
    if not queue:
        return None
    member, score = min(queue.items(), key=lambda entry: entry[1])
    return int(member.partition(":")[0]), score


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def _shown(place: str) -> str:
    return place or "idle"


def _violation(subject: str, found: str, expected: str) -> Violation:
    return Violation(Rule.CALENDAR, subject, found, expected)
