"""``fairlane tenants``: shows, registers, changes and removes tenants."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from fairlane.cli.formatting import amount, instant, units
from fairlane.cli.limits import Change, Named, begins_period, number, shown, whole, window
from fairlane.cli.options import Config, Name, Redis, Tenant, checked_id, endpoint
from fairlane.domain.policy import BudgetPolicy
from fairlane.errors import ConfigError
from fairlane.lifecycle.connect import operating
from fairlane.store.connection import Endpoint
from fairlane.store.messages import TenantView

app = typer.Typer(help="Show, register, change and remove tenants of a running or stopped scheduler.")

Number = Named[int] | None
Window = Named[tuple[int, int]] | None


def _whole(help: str) -> Any:  # noqa: A002, ANN401 - Typer's word
    return typer.Option(parser=whole, metavar="N", help=help)


def _number(help: str) -> Any:  # noqa: A002, ANN401 - Typer's word
    return typer.Option(parser=number, metavar="N|none", help=help)


def _window(help: str) -> Any:  # noqa: A002, ANN401 - Typer's word
    return typer.Option(parser=window, metavar="LIMIT/INTERVAL_MS|none", help=help)


@app.command("put")
def put(
    tenant: Tenant,
    weight: Annotated[int | None, _whole("The tenant's share, relative to others; 1 for a new tenant.")] = None,
    slots: Annotated[Number, _number("How many tasks may be in flight at once.")] = None,
    cost_ceiling_units: Annotated[Number, _number("How much estimated cost may be in flight at once.")] = None,
    queue_limit: Annotated[int | None, _whole("How many tasks may wait; further ones are refused.")] = None,
    budget_units: Annotated[Number, _number("Budget: how much the tenant may spend in a period, or in total.")] = None,
    budget_period_ms: Annotated[Number, _number("Length of a budget period; none: one budget, never reset.")] = None,
    budget_anchor_ms: Annotated[int | None, _whole("A time when a period begins, in ms since the epoch.")] = None,
    when_exhausted: Annotated[
        BudgetPolicy | None, typer.Option(help="What happens to tasks when the budget is used up: wait or reject.")
    ] = None,
    starts: Annotated[Window, _window("Rate limit on starts; 60/60000 is 60 RPM.")] = None,
    spend: Annotated[Window, _window("Rate limit on estimated cost; 90000/60000 is 90000 TPM.")] = None,
    name: Name = "default",
    redis: Redis = None,
    config: Config = None,
) -> None:
    """Register a tenant, or change its limits.

    A limit without an option does not change; a new tenant gets its default. The word none removes a limit.
    """
    change = Change(
        weight,
        slots,
        cost_ceiling_units,
        queue_limit,
        budget_units,
        budget_period_ms,
        budget_anchor_ms,
        when_exhausted,
        starts,
        spend,
    )
    asyncio.run(_put(endpoint(redis, config), checked_id(name), checked_id(tenant, field="tenant"), change))


@app.command("show")
def show(
    tenant: Tenant,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    name: Name = "default",
    redis: Redis = None,
    config: Config = None,
) -> None:
    """Show a tenant's limits, which of them stops it now, and its budget's ledger."""
    view = asyncio.run(_read(endpoint(redis, config), checked_id(name), checked_id(tenant, field="tenant")))
    if as_json:
        typer.echo(json.dumps(_fields(view)))
    else:
        Console().print(_table(view))


@app.command("top-up")
def top_up(
    tenant: Tenant,
    units: Annotated[int, typer.Argument(parser=whole, help="How many units to add to the current period's budget.")],
    key: Annotated[str, typer.Option(help="An id for this top-up. Within a day, the same key adds only once.")],
    name: Name = "default",
    redis: Redis = None,
    config: Config = None,
) -> None:
    """Add units to a tenant's budget for the current period. Safe to repeat with the same key."""
    place, scheduler = endpoint(redis, config), checked_id(name)
    limit = asyncio.run(_top_up(place, scheduler, checked_id(tenant, field="tenant"), units, key))
    typer.echo(f"tenant {tenant}: the budget is now {limit} units")


@app.command("remove")
def remove(tenant: Tenant, name: Name = "default", redis: Redis = None, config: Config = None) -> None:
    """Remove a tenant that has no tasks."""
    asyncio.run(_remove(endpoint(redis, config), checked_id(name), checked_id(tenant, field="tenant")))
    typer.echo(f"tenant {tenant} removed")


async def _put(place: Endpoint, name: str, tenant: str, change: Change) -> None:
    async with operating(place, name) as operator:
        before, after = await operator.change_tenant(tenant, change.applied_to)
    if before is None:
        typer.echo(f"tenant {tenant} registered")
        return
    was, now = shown(before), shown(after)
    changes = ", ".join(f"{limit} {was[limit]} -> {now[limit]}" for limit in now if was[limit] != now[limit])
    typer.echo(f"tenant {tenant} changed: {changes}" if changes else f"tenant {tenant} unchanged")
    if begins_period(before, after):
        typer.echo("a new budget period has begun; earlier spending does not count in it")


async def _read(place: Endpoint, name: str, tenant: str) -> TenantView:
    async with operating(place, name) as operator:
        view = await operator.tenant(tenant)
    if view is None:
        raise _unknown(tenant)
    return view


async def _top_up(place: Endpoint, name: str, tenant: str, units: int, key: str) -> int:
    async with operating(place, name) as operator:
        return await operator.top_up(tenant, units, key)


async def _remove(place: Endpoint, name: str, tenant: str) -> None:
    async with operating(place, name) as operator:
        if not await operator.remove_tenant(tenant):
            raise _unknown(tenant)


def _unknown(tenant: str) -> ConfigError:
    return ConfigError(f"tenant {tenant} is not registered; fairlane tenants put {tenant} registers it", field="tenant")


def _place(view: TenantView) -> str:
    return "calendar" if view.in_calendar else f"parked by {view.parked}" if view.parked else "idle"


def _table(view: TenantView) -> Table:
    table = Table(title=f"tenant {view.id}", title_justify="left", box=SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    limits, ledger = shown(view.limits), view.ledger
    sections = (
        tuple(limits.items()),
        (
            ("place", _place(view)),
            ("queued", str(view.queued)),
            ("waiting", str(view.waiting)),
            ("in flight", amount(view.slots, view.slot_ceiling)),
            ("cost in flight", amount(view.cost, view.cost_ceiling)),
            ("deficit", units(view.deficit)),
            ("owed", str(view.owed)),
        ),
        (
            ("limit", "none" if ledger.limit is None else str(ledger.limit)),
            ("held", str(ledger.held)),
            ("spent", str(ledger.spent)),
            ("overrun", str(ledger.overrun)),
            ("late", str(ledger.late)),
            ("remaining", "-" if ledger.remaining is None else str(ledger.remaining)),
            ("period ends, UTC", instant(ledger.period_ends_ms)),
            ("held before", str(ledger.held_before)),
            ("spent before", str(ledger.spent_before)),
            ("spent in total", str(ledger.spent_total)),
        ),
    )
    for rows in sections:
        for row in rows:
            table.add_row(*row)
        table.add_section()
    return table


def _fields(view: TenantView) -> dict[str, object]:
    return {
        "tenant": view.id,
        "limits": view.limits.model_dump(mode="json"),
        "place": "calendar" if view.in_calendar else "parked" if view.parked else "idle",
        "parked_by": view.parked,
        "queued": view.queued,
        "waiting": view.waiting,
        "in_flight": view.slots,
        "cost_in_flight": view.cost,
        "deficit": view.deficit,
        "owed": view.owed,
        "ledger": asdict(view.ledger) | {"remaining": view.ledger.remaining},
    }
