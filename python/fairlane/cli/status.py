"""``fairlane status`` and ``fairlane tenants``: one look at, or one change of, a scheduler's state."""

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from fairlane.config import TenantConfig
from fairlane.domain.policy import WorkerState
from fairlane.errors import ConfigError
from fairlane.store.connection import Endpoint
from fairlane.store.messages import PoolView, TenantView, WorkerView
from fairlane.store.store import Store

_PAGE = 1000


async def show(endpoint: Endpoint, name: str) -> None:
    """Print the pool, the workers and every tenant.

    Raises:
        ConfigError: no scheduler of this name has ever run there.
        StoreError: the server cannot be asked.
    """
    async with Store(endpoint, name) as store:
        await _check_exists(store, name)
        first = await store.snapshot(limit=_PAGE)
        tenants, page = list(first.tenants), first
        while page.more:
            page = await store.snapshot(after_tenant=tenants[-1].id, limit=_PAGE)
            tenants += page.tenants
        console = Console()
        console.print(_pool_table(name, first.pool))
        console.print(_worker_table(await store.workers()))
        console.print(_tenant_table(tenants))


async def put_tenant(endpoint: Endpoint, name: str, tenant: str, limits: TenantConfig) -> None:
    """Register a tenant or replace its limits. Raises as `show` does."""
    async with Store(endpoint, name) as store:
        await _check_exists(store, name)
        fresh = await store.put_tenants({tenant: limits})
    typer.echo(f"tenant {tenant} {'registered' if fresh else 'changed'}")


async def remove_tenant(endpoint: Endpoint, name: str, tenant: str) -> None:
    """Forget a tenant. Raises ConfigError if there is none or it has tasks, and as `show` does."""
    async with Store(endpoint, name) as store:
        await _check_exists(store, name)
        if not await store.remove_tenant(tenant):
            raise ConfigError(f"tenant {tenant}: there is none of this id", field="tenant")
    typer.echo(f"tenant {tenant} removed")


async def _check_exists(store: Store, name: str) -> None:
    await store.check()
    if not await store.command("EXISTS", store.keys.pool):
        raise ConfigError(f"name = {name}: no scheduler of this name on {store.endpoint.shown}", field="name")


def _pool_table(name: str, pool: PoolView) -> Table:
    state = "closed" if pool.closed else f"paused for {pool.paused_ms} ms" if pool.paused_ms else "open"
    table = Table(title=f"scheduler {name}", title_justify="left", box=SIMPLE, show_header=False)
    for label, value in (
        ("policy", f"{pool.policy.value}, quantum {pool.quantum}"),
        ("admission", state),
        ("capacity", f"{_of(pool.capacity, pool.hard_limit)} slots"),
        ("in flight", f"{pool.slots} tasks, cost {_of(pool.cost, pool.cost_ceiling)}"),
        ("runnable", f"{pool.runnable} tenants"),
        ("provider", f"{pool.successes} successes, {pool.throttles} throttles"),
    ):
        table.add_row(label, value)
    return table


def _worker_table(workers: list[WorkerView]) -> Table:
    table = _table("worker", "state", "in hand", "lease left")
    for worker in sorted(workers, key=lambda worker: worker.name):
        left = f"{worker.lease_left_ms} ms" if worker.state is not WorkerState.LOST else "-"
        table.add_row(worker.name, worker.state.value, _of(worker.load, worker.slots), left)
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
            _of(tenant.slots, tenant.slot_ceiling),
            _of(tenant.cost, tenant.cost_ceiling),
            str(tenant.deficit),
        )
    return table


def _table(first: str, second: str, *numbers: str) -> Table:
    table = Table(box=SIMPLE)
    table.add_column(first, overflow="fold")
    table.add_column(second)
    for heading in numbers:
        table.add_column(heading, justify="right")
    return table


def _of(used: int, limit: int | None) -> str:
    return str(used) if limit is None else f"{used} of {limit}"
