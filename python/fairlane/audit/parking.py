"""Rule `calendar` for parked tenants: a limit of their own stops their next task, or a timer rechecks them in time."""

from collections.abc import Iterator
from typing import Final

from fairlane.audit.ledger import open_places, unpassed
from fairlane.audit.violation import Rule, Violation
from fairlane.domain.policy import ParkReason
from fairlane.store.stored import Stored, StoredTenant

_CURED_BY_TIME: Final = frozenset({ParkReason.STARTS, ParkReason.SPEND, ParkReason.BUDGET})


class Parking:
    """What the parked tenants of one reading wait for."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._places = open_places(stored)

    def check(self, tenant: str, row: StoredTenant, cost: int) -> Iterator[Violation]:
        """Check one parked tenant whose next task costs ``cost``."""
        for kind, latest, over in self._looks(tenant, row):
            due = self._stored.timers.get(f"{kind}:{tenant}")
            if due is None or due > latest:
                found = "no timer" if due is None else f"looked at again at {due} ms"
                yield Violation(Rule.CALENDAR, f"parked {tenant}", found, f"by {latest} ms, when {over} is over")
        timers = [self._stored.timers.get(f"{kind}:{tenant}") for kind in ("window", "budget")]
        if any(due is not None and due <= self._stored.pool["now"] for due in timers):
            return  # the next dispatch releases it, if it may
        reason = self._reason(tenant, row, cost)
        if reason is None:
            yield Violation(Rule.CALENDAR, f"parked {tenant}", f"parked by {row.place}", "released: its head fits")
        elif reason != row.place and not {reason, row.place}.isdisjoint(_CURED_BY_TIME):
            # Slots or cost does not matter, but a limit that only time cures needs its timer.
            yield Violation(Rule.CALENDAR, f"parked {tenant}", f"parked by {row.place}", f"by {reason}")

    def _looks(self, tenant: str, row: StoredTenant) -> Iterator[tuple[str, int, str]]:
        """Yield the timers that must recheck the tenant: kind, latest time, and what ends then."""
        if row.numbers["period_end"] and (row.place == ParkReason.BUDGET or row.numbers["top_up"]):
            yield "budget", row.numbers["period_end"], "its period"
        if row.place in {ParkReason.STARTS, ParkReason.SPEND}:
            yield "window", self._reopens(tenant, row), row.place

    def _reopens(self, tenant: str, row: StoredTenant) -> int:
        """Return the time by which the window that parked the tenant must be rechecked."""
        oldest = min((at for at, _ in self._live(row.place, tenant, row)), default=self._stored.pool["now"])
        return oldest + row.numbers[f"{row.place}_interval"]

    def _live(self, kind: str, tenant: str, row: StoredTenant) -> list[tuple[int, int]]:
        """Return time and amount of all that a window holds at the pool's last instant; open places count as now.

        Stamps that a shorter interval has passed do not come back with a longer one.
        """
        now, window = self._stored.pool["now"], (kind, tenant)
        left = now - row.numbers[f"{kind}_interval"]
        held = [
            (at, amount) for at, amount in unpassed(self._stored, window, row.numbers["lead"]) if amount and at > left
        ]
        open_now = self._places[window]
        return [*held, (now, open_now)] if open_now else held

    def _held(self, kind: str, tenant: str, row: StoredTenant) -> int:
        return sum(amount for _, amount in self._live(kind, tenant, row))

    def _reason(self, tenant: str, row: StoredTenant, cost: int) -> str | None:
        """Return the first limit that stops a task of this cost, in the order in which scripts check them."""
        numbers = row.numbers
        whole = numbers["budget"] + numbers["top_up"]
        costs = [each[field] for each in (self._stored.pool, numbers) for field in ("cost_ceiling", "spend_limit")]
        if (numbers["budget"] >= 0 and cost > whole) or any(limit and cost > limit for limit in costs):
            return None  # it can never run
        if numbers["slot_ceiling"] and numbers["slots"] >= numbers["slot_ceiling"]:
            return ParkReason.SLOTS
        if numbers["cost_ceiling"] and numbers["cost"] + cost > numbers["cost_ceiling"]:
            return ParkReason.COST
        held = numbers["cost"] - numbers["held_before"]
        room = whole - numbers["spent"] - numbers["late"] - held
        if numbers["budget"] >= 0 and not numbers["budget_rejects"] and cost > room:
            return ParkReason.BUDGET
        return self._closed_window(tenant, row, cost)

    def _closed_window(self, tenant: str, row: StoredTenant, cost: int) -> str | None:
        starts, spend = row.numbers["starts_limit"], row.numbers["spend_limit"]
        if starts and self._held(ParkReason.STARTS, tenant, row) >= starts:
            return ParkReason.STARTS
        if spend and self._held(ParkReason.SPEND, tenant, row) + cost > spend:
            return ParkReason.SPEND
        return None
