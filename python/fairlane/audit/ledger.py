"""Rules `counter` and `structure` for money and windows.

held_before    the estimates in flight that were reserved in earlier periods; the other estimates in flight are held
starts_count   the starts of the stamps that this kind has not passed yet, and the places of enqueued attempts
spend_sum      the same for spend
lead           how many stamps the starts are ahead of the spend; stamps that both have passed are not stored
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.task import TaskState
from fairlane.store.keys import POOL_OWNER
from fairlane.store.stored import Stored

_NEVER_NEGATIVE: Final = (
    "spent", "overrun", "late", "top_up", "period", "held_before", "spent_before", "spent_total", "starts_count",
    "spend_sum",
)  # fmt: skip


def check_ledgers(stored: Stored) -> Iterator[Violation]:
    """Add up every ledger and every window."""
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


Window = tuple[str, str]
"""Kind and owner."""


def open_places(stored: Stored) -> Counter[Window]:
    """Return the amount that enqueued attempts count for in each window."""
    places: Counter[Window] = Counter()
    for task in stored.tasks.values():
        if task.state is TaskState.ENQUEUED:
            for kind, owner in task.windows:
                places[kind, owner] += 1 if kind == "starts" else task.numbers["cost"]
    return places


def unpassed(stored: Stored, window: Window, lead: int) -> list[tuple[int, int]]:
    """Return time and amount of each stamp that still counts, oldest first. ``lead``: its owner's."""
    kind, owner = window
    rest = stored.windows.get(owner, [])[max(0, lead if kind == "starts" else -lead) :]
    return [(each.at_ms, each.starts if kind == "starts" else each.spend) for each in rest]


def _check_windows(stored: Stored) -> Iterator[Violation]:
    places = open_places(stored)
    owners = {tenant: (f"tenant:{tenant}", row.numbers) for tenant, row in stored.tenants.items()}
    owners[POOL_OWNER] = ("pool", stored.pool)
    for owner, (subject, numbers) in owners.items():
        stamps, lead = stored.windows.get(owner, []), numbers["lead"]
        times = [stamp.at_ms for stamp in stamps]
        if times != sorted(times) or times[-1:] > [stored.pool["now"]]:
            yield Violation(Rule.STRUCTURE, f"window:{owner}", "stamps out of order", "none younger than the next")
        if abs(lead) > len(stamps):
            yield Violation(Rule.STRUCTURE, f"{subject} lead", str(lead), f"within {len(stamps)} stamps")
        for kind, field in (("starts", "starts_count"), ("spend", "spend_sum")):
            counted = unpassed(stored, (kind, owner), lead)
            total = sum(amount for _, amount in counted) + places[kind, owner]
            yield from _expect(f"{subject} {field}", numbers[field], total)


def _expect(subject: str, found: int, counted: int) -> Iterator[Violation]:
    if found != counted:
        yield Violation(Rule.COUNTER, subject, str(found), str(counted))
