"""Ledgers added up from the event stream alone, as somebody would who has nothing else."""

from dataclasses import dataclass, field

from fairlane.domain.attempt import AttemptState
from fairlane.domain.events import Event, EventKind

_ENDS = set(AttemptState) - {AttemptState.RESERVED, AttemptState.ENQUEUED, AttemptState.ACTIVE}


@dataclass
class _Account:
    limit: int | None = None
    period: int = 1
    spent: int = 0
    """With what was told late."""
    held: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Fence to cost and period."""

    @property
    def promised(self) -> int:
        return self.spent + sum(cost for cost, period in self.held.values() if period == self.period)


class EventLedger:
    """Follows the events of every tenant; at each handover the budget in force must pay for all that is promised."""

    def __init__(self) -> None:
        self.accounts: dict[str, _Account] = {}
        self.handovers = 0
        """Those that a budget had to pay for."""

    def feed(self, event: Event) -> None:
        """Take in the next event."""
        for kind, *row in event.rows:
            if kind in {EventKind.TENANT, EventKind.BUDGET, EventKind.PERIOD, EventKind.LATE, "enqueued"} | _ENDS:
                self._account(self.accounts.setdefault(row[0], _Account()), kind, row)

    def _account(self, account: _Account, kind: str, row: list) -> None:
        if kind == EventKind.TENANT:
            account.limit = None
        elif kind == EventKind.BUDGET:
            account.limit = row[1]
        elif kind == EventKind.PERIOD:
            account.period, account.spent = row[1], 0
        elif kind == EventKind.LATE:
            account.spent += row[3]
        elif kind == "enqueued":
            account.held[row[2]] = (row[3], account.period)
            if account.limit is not None:
                self.handovers += 1
                assert account.promised <= account.limit, row
        elif row[2]:
            _, period = account.held.pop(row[2])
            account.spent += row[3] * (period == account.period)
