"""Rule `ledger`: the stored amounts are the sums over the events, and no handover exceeded its budget."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.events import BudgetRow, EndRow, EnqueuedRow, Event, LateRow, PeriodRow, RemovedRow, TenantRow
from fairlane.store.stored import StoredTenant

_Money = TenantRow | BudgetRow | PeriodRow | LateRow | EnqueuedRow | EndRow


@dataclass(slots=True)
class Account:
    """One tenant's money, since it was registered. Sums are by period."""

    limit: int | None = None
    period: int = 1
    spent: Counter[int] = field(default_factory=Counter)
    overrun: Counter[int] = field(default_factory=Counter)
    late: Counter[int] = field(default_factory=Counter)
    total: int = 0
    held: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Fence to cost and period."""
    booked_late: set[int] = field(default_factory=set)

    @property
    def promised(self) -> int:
        """The units that the budget of this period has to cover."""
        held = sum(cost for cost, period in self.held.values() if period == self.period)
        return held + self.spent[self.period] + self.late[self.period]


@dataclass(slots=True)
class Accounts:
    """Follows every tenant's amounts through the events. Feed all events in order from the first on, then `finish`."""

    tenants: dict[str, Account] = field(default_factory=dict)
    handovers: int = 0
    """Handovers under a budget."""

    def feed(self, event: Event) -> Iterator[Violation]:
        """Book one event."""
        for row in event.rows:
            if isinstance(row, RemovedRow):
                self.tenants.pop(row.tenant, None)
            elif isinstance(row, _Money):
                account = self.tenants.setdefault(row.tenant, Account())
                for task, found, expected in self._book(account, row):
                    subject = f"event {event.number} ({event.by}) {row.tenant}:{task}"
                    yield Violation(Rule.LEDGER, subject, found, expected)

    def finish(self, stored: Mapping[str, StoredTenant]) -> Iterator[Violation]:
        """Compare the sums with the stored tenants. Only for a stream that still holds its first event."""
        for tenant, row in stored.items():
            account, numbers = self.tenants.get(tenant, Account()), row.numbers
            now = account.period
            sums = {
                "period": now,
                "spent": account.spent[now],
                "overrun": account.overrun[now],
                "late": account.late[now],
                "spent_before": account.spent[now - 1],
                "spent_total": account.total,
            }
            for name, counted in sums.items():
                if numbers[name] != counted:
                    yield _differs(f"{tenant} {name}", numbers[name], counted)
            limit = numbers["budget"] + numbers["top_up"] if numbers["budget"] >= 0 else None
            if limit != account.limit:
                yield _differs(f"{tenant} budget and top_up", limit, account.limit)

    def _book(self, account: Account, row: _Money) -> Iterator[tuple[str, str, str]]:
        match row:
            case TenantRow():
                account.limit = None
            case BudgetRow():
                account.limit = row.limit
            case PeriodRow():
                account.period = row.number
            case LateRow():
                yield from self._late(account, row)
            case EnqueuedRow():
                yield from self._reserve(account, row)
            case EndRow():
                _end(account, row.fence, row.actual)

    def _reserve(self, account: Account, row: EnqueuedRow) -> Iterator[tuple[str, str, str]]:
        account.held[row.fence] = (row.cost, account.period)
        if account.limit is not None:
            self.handovers += 1
            if account.promised > account.limit:
                found = f"{account.promised} held and spent"
                yield row.task, found, f"no more than the budget of {account.limit}"

    def _late(self, account: Account, row: LateRow) -> Iterator[tuple[str, str, str]]:
        if row.fence in account.booked_late:
            yield row.task, f"late usage of attempt {row.fence} again", "each attempt's once"
        account.booked_late.add(row.fence)
        account.late[account.period] += row.actual
        account.total += row.actual


def _end(account: Account, fence: int, actual: int) -> None:
    account.total += actual
    if fence in account.held:
        cost, period = account.held.pop(fence)
        account.spent[period] += actual
        account.overrun[period] += max(0, actual - cost)


def _differs(subject: str, found: int | None, counted: int | None) -> Violation:
    return Violation(Rule.LEDGER, f"tenant:{subject}", str(found), f"{counted}, as the events add up to")
