"""Rules `counter` and `structure` for money and windows.

held_before    the estimates in flight that were reserved in earlier periods; the rest in flight is held
spend_sum      the costs in a window of spend
open places    one for each window that an enqueued attempt took, and no other
"""

from collections.abc import Iterator
from typing import Final

from fairlane.audit.state import Stored, StoredTask
from fairlane.audit.violation import Rule, Violation
from fairlane.store.keys import OPEN_PLACE, POOL_BITS, POOL_OWNER, WINDOW_BITS

_NEVER_NEGATIVE: Final = (
    "spent", "overrun", "late", "top_up", "period", "held_before", "spent_before", "spent_total", "spend_sum",
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
        yield from _expect(f"{subject} spend_sum", numbers["spend_sum"], _spend(stored, tenant))
    yield from _expect("pool spend_sum", stored.pool["spend_sum"], _spend(stored, POOL_OWNER))
    yield from _check_places(stored)


def _spend(stored: Stored, owner: str) -> int:
    return sum(int(member.partition(":")[2]) for member in stored.windows.get(f"spend:{owner}", {}))


def _check_places(stored: Stored) -> Iterator[Violation]:
    wanted = {
        place
        for task in stored.tasks.values()
        if task.in_flight and task.state.value == "enqueued"
        for place in _places_of(task)
    }
    found = {
        (window, member)
        for window, entries in stored.windows.items()
        for member, stamp in entries.items()
        if stamp >= OPEN_PLACE
    }
    for window, member in sorted(wanted ^ found):
        there = (window, member) in found
        yield Violation(
            Rule.STRUCTURE,
            f"window:{window} {member}",
            "an open place" if there else "no open place",
            "none: no enqueued attempt took it" if there else "one, for an enqueued attempt",
        )


def _places_of(task: StoredTask) -> Iterator[tuple[str, str]]:
    own, shared = task.numbers["windows"] % POOL_BITS, task.numbers["windows"] // POOL_BITS
    member = f"{task.numbers['fence']}:{task.numbers['cost']}"
    for kind, bit in WINDOW_BITS.items():
        if own & bit:
            yield f"{kind}:{task.ref.tenant}", member
        if shared & bit:
            yield f"{kind}:{POOL_OWNER}", member


def _expect(subject: str, found: int, counted: int) -> Iterator[Violation]:
    if found != counted:
        yield Violation(Rule.COUNTER, subject, str(found), str(counted))
