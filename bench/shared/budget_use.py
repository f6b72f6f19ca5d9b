"""The use of one budget: by the ledger, beside what the events say."""

from bench.shared.evidence import Evidence
from bench.shared.metrics import Part
from fairlane.store.messages import Ledger


class BudgetUse(Part):
    """The use of one budget. Shares are of the limit."""

    limit: int
    admitted: int
    """Sum of the estimates of the tasks that were let through."""
    admitted_share: float
    held: int
    spent: int
    ledger_share: float
    """Held and spent by the ledger."""
    remaining: int
    most_promised: int | None
    """The largest sum of held and spent after any event; null without events."""
    by_events: int | None
    """Held and spent by the events, at the end; null without events."""

    @classmethod
    def of(
        cls,
        *,
        limit: int,
        admitted: int,
        held: int,
        spent: int,
        most_promised: int | None = None,
        by_events: int | None = None,
    ) -> "BudgetUse":
        """Make it, with the shares and the rest."""
        return cls(
            limit=limit,
            admitted=admitted,
            admitted_share=admitted / limit,
            held=held,
            spent=spent,
            ledger_share=(held + spent) / limit,
            remaining=limit - held - spent,
            most_promised=most_promised,
            by_events=by_events,
        )


def budget_use(evidence: Evidence, tenant: str, ledger: Ledger) -> BudgetUse:
    """Return the use of a tenant's budget, which must have no periods.

    Raises:
        ValueError: the tenant has no budget.
    """
    if ledger.limit is None:
        raise ValueError(f"tenant {tenant} has no budget")
    most, by_events = promised(evidence, tenant)
    let_through = {each.ref for each in evidence.of_tenant(tenant)}
    return BudgetUse.of(
        limit=ledger.limit,
        admitted=sum(evidence.tasks[ref].cost for ref in let_through),
        held=ledger.held,
        spent=ledger.spent + ledger.late,
        most_promised=most,
        by_events=by_events,
    )


def promised(evidence: Evidence, tenant: str) -> tuple[int, int]:
    """Return the largest sum of held and spent after any row, and the sum after the last one."""
    changes: list[tuple[int, int]] = []
    for attempt in evidence.of_tenant(tenant):
        changes.append((attempt.enqueued.place, attempt.cost))
        if attempt.ended is not None:
            changes.append((attempt.ended.place, attempt.actual - attempt.cost))
    trace = evidence.tenants.get(tenant)
    changes += [(use.at.place, use.actual) for use in (trace.late if trace is not None else [])]
    most = total = 0
    for _, change in sorted(changes):
        total += change
        most = max(most, total)
    return most, total
