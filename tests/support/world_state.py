"""The whole state of a scheduler as plain values: what the reference expects, and what the store shows."""

from typing import Any

from fairlane.store.messages import PoolView, Snapshot, TenantView
from tests.support.world_model import ACTIVE, ENQUEUED, QUEUE_LIMIT, WAITING, tenant_id
from tests.support.world_reference import Reference

State = dict[str, dict[str, Any]]


def expected(reference: Reference) -> State:
    """Return the state the store must be in."""
    scheduler = reference.scheduler
    pool = scheduler.pool()
    state: State = {
        "pool": {
            "quantum": pool.quantum,
            "capacity": pool.capacity,
            "cost_ceiling": pool.cost_ceiling,
            "slots": pool.slots,
            "cost": pool.cost,
            "virtual_time": pool.virtual_time,
            "round": pool.round,
            "epoch": pool.epoch,
            "live": pool.live,
            "runnable": len(scheduler.calendar()),
            "paused_ms": max(0, reference.paused_until - reference.now),
        }
    }
    assert pool.live == len(reference.tasks)
    assert pool.slots == len(reference.in_state(ENQUEUED, ACTIVE))
    waiting = [task.tenant for task in reference.in_state(WAITING)]
    for index in reference.tenants:
        tenant = scheduler.tenant(index)
        state[tenant_id(index)] = {
            "weight": tenant.weight,
            "slot_ceiling": tenant.slot_ceiling,
            "cost_ceiling": tenant.cost_ceiling,
            "queue_limit": QUEUE_LIMIT,
            "virtual_time": tenant.virtual_time,
            "deficit": tenant.deficit,
            "owed": tenant.owed,
            "ratio": tenant.ratio,
            "slots": tenant.slots,
            "cost": tenant.cost,
            "queued": tenant.pending,
            "waiting": waiting.count(index),
            "place": f"parked by {tenant.parked_by}" if tenant.parked_by else tenant.place,
        }
    return state


def observed(snapshot: Snapshot) -> State:
    """Return the state a snapshot shows."""
    assert not snapshot.more
    return {"pool": _pool(snapshot.pool), **{tenant.id: _tenant(tenant) for tenant in snapshot.tenants}}


def differences(seen: State, wanted: State) -> str:
    """Name every value that differs."""
    lines = []
    for who in sorted(seen.keys() | wanted.keys()):
        ours, theirs = seen.get(who, {}), wanted.get(who, {})
        lines.extend(
            f"{who}.{what}: the store has {ours.get(what)}, must be {theirs.get(what)}"
            for what in sorted(ours.keys() | theirs.keys())
            if ours.get(what) != theirs.get(what)
        )
    return "; ".join(lines)


def _pool(pool: PoolView) -> dict[str, Any]:
    return {
        "quantum": pool.quantum,
        "capacity": pool.capacity,
        "cost_ceiling": pool.cost_ceiling or 0,
        "slots": pool.slots,
        "cost": pool.cost,
        "virtual_time": pool.virtual_time,
        "round": pool.round,
        "epoch": pool.epoch,
        "live": pool.live,
        "runnable": pool.runnable,
        "paused_ms": pool.paused_ms,
    }


def _tenant(tenant: TenantView) -> dict[str, Any]:
    place = "calendar" if tenant.in_calendar else f"parked by {tenant.parked}" if tenant.parked else "idle"
    return {
        "weight": tenant.weight,
        "slot_ceiling": tenant.slot_ceiling or 0,
        "cost_ceiling": tenant.cost_ceiling or 0,
        "queue_limit": tenant.queue_limit,
        "virtual_time": tenant.virtual_time,
        "deficit": tenant.deficit,
        "owed": tenant.owed,
        "ratio": tenant.ratio,
        "slots": tenant.slots,
        "cost": tenant.cost,
        "queued": tenant.queued,
        "waiting": tenant.waiting,
        "place": place,
    }
