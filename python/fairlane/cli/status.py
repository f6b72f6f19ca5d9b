"""``fairlane status``: a scheduler's state at one moment."""

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from fairlane.cli.formatting import amount, instant, units
from fairlane.cli.limits import shown_window
from fairlane.config import TenantConfig, WindowConfig
from fairlane.domain.policy import WorkerState
from fairlane.lifecycle.connect import operating
from fairlane.store.connection import Endpoint
from fairlane.store.messages import PoolView, TenantView, WorkerView

_PAGE = 1000
_WORDS = frozenset({"state", "stopped by"})


async def show(endpoint: Endpoint, name: str) -> None:
    """Print the pool, the workers and every tenant.

    Raises:
        ConfigError: no scheduler with this name has ever run there.
        StoreError: the server did not answer.
    """
    async with operating(endpoint, name) as operator:
        first = await operator.snapshot(limit=_PAGE)
        tenants, page = list(first.tenants), first
        while page.more:
            page = await operator.snapshot(after_tenant=tenants[-1].id, limit=_PAGE)
            tenants += page.tenants
        workers = await operator.workers()
    console = Console()
    console.print(_pool_table(name, first.pool))
    console.print(_worker_table(workers))
    console.print(_tenant_table(tenants))
    limited = [tenant for tenant in tenants if _is_limited(tenant.limits)]
    if limited:
        console.print(_allowance_table(limited))


def _pool_table(name: str, pool: PoolView) -> Table:
    state = "closed" if pool.closed else f"paused for {pool.paused_ms} ms" if pool.paused_ms else "open"
    table = Table(title=f"scheduler {name}", title_justify="left", box=SIMPLE, show_header=False)
    for label, value in (
        ("policy", f"{pool.policy.value}, quantum {pool.quantum}"),
        ("round", f"{pool.round} of epoch {pool.epoch}"),
        ("admission", state),
        ("capacity", f"{amount(pool.capacity, pool.hard_limit)} slots"),
        ("in flight", f"{pool.slots} tasks, cost {amount(pool.cost, pool.cost_ceiling)}"),
        ("runnable", f"{pool.runnable} tenants"),
        ("provider", f"{pool.successes} successes, {pool.throttles} throttles"),
    ):
        table.add_row(label, value)
    return table


def _worker_table(workers: list[WorkerView]) -> Table:
    table = _table("worker", "state", "in hand", "lease left")
    for worker in sorted(workers, key=lambda worker: worker.name):
        left = f"{worker.lease_left_ms} ms" if worker.state is not WorkerState.LOST else "-"
        table.add_row(worker.name, worker.state.value, amount(worker.load, worker.slots), left)
    return table


def _tenant_table(tenants: list[TenantView]) -> Table:
    table = _table("tenant", "stopped by", "weight", "queued", "waiting", "in flight", "cost", "deficit")
    for tenant in tenants:
        table.add_row(
            tenant.id,
            tenant.parked.value if tenant.parked else "-",
            str(tenant.weight),
            str(tenant.queued),
            str(tenant.waiting),
            amount(tenant.slots, tenant.slot_ceiling),
            amount(tenant.cost, tenant.cost_ceiling),
            units(tenant.deficit),
        )
    return table


def _is_limited(limits: TenantConfig) -> bool:
    return limits.budget is not None or limits.starts is not None or limits.spend is not None


def _allowance_table(tenants: list[TenantView]) -> Table:
    """Show budgets and rate limits of the tenants that have some, with columns for the kinds in use."""
    has_budget = any(tenant.limits.budget for tenant in tenants)
    has_period = any(tenant.ledger.period_ends_ms for tenant in tenants)
    has_starts = any(tenant.limits.starts for tenant in tenants)
    has_spend = any(tenant.limits.spend for tenant in tenants)
    columns = (
        ("budget used", has_budget, _used),
        ("period ends, UTC", has_period, _period_end),
        ("starts/ms", has_starts, lambda tenant: _window(tenant.limits.starts)),
        ("spend/ms", has_spend, lambda tenant: _window(tenant.limits.spend)),
    )
    chosen = [(heading, value) for heading, is_there, value in columns if is_there]
    table = _table("tenant", *(heading for heading, _ in chosen))
    for tenant in tenants:
        table.add_row(tenant.id, *(value(tenant) for _, value in chosen))
    return table


def _used(tenant: TenantView) -> str:
    ledger = tenant.ledger
    return "-" if ledger.limit is None else amount(ledger.held + ledger.spent + ledger.late, ledger.limit)


def _period_end(tenant: TenantView) -> str:
    return "-" if tenant.limits.budget is None else instant(tenant.ledger.period_ends_ms)


def _window(window: WindowConfig | None) -> str:
    return "-" if window is None else shown_window(window)


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="left" if heading in _WORDS else "right", overflow="fold")
    return table
