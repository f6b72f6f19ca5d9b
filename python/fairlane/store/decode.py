"""Replies of the scripts, from MessagePack lists to typed values. Shapes stand in each script's header."""

from collections.abc import Sequence
from math import floor
from typing import Any

from fairlane.domain.event_decoder import decode_event
from fairlane.domain.events import Event
from fairlane.domain.policy import ParkReason, QueuePolicy
from fairlane.domain.task import TaskRef
from fairlane.errors import MalformedEvent
from fairlane.store.codec import split_name
from fairlane.store.event_codec import unpack_rows
from fairlane.store.keys import POOL_SETTINGS, POOL_STATE, TENANT_VIEW
from fairlane.store.messages import (
    Ledger,
    PoolView,
    Recovered,
    Snapshot,
    Started,
    StartedTask,
    TenantView,
    Write,
)
from fairlane.store.settings import NO_BUDGET, tenant_config

_WRITES = {write.value.encode(): write for write in Write}


def writes(reply: Sequence[bytes]) -> list[Write]:
    """Decode the answer to each write."""
    return [_WRITES[answer] for answer in reply]


def started(reply: Sequence[Any]) -> Started:
    """Decode the reply of `start`."""
    alive, hold_ms, more, stopping, tasks = reply
    return Started(
        alive=bool(alive),
        tasks=tuple(
            StartedTask(
                TaskRef(tenant.decode(), task.decode()),
                fence,
                cost,
                payload or b"",
                failures,
                None if deadline is False else deadline,
            )
            for tenant, task, fence, cost, payload, failures, deadline in tasks
        ),
        cancelling=tuple((split_name(name), fence) for name, fence in stopping),
        hold_ms=None if hold_ms is False else hold_ms,
        more=bool(more),
    )


def recovered(reply: Sequence[Any]) -> Recovered:
    """Decode the reply of `evict` and `reap`."""
    tasks, more, incarnations, next_ms, offset_ms = reply
    return Recovered(
        incarnations=tuple(incarnation.decode() for incarnation in incarnations),
        tasks=tasks,
        more=bool(more),
        next_ms=None if next_ms is False else next_ms,
        offset_ms=offset_ms,
    )


def event(entry: Sequence[Any]) -> Event:
    """Decode one stream entry.

    Raises:
        MalformedEvent: the scripts of this version do not write such an entry.

    """
    stream_id, flat = entry[0].decode(), entry[1]
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    try:
        number, at_ms, by, rows = int(fields[b"n"]), int(fields[b"at"]), fields[b"by"].decode(), fields[b"rows"]
        unpacked = unpack_rows(rows)
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedEvent(
            f"event stream entry {stream_id}: needs the fields n, at, by and rows (an array): {error!r}",
            stream_id=stream_id,
        ) from error
    return decode_event(stream_id, number, at_ms, by, unpacked)


def ledger(reply: Sequence[Any]) -> Ledger:
    """Decode the reply of `ledger`."""
    limit, held, spent, overrun, late, held_before, spent_before, spent_total, period_end = reply
    return Ledger(
        limit=None if limit is False else limit,
        held=held,
        spent=spent,
        overrun=overrun,
        late=late,
        held_before=held_before,
        spent_before=spent_before,
        spent_total=spent_total,
        period_ends_ms=period_end or None,
    )


def snapshot(reply: Sequence[Any]) -> Snapshot:
    """Decode the reply of `snapshot`."""
    now_ms, raw_pool, more, *tenants = reply
    pool = _pool(now_ms, dict(zip(POOL_SETTINGS + POOL_STATE, raw_pool, strict=True)))
    return Snapshot(
        pool=pool,
        tenants=tuple(
            _tenant(name.decode(), dict(zip(TENANT_VIEW, raw, strict=True)), pool.virtual_time) for name, raw in tenants
        ),
        more=bool(more),
    )


def _pool(now_ms: int, raw: dict[str, Any]) -> PoolView:
    number = {field: int(value or 0) for field, value in raw.items() if field not in {"policy", "throttle_scope"}}
    return PoolView(
        policy=QueuePolicy(raw["policy"].decode()),
        quantum=number["quantum"],
        capacity=number["capacity"],
        hard_limit=number["hard_limit"],
        cost_ceiling=number["cost_ceiling"] or None,
        slots=number["slots"],
        cost=number["cost"],
        virtual_time=float(raw["virtual_time"]),
        round=floor((raw["rebased"] + raw["virtual_time"]) / number["quantum"]),
        epoch=number["epoch"],
        fence=number["fence"],
        live=number["live"],
        runnable=number["runnable"],
        throttles=number["throttles"],
        successes=number["successes"],
        closed=number["closed"] == 1,
        paused_ms=max(0, number["paused_until"] - now_ms),
        events=number["events"],
        now_ms=now_ms,
    )


def _tenant(tenant: str, raw: dict[str, Any], pool_virtual_time: float) -> TenantView:
    place = (raw.pop("place") or b"").decode()
    number = {field: int(value or 0) for field, value in raw.items()}
    virtual_time = raw["base"] + raw["served"] / raw["weight"]
    deficit = raw["weight"] * (pool_virtual_time - virtual_time)
    return TenantView(
        id=tenant,
        weight=number["weight"],
        slot_ceiling=number["slot_ceiling"] or None,
        cost_ceiling=number["cost_ceiling"] or None,
        queue_limit=number["queue_limit"],
        virtual_time=virtual_time,
        deficit=deficit if place == "calendar" else min(0.0, deficit),
        owed=number["owed"],
        ratio=number["ratio"],
        slots=number["slots"],
        cost=number["cost"],
        queued=number["queued"],
        waiting=number["waiting"],
        in_calendar=place == "calendar",
        parked=ParkReason(place) if place not in {"", "calendar"} else None,
        limits=tenant_config(number),
        ledger=Ledger(
            limit=None if number["budget"] == NO_BUDGET else number["budget"] + number["top_up"],
            held=number["cost"] - number["held_before"],
            spent=number["spent"],
            overrun=number["overrun"],
            late=number["late"],
            held_before=number["held_before"],
            spent_before=number["spent_before"],
            spent_total=number["spent_total"],
            period_ends_ms=number["period_end"] or None,
        ),
    )
