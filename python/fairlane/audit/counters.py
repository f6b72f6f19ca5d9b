"""Rule `counter`: every counter equals the sum over the records."""

from collections import Counter
from collections.abc import Iterator, Mapping

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.policy import QueuePolicy
from fairlane.domain.task import TaskState
from fairlane.store.stored import Stored

_NEVER_NEGATIVE = ("slots", "active", "cost", "queued", "waiting", "live", "runnable", "capacity", "owed", "fence")


def check_counters(stored: Stored) -> Iterator[Violation]:
    """Count everything from the records."""
    for subject, value in stored.fractions.items():
        yield Violation(Rule.COUNTER, subject, str(value), "a whole number")
    totals: Counter[str] = Counter()
    tenants: dict[str, Counter[str]] = {tenant: Counter() for tenant in stored.tenants}
    loads: Counter[str] = Counter()
    for task in stored.tasks.values():
        of_tenant = tenants.setdefault(task.ref.tenant, Counter())
        of_tenant["queued"] += task.queued
        of_tenant["waiting"] += task.waiting
        totals["live"] += not task.state.ended
        totals["active"] += task.state is TaskState.ACTIVE
        if task.in_flight:
            loads[task.worker] += 1
            for counter in (totals, of_tenant):
                counter["slots"] += 1
                counter["cost"] += task.numbers["cost"]
                counter["charged"] += task.numbers["charge"] if stored.policy == QueuePolicy.WDRR else 0
    totals["runnable"] = len(stored.calendar)
    yield from _compare("pool", stored.pool, totals, ("slots", "active", "cost", "live", "runnable"))
    for tenant, counted in tenants.items():
        if tenant in stored.tenants:
            numbers = stored.tenants[tenant].numbers
            yield from _compare(f"tenant:{tenant}", numbers, counted, ("slots", "cost", "charged", "queued", "waiting"))
    for incarnation, worker in stored.workers.items():
        yield from _compare(f"worker:{incarnation}", {"load": worker.load}, {"load": loads[incarnation]}, ("load",))
    yield from _negatives("pool", stored.pool)
    for tenant, row in stored.tenants.items():
        yield from _negatives(f"tenant:{tenant}", row.numbers)


def _compare(
    subject: str, found: Mapping[str, int], counted: Mapping[str, int], fields: tuple[str, ...]
) -> Iterator[Violation]:
    for field in fields:
        if found[field] != counted.get(field, 0):
            yield Violation(Rule.COUNTER, f"{subject} {field}", str(found[field]), str(counted.get(field, 0)))


def _negatives(subject: str, numbers: Mapping[str, int]) -> Iterator[Violation]:
    for field in _NEVER_NEGATIVE:
        if numbers.get(field, 0) < 0:
            yield Violation(Rule.COUNTER, f"{subject} {field}", str(numbers[field]), "not negative")
