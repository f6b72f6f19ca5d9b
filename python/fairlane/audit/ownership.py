"""Rule `ownership`: every key has an owner or a TTL."""

from collections.abc import Iterator
from typing import Final

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.task import TaskRef
from fairlane.store.keys import EXPIRING, POOL_OWNER
from fairlane.store.stored import Stored, StoredKey

_TENANT_TIMERS: Final = ("window:", "budget:")


def check_ownership(stored: Stored) -> Iterator[Violation]:
    """Find keys that nothing will ever remove."""
    for key in stored.unknown:
        yield _violation(key, "there", "only keys of the schema")
    for each in stored.keys:
        if each.kind in EXPIRING and each.ttl_ms < 0:
            yield _violation(each.key, "without a TTL", "a TTL")
        elif each.kind == "usage":
            yield from _check_usage(stored, each)
        elif each.kind not in {*EXPIRING, "task"} and each.ttl_ms >= 0:
            yield _violation(each.key, f"a TTL of {each.ttl_ms} ms", "none: it has an owner")
    yield from _check_tasks(stored)
    yield from _check_tenants(stored)
    yield from _check_workers(stored)


def _check_tasks(stored: Stored) -> Iterator[Violation]:
    for ref, task in stored.tasks.items():
        ttl = task.ttl_ms
        if task.state.ended and ttl < 0:
            yield _violation(f"task:{ref}", f"{task.state} without a TTL", "a TTL")
        elif not task.state.ended and ttl >= 0:
            yield _violation(f"task:{ref}", f"{task.state} with a TTL of {ttl} ms", "none before its end")
        if not task.state.ended and ref.tenant not in stored.tenants:
            yield _violation(f"task:{ref}", f"{task.state}", "a registered tenant")


def _check_usage(stored: Stored, usage: StoredKey) -> Iterator[Violation]:
    task = stored.tasks.get(TaskRef(*usage.key.rsplit(":", 2)[1:]))
    lives = task is not None and not task.state.ended
    if lives != (usage.ttl_ms < 0):
        yield _violation(usage.key, f"a TTL of {usage.ttl_ms} ms", "none before its task ends, and one afterwards")


def _check_tenants(stored: Stored) -> Iterator[Violation]:
    for tenant in stored.registered ^ stored.tenants.keys():
        found = "registered without a hash" if tenant in stored.registered else "a hash without registration"
        yield _violation(f"tenant:{tenant}", found, "both or neither")
    for tenant in stored.pending.keys() - stored.tenants.keys():
        yield _violation(f"pending:{tenant}", "a queue", "a registered tenant")
    for owner in stored.windows:
        if owner != POOL_OWNER and owner not in stored.tenants:
            yield _violation(f"window:{owner}", "a window", "a registered tenant")
    for timer in stored.timers:
        if timer.startswith(_TENANT_TIMERS) and timer.partition(":")[2] not in stored.tenants:
            yield _violation(f"timers {timer}", "a timer", "a registered tenant")


def _check_workers(stored: Stored) -> Iterator[Violation]:
    for incarnation in stored.leases.keys() ^ stored.workers.keys():
        found = "a lease without a hash" if incarnation in stored.leases else "a hash without a lease"
        yield _violation(f"worker:{incarnation}", found, "both or neither")
    for kind, groups in (("handed", stored.handed), ("cancelling", stored.cancelling)):
        for incarnation in groups.keys() - stored.workers.keys():
            yield _violation(f"{kind}:{incarnation}", "there", "a worker")
    for name, incarnation in stored.names.items():
        if incarnation not in stored.workers:
            yield _violation(f"names {name}", incarnation, "a worker")


def _violation(subject: str, found: str, expected: str) -> Violation:
    return Violation(Rule.OWNERSHIP, subject, found, expected)
