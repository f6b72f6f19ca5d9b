"""A naive reference for budgets and windows: it keeps every attempt and every start, and sums them at every event.

The test passes it what callers know: limits, top-ups, the usage that each settlement reported. It takes the rest from
the events. It keeps no counter: periods follow from the calendar, and windows are lists of all starts.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from fairlane import _core
from fairlane.config import BudgetConfig, TenantConfig, WindowConfig
from fairlane.domain.events import ActiveRow, EndRow, EnqueuedRow, Event, LateRow
from fairlane.domain.policy import BudgetPolicy
from fairlane.store.messages import Ledger

POOL = "*"
TAKES_BACK = {"evict", "reap", "register"}

Period = tuple[int, int]
"""The number of changes of the budget's calendar, and the period's number in that calendar."""


@dataclass
class Attempt:
    tenant: str
    cost: int
    period: Period
    started_ms: int | None = None
    over: bool = False


@dataclass
class Account:
    """One tenant's amounts."""

    budget: BudgetConfig | None = None
    calendar: int = 0
    highest: dict[Period, float] = field(default_factory=lambda: defaultdict(int))
    """The largest limit that was in force in each period."""
    sums: dict[tuple[str, Period], int] = field(default_factory=lambda: defaultdict(int))
    keys: set[str] = field(default_factory=set)
    total: int = 0

    def period(self, at_ms: int) -> Period:
        length = self.budget.period_ms if self.budget else None
        return self.calendar, (at_ms - self.budget.anchor_ms) // length if self.budget and length else 0

    def limit(self, at_ms: int) -> int | None:
        return None if self.budget is None else self.budget.limit_units + self.sums["added", self.period(at_ms)]

    def remember_limit(self, at_ms: int) -> None:
        limit = self.limit(at_ms)
        now = self.period(at_ms)
        self.highest[now] = max(self.highest[now], float("inf") if limit is None else limit)


@dataclass
class LedgerOracle:
    """Feed it all events in order; it raises an error at the first event that breaks a promise."""

    accounts: dict[str, Account] = field(default_factory=lambda: defaultdict(Account))
    windows: dict[tuple[str, str], WindowConfig] = field(default_factory=dict)
    """By owner and kind. Limits may change under way, intervals not."""
    attempts: dict[int, Attempt] = field(default_factory=dict)
    reported: dict[int, int] = field(default_factory=dict)
    """The usage that the latest settlement of each fence reported."""
    unreported: set[int] = field(default_factory=set)
    """Attempts that were taken away after their start, and whose usage is not booked yet."""
    once: set[tuple[str, str]] = field(default_factory=set)
    """Tasks, by tenant and id, that must not be repeated when their outcome is unknown."""
    largest: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def configure(self, tenant: str, config: TenantConfig, at_ms: int) -> None:
        account = self.accounts[tenant]
        before, after = account.budget, config.budget
        account.remember_limit(at_ms)
        if _calendar(before) != _calendar(after):
            account.calendar += 1
        account.budget = after
        account.remember_limit(at_ms)
        self.limit_starts(tenant, config.starts, config.spend)

    def limit_starts(self, owner: str, starts: WindowConfig | None, spend: WindowConfig | None) -> None:
        for kind, window in (("starts", starts), ("spend", spend)):
            if window is not None:
                self.windows[owner, kind] = window
                self.largest[owner, kind] = max(self.largest[owner, kind], window.limit)

    def top_up(self, tenant: str, units: int, key: str, at_ms: int) -> int | None:
        """Return the limit that the store must answer."""
        account = self.accounts[tenant]
        if key not in account.keys:
            account.keys.add(key)
            account.sums["added", account.period(at_ms)] += units
        account.remember_limit(at_ms)
        return account.limit(at_ms)

    def refuses(self, tenant: str, cost: int, at_ms: int) -> bool:
        """Return whether a task of this cost can never run under the present limits."""
        limit = self.accounts[tenant].limit(at_ms)
        spends = [self.windows[owner, "spend"].limit for owner in (tenant, POOL) if (owner, "spend") in self.windows]
        return (limit is not None and cost > limit) or any(cost > each for each in spends)

    def held(self, tenant: str, at_ms: int, *, before: bool = False) -> int:
        now = self.accounts[tenant].period(at_ms)
        mine = (each for each in self.attempts.values() if each.tenant == tenant and not each.over)
        return sum(each.cost for each in mine if (each.period != now) == before)

    def expect(self, tenant: str, ledger: Ledger, at_ms: int) -> None:
        """Compare with the store's ledger."""
        account = self.accounts[tenant]
        now = account.period(at_ms)
        found = (ledger.limit, ledger.held, ledger.held_before, ledger.spent_total)
        assert found == (
            account.limit(at_ms), self.held(tenant, at_ms), self.held(tenant, at_ms, before=True), account.total,
        )  # fmt: skip
        sums = tuple(account.sums[name, now] for name in ("spent", "overrun", "late"))
        assert (ledger.spent, ledger.overrun, ledger.late) == sums

    def feed(self, event: Event) -> None:
        """Check one event, row by row."""
        for row in event.rows:
            match row:
                case EnqueuedRow():
                    self._place(row, event.at_ms)
                case ActiveRow():
                    self.attempts[row.fence].started_ms = event.at_ms
                case EndRow() if row.fence:
                    self._end(row, event)
                case LateRow():
                    self._late(row, event.at_ms)
            for tenant in self.accounts:
                self._check(tenant, event.at_ms)

    def finish(self) -> None:
        """Check every interval of every window over the whole run."""
        for (owner, kind), window in self.windows.items():
            started = [
                (each.started_ms, each.cost)
                for each in self.attempts.values()
                if each.started_ms is not None and owner in {each.tenant, POOL}
            ]
            stamps, costs = [float(at) for at, _ in started], [float(cost) for _, cost in started]
            peak = _core.fullest_window(stamps, window.interval_ms, costs if kind == "spend" else None)
            assert peak is None or peak[0] <= self.largest[owner, kind], (owner, kind, peak)

    def _place(self, row: EnqueuedRow, at_ms: int) -> None:
        tenant = row.tenant
        account = self.accounts[tenant]
        now, limit = account.period(at_ms), account.limit(at_ms)
        account.remember_limit(at_ms)
        self.attempts[row.fence] = Attempt(tenant, row.cost, now)
        if limit is not None:
            committed = self.held(tenant, at_ms) + account.sums["spent", now] + account.sums["late", now]
            assert committed <= limit, (row, committed, limit)
        for owner in (tenant, POOL):
            for kind in ("starts", "spend"):
                if window := self.windows.get((owner, kind)):
                    assert self._in_window(owner, kind, window, at_ms) <= window.limit, (row, owner, kind)

    def _in_window(self, owner: str, kind: str, window: WindowConfig, at_ms: int) -> int:
        counted = (
            each
            for each in self.attempts.values()
            if owner in {each.tenant, POOL}
            and (not each.over if each.started_ms is None else each.started_ms > at_ms - window.interval_ms)
        )
        return sum(each.cost if kind == "spend" else 1 for each in counted)

    def _end(self, row: EndRow, event: Event) -> None:
        fence, actual = row.fence, row.actual
        attempt = self.attempts[fence]
        account = self.accounts[attempt.tenant]
        assert not attempt.over, row
        attempt.over = True
        taken = event.by in TAKES_BACK and attempt.started_ms is not None
        unknown = taken and (attempt.tenant, row.task) in self.once
        assert unknown or not (row.end == "lost" and row.state == "dead"), row
        assert actual == (self.reported[fence] if event.by in {"settle", "turn"} else attempt.cost if unknown else 0), (
            event.by,
            row,
        )
        if taken and not unknown:
            self.unreported.add(fence)
        account.total += actual
        account.sums["spent", attempt.period] += actual
        account.sums["overrun", attempt.period] += max(0, actual - attempt.cost)

    def _late(self, row: LateRow, at_ms: int) -> None:
        fence, actual = row.fence, row.actual
        assert fence in self.unreported, (row, "was booked already, or never taken away")
        assert actual == self.reported[fence]
        self.unreported.remove(fence)
        account = self.accounts[row.tenant]
        account.total += actual
        account.sums["late", account.period(at_ms)] += actual

    def _check(self, tenant: str, at_ms: int) -> None:
        account = self.accounts[tenant]
        now = account.period(at_ms)
        account.remember_limit(at_ms)
        held, spent, overrun = self.held(tenant, at_ms), account.sums["spent", now], account.sums["overrun", now]
        assert held + spent <= account.highest[now] + overrun, (tenant, held, spent, overrun)


def exhausts(config: BudgetConfig | None) -> bool:
    """Whether tasks end when this budget is used up."""
    return config is not None and config.when_exhausted is BudgetPolicy.REJECT


def _calendar(budget: BudgetConfig | None) -> tuple[int, int]:
    return (budget.period_ms or 0, budget.anchor_ms) if budget else (0, 0)
