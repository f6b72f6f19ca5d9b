"""Rule `calendar` for parked tenants: a limit of their own stops their head, or a timer will look again in time."""

from collections.abc import Iterator
from typing import Final

from fairlane.audit.ledger import open_places, stamps_of
from fairlane.audit.state import Stored, StoredTenant
from fairlane.audit.violation import Rule, Violation
from fairlane.domain.policy import ParkReason

_TIMERS: Final = {ParkReason.STARTS: "window", ParkReason.SPEND: "window", ParkReason.BUDGET: "budget"}
"""What only time can cure, and the kind of timer that looks again."""


def check_parked(stored: Stored, tenant: str, row: StoredTenant, cost: int) -> Iterator[Violation]:
    """Check one parked tenant whose head costs ``cost``."""
    due = _timer(stored, tenant, row)
    latest = _reopens(stored, tenant, row)
    if latest is not None and (due is None or due > latest):
        found = "no timer" if due is None else f"looked at again at {due} ms"
        yield Violation(Rule.CALENDAR, f"parked {tenant}", found, f"by {latest} ms, when {row.place} is over")
    if due is not None and due <= stored.pool["now"]:
        return  # the next dispatch releases it, if it may
    reason = _reason(stored, tenant, row, cost)
    if reason is None:
        yield Violation(Rule.CALENDAR, f"parked {tenant}", f"parked by {row.place}", "released: its head fits")
    elif reason != row.place and not {reason, row.place}.isdisjoint(_TIMERS):
        # Which of slots and cost it was does not matter; what only time cures needs its timer.
        yield Violation(Rule.CALENDAR, f"parked {tenant}", f"parked by {row.place}", f"by {reason}")


def _timer(stored: Stored, tenant: str, row: StoredTenant) -> int | None:
    kind = _TIMERS.get(ParkReason(row.place))
    return stored.timers.get(f"{kind}:{tenant}") if kind else None


def _reopens(stored: Stored, tenant: str, row: StoredTenant) -> int | None:
    """Return by when the limit that parked it must be looked at; None: no time cures it."""
    if row.place == ParkReason.BUDGET:
        return row.numbers["period_end"] or None
    if row.place not in {ParkReason.STARTS, ParkReason.SPEND}:
        return None
    interval = row.numbers[f"{row.place}_interval"]
    return min((at for at, _ in _live(stored, row.place, tenant, interval)), default=stored.pool["now"]) + interval


def _live(stored: Stored, kind: str, owner: str, interval: int) -> list[tuple[int, int]]:
    """Return what a window holds at the pool's last instant: when, and how much; open places count as now."""
    now, window = stored.pool["now"], (kind, owner)
    held = [(at, amount) for at, amount in stamps_of(stored, window) if amount and at > now - interval]
    open_now = open_places(stored)[window]
    return [*held, (now, open_now)] if open_now else held


def _held(stored: Stored, kind: str, tenant: str, row: StoredTenant) -> int:
    return sum(amount for _, amount in _live(stored, kind, tenant, row.numbers[f"{kind}_interval"]))


def _reason(stored: Stored, tenant: str, row: StoredTenant, cost: int) -> str | None:
    """Return the first limit that stops a head of this cost, in the order in which they are looked at."""
    numbers = row.numbers
    if any(limit and cost > limit for limit in (stored.pool["cost_ceiling"], stored.pool["spend_limit"])):
        # It can never run. A lowered limit of the pool finds that out at the tenant's next change.
        return row.place
    whole = numbers["budget"] + numbers["top_up"]
    own = (numbers["cost_ceiling"], numbers["spend_limit"])
    if (numbers["budget"] >= 0 and cost > whole) or any(limit and cost > limit for limit in own):
        return None
    if numbers["slot_ceiling"] and numbers["slots"] >= numbers["slot_ceiling"]:
        return ParkReason.SLOTS
    if numbers["cost_ceiling"] and numbers["cost"] + cost > numbers["cost_ceiling"]:
        return ParkReason.COST
    held = numbers["cost"] - numbers["held_before"]
    room = whole - numbers["spent"] - numbers["late"] - held
    if numbers["budget"] >= 0 and not numbers["budget_rejects"] and cost > room:
        return ParkReason.BUDGET
    return _closed_window(stored, tenant, row, cost)


def _closed_window(stored: Stored, tenant: str, row: StoredTenant, cost: int) -> str | None:
    starts, spend = row.numbers["starts_limit"], row.numbers["spend_limit"]
    if starts and _held(stored, ParkReason.STARTS, tenant, row) >= starts:
        return ParkReason.STARTS
    if spend and _held(stored, ParkReason.SPEND, tenant, row) + cost > spend:
        return ParkReason.SPEND
    return None
