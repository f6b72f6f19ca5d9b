"""Rules `counter` and `structure` for money and windows.

held_before    the estimates in flight that were reserved in earlier periods; the rest in flight is held
starts_count   the stamps in a window of starts, and the places that enqueued attempts took in it
spend_sum      the costs of those in a window of spend
"""

from collections.abc import Iterable, Iterator
from typing import Final

from fairlane.audit.state import Stored, StoredTask
from fairlane.audit.violation import Rule, Violation
from fairlane.domain.task import TaskState
from fairlane.store.keys import POOL_BITS, POOL_OWNER, WINDOW_BITS

_NEVER_NEGATIVE: Final = (
    "spent", "overrun", "late", "top_up", "period", "held_before", "spent_before", "spent_total", "starts_count",
    "spend_sum",
)  # fmt: skip


def check_ledgers(stored: Stored) -> Iterator[Violation]:
    """Add up every ledger and every window again."""
    held_before = dict.fromkeys(stored.tenants, 0)
    for task in stored.tasks.values():
        owner = stored.tenants.get(task.ref.tenant)
        if owner is None or not task.in_flight:
            continue
        reserved, current = task.numbers["period"], owner.numbers["period"]
        if not 0 < reserved <= current:
            yield Violation(Rule.STRUCTURE, f"task:{task.ref}", f"reserved in period {reserved}", f"1 to {current}")
        if reserved != current:
            held_before[task.ref.tenant] += task.numbers["cost"]
    for tenant, row in stored.tenants.items():
        subject, numbers = f"tenant:{tenant}", row.numbers
        yield from _expect(f"{subject} held_before", numbers["held_before"], held_before[tenant])
        for field in _NEVER_NEGATIVE:
            if numbers[field] < 0:
                yield Violation(Rule.COUNTER, f"{subject} {field}", str(numbers[field]), "not negative")
        if numbers["overrun"] > numbers["spent"]:
            yield Violation(Rule.COUNTER, f"{subject} overrun", str(numbers["overrun"]), f"within {numbers['spent']}")
        known = numbers["spent"] + numbers["late"] + numbers["spent_before"]
        if numbers["spent_total"] < known:
            yield Violation(Rule.COUNTER, f"{subject} spent_total", str(numbers["spent_total"]), f"at least {known}")
    yield from _check_windows(stored)


def open_places(stored: Stored) -> dict[str, list[str]]:
    """Return the places, as `fence:cost`, that enqueued attempts took, by window as `kind:owner`."""
    places: dict[str, list[str]] = {}
    for task in stored.tasks.values():
        if task.state is TaskState.ENQUEUED:
            member = f"{task.numbers['fence']}:{task.numbers['cost']}"
            for window in _windows_of(task):
                places.setdefault(window, []).append(member)
    return places


def costs_of(members: Iterable[str]) -> int:
    """Add up the costs of window entries."""
    return sum(int(member.partition(":")[2]) for member in members)


def _check_windows(stored: Stored) -> Iterator[Violation]:
    places = open_places(stored)
    owners = {tenant: (f"tenant:{tenant}", row.numbers) for tenant, row in stored.tenants.items()}
    owners[POOL_OWNER] = ("pool", stored.pool)
    for owner, (subject, numbers) in owners.items():
        starts = [*stored.windows.get(f"starts:{owner}", {}), *places.get(f"starts:{owner}", [])]
        spend = [*stored.windows.get(f"spend:{owner}", {}), *places.get(f"spend:{owner}", [])]
        yield from _expect(f"{subject} starts_count", numbers["starts_count"], len(starts))
        yield from _expect(f"{subject} spend_sum", numbers["spend_sum"], costs_of(spend))


def _windows_of(task: StoredTask) -> Iterator[str]:
    own, shared = task.numbers["windows"] % POOL_BITS, task.numbers["windows"] // POOL_BITS
    for kind, bit in WINDOW_BITS.items():
        if own & bit:
            yield f"{kind}:{task.ref.tenant}"
        if shared & bit:
            yield f"{kind}:{POOL_OWNER}"


def _expect(subject: str, found: int, counted: int) -> Iterator[Violation]:
    if found != counted:
        yield Violation(Rule.COUNTER, subject, str(found), str(counted))
