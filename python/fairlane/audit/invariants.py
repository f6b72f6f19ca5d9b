"""Checks whether a scheduler's stored state is sound."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fairlane.audit.calendar import check_calendar
from fairlane.audit.counters import check_counters
from fairlane.audit.ledger import check_ledgers
from fairlane.audit.money import Accounts
from fairlane.audit.order import Replay
from fairlane.audit.ownership import check_ownership
from fairlane.audit.structures import check_structures
from fairlane.audit.violation import Rule, Violation
from fairlane.errors import MalformedEvent
from fairlane.store.store import Store
from fairlane.store.stored import Stored

_TRIES: Final = 5
_MOVING: Final = ("fence", "sequence", "events", "live", "slots", "cost", "fleet", "throttles", "successes")
"""At least one of these pool fields changes with every change of a task, a tenant or a worker."""
_EVENTS_PER_READ: Final = 1000


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of an audit, and how much it covered."""

    violations: tuple[Violation, ...]
    tasks: int
    """Task records, those of ended tasks included."""
    tenants: int
    at_rest: bool
    """False: the state changed during every reading, so that violations may come from the changes."""


async def inspect(store: Store) -> Findings:
    """Check every rule.

    Reads only. Meant for a scheduler at rest: if the state changed during the reading it reads again, and after a few
    tries it reports on the last reading.

    Raises:
        StoreError: the server could not be read.
        ConfigError: another version of Fairlane wrote the state.

    """
    for tries_left in reversed(range(_TRIES)):
        before = await store.stored_pool()
        stored = await store.stored()
        violations = [*_check(stored), *await _check_events(store, stored)]
        after = await store.stored_pool()
        at_rest = all(before[field] == after[field] for field in _MOVING)
        if at_rest or tries_left == 0:
            break
    return Findings(tuple(violations), len(stored.tasks), len(stored.tenants), at_rest)


async def check_invariants(store: Store) -> list[Violation]:
    """Return the violations, an empty list if there are none. See `inspect`."""
    return list((await inspect(store)).violations)


def _check(stored: Stored) -> Iterator[Violation]:
    yield from check_structures(stored)
    yield from check_counters(stored)
    yield from check_ledgers(stored)
    yield from check_calendar(stored)
    yield from check_ownership(stored)


async def _check_events(store: Store, stored: Stored) -> list[Violation]:
    if stored.pool["event_limit"] == 0:
        return []
    replay, accounts = Replay(), Accounts()
    violations: list[Violation] = []
    after = "0"
    try:
        while page := await store.events(after, _EVENTS_PER_READ):
            for event in page:
                violations += [*replay.feed(event), *accounts.feed(event)]
            after = page[-1].stream_id
    except MalformedEvent as error:
        return [*violations, Violation(Rule.ORDER, "events", error.message, "entries that this version writes")]
    records = {ref: task.state for ref, task in stored.tasks.items()}
    violations += replay.finish(stored.pool["events"], records)
    if replay.from_the_start:
        violations += accounts.finish(stored.tenants)
    return violations
