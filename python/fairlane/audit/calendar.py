"""Rule `calendar`: each tenant is where its `place` says, at the rank of its virtual time or its next task."""

from collections.abc import Iterator
from itertools import groupby

from fairlane.audit.parking import Parking
from fairlane.audit.violation import Rule, Violation
from fairlane.domain.policy import ParkReason, QueuePolicy
from fairlane.store.stored import CalendarEntry, Stored, StoredTenant

_CALENDAR = "calendar"
_PARKED = frozenset(ParkReason)


def check_calendar(stored: Stored) -> Iterator[Violation]:
    """Compare the calendar and the parked tenants with each tenant's own numbers."""
    entries = {tenant: list(found) for tenant, found in groupby(sorted(stored.calendar), key=_tenant_of)}
    parking = Parking(stored)
    for tenant, row in stored.tenants.items():
        head = _head(stored, tenant)
        own = entries.get(tenant, [])
        yield from _check_place(stored, tenant, row, own)
        if (head is None) != (row.place == ""):
            yield _violation(f"tenant:{tenant} place", _shown(row.place), "idle exactly when nothing is queued")
        elif head is not None and row.place == _CALENDAR and own:
            yield from _check_rank(stored, row, own[0], head)
        elif head is not None and row.place in _PARKED:
            yield from parking.check(tenant, row, head[0])
    for tenant in (entries.keys() | stored.parked.keys()) - stored.tenants.keys():
        yield _violation(f"calendar or parked {tenant}", "there", "no entry of an unknown tenant")


def _check_place(stored: Stored, tenant: str, row: StoredTenant, entries: list[CalendarEntry]) -> Iterator[Violation]:
    if len(entries) != (row.place == _CALENDAR):
        found = f"{len(entries)} entries" if entries else "not in the calendar"
        yield _violation(f"calendar {tenant}", found, f"as its place says: {_shown(row.place)}")
    reason = stored.parked.get(tenant, "")
    if reason != (row.place if row.place != _CALENDAR else ""):
        yield _violation(f"parked {tenant}", _shown(reason), f"as its place says: {_shown(row.place)}")
    if row.place not in {"", _CALENDAR} | _PARKED:
        yield _violation(f"tenant:{tenant} place", row.place, "a place that exists")


def _check_rank(stored: Stored, row: StoredTenant, entry: CalendarEntry, head: tuple[int, int]) -> Iterator[Violation]:
    numbers, tenant = row.numbers, entry.tenant
    expected: float = head[1]
    if stored.policy == QueuePolicy.WDRR:
        expected = row.reals["base"] + numbers["served"] / max(1, numbers["weight"])
        if numbers["epoch"] != stored.pool["epoch"]:
            yield _violation(f"tenant:{tenant} epoch", str(numbers["epoch"]), str(stored.pool["epoch"]))
        if row.reals["rebased"] != stored.reals["rebased"]:
            yield _violation(f"tenant:{tenant} rebased", str(row.reals["rebased"]), str(stored.reals["rebased"]))
    if entry.rank != expected:
        yield _violation(f"calendar {tenant}", f"rank {entry.rank}", f"rank {expected}")
    if entry.arrival != numbers["arrival"]:
        yield _violation(f"calendar {tenant}", f"arrival {entry.arrival}", f"arrival {numbers['arrival']}")


def _head(stored: Stored, tenant: str) -> tuple[int, int] | None:
    """Return cost and score of the task to serve next."""
    queue = stored.pending.get(tenant)
    if not queue:
        return None
    member, score = min(queue.items(), key=lambda entry: entry[1])
    return int(member.partition(":")[0]), score


def _tenant_of(entry: CalendarEntry) -> str:
    return entry.tenant


def _shown(place: str) -> str:
    return place or "idle"


def _violation(subject: str, found: str, expected: str) -> Violation:
    return Violation(Rule.CALENDAR, subject, found, expected)
