"""Rule `ledger`: amounts added up from the events are those that are stored, and no handover passed its budget."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fairlane.audit.order import ENDS
from fairlane.audit.state import StoredTenant
from fairlane.audit.violation import Rule, Violation
from fairlane.domain.attempt import AttemptState
from fairlane.domain.events import Event, EventKind, Scalar

_MONEY: Final = frozenset(
    {EventKind.TENANT, EventKind.REMOVED, EventKind.BUDGET, EventKind.PERIOD, EventKind.LATE, AttemptState.ENQUEUED}
    | ENDS
)


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
    told_late: set[int] = field(default_factory=set)

    @property
    def promised(self) -> int:
        """What the budget of this period has to pay for."""
        held = sum(cost for cost, period in self.held.values() if period == self.period)
        return held + self.spent[self.period] + self.late[self.period]


@dataclass(slots=True)
class Accounts:
    """Follows the money of every tenant through the events, in order. Feed all from the first on, then `finish`."""

    tenants: dict[str, Account] = field(default_factory=dict)
    handovers: int = 0
    """Those that a budget had to pay for."""

    def feed(self, event: Event) -> Iterator[Violation]:
        """Take in one event."""
        for row in event.rows:
            kind = str(row[0])
            if kind == EventKind.REMOVED:
                self.tenants.pop(str(row[1]), None)
            elif kind in _MONEY:
                account = self.tenants.setdefault(str(row[1]), Account())
                for found, expected in self._book(account, kind, row):
                    subject = f"event {event.number} ({event.by}) {row[1]}:{row[2]}"
                    yield Violation(Rule.LEDGER, subject, found, expected)

    def finish(self, stored: Mapping[str, StoredTenant]) -> Iterator[Violation]:
        """Compare with what is stored. Only for a stream that still holds its first event."""
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

    def _book(self, account: Account, kind: str, row: tuple[Scalar, ...]) -> Iterator[tuple[str, str]]:
        if kind == EventKind.TENANT:
            account.limit = None
        elif kind == EventKind.BUDGET:
            account.limit = int(row[2])
        elif kind == EventKind.PERIOD:
            account.period = int(row[2])
        elif kind == EventKind.LATE:
            yield from self._late(account, int(row[3]), int(row[4]))
        elif kind == AttemptState.ENQUEUED:
            account.held[int(row[3])] = (int(row[4]), account.period)
            if account.limit is not None:
                self.handovers += 1
                if account.promised > account.limit:
                    yield f"{account.promised} held and spent", f"no more than the budget of {account.limit}"
        else:
            _end(account, int(row[3]), int(row[4]))

    def _late(self, account: Account, fence: int, actual: int) -> Iterator[tuple[str, str]]:
        if fence in account.told_late:
            yield f"late usage of attempt {fence} again", "each attempt's once"
        account.told_late.add(fence)
        account.late[account.period] += actual
        account.total += actual


def _end(account: Account, fence: int, actual: int) -> None:
    account.total += actual
    if fence in account.held:
        cost, period = account.held.pop(fence)
        account.spent[period] += actual
        account.overrun[period] += max(0, actual - cost)


def _differs(subject: str, found: int | None, counted: int | None) -> Violation:
    return Violation(Rule.LEDGER, f"tenant:{subject}", str(found), f"{counted}, as the events add up to")
