"""What a perfect scheduler would give each tenant, with slots that take as long per task as they really did.

A slot's cycle runs from a task's start to the next start in the same slot, so it holds the call itself and all that
settling, choosing and handing over cost.
"""

from bench.fairness.measures.observation import Observation
from bench.shared.evidence import Attempt
from fairlane import _core


def ideal_shares(observation: Observation) -> dict[str, float | None]:
    """Return each tenant's share of all service under a perfect scheduler; None if it is unknown.

    Service per millisecond of a tenant is min(weight · x, what its slots can do) for the largest x with which all
    fit into the pool's slots. A tenant of which nothing started has no cycle time, and then no share is known; nor
    when the pool's capacity changed before the window's end, since slots then stood idle for want of capacity.
    """
    cycles = cycle_times(observation)
    unknown: dict[str, float | None] = dict.fromkeys(observation.counted)
    loads = observation.loads
    moved = any(observation.origin_ms <= row.at.at_ms < observation.until_ms for row in observation.evidence.capacity)
    if moved or any(load.id not in cycles for load in loads):
        return unknown
    slots = observation.scenario.pool.slots
    slot_ms = [cycles[load.id] / load.cost for load in loads]  # slot-milliseconds per unit of cost
    most = [min(load.slots or slots, slots) / each for load, each in zip(loads, slot_ms, strict=True)]
    rates = _fill([float(load.weight) for load in loads], most, slot_ms, float(slots))
    total = sum(rates)
    return {load.id: rate / total for load, rate in zip(loads, rates, strict=True)}


def cycle_times(observation: Observation) -> dict[str, float]:
    """Return the mean milliseconds from a start to the next start in the same slot, by tenant of the first.

    Starts inside the window count, if their slot was used again. A start takes the slot that has been free longest
    among those its own tenant left, or else among all.
    """
    started = sorted(
        (each for each in observation.all_attempts() if each.active is not None), key=lambda each: each.active or ()
    )
    free: list[tuple[int, Attempt]] = []
    busy: list[Attempt] = []
    cycles: dict[str, list[int]] = {}
    for attempt in started:
        start = attempt.active
        if start is None:
            continue
        over = [each for each in busy if each.ended is not None and each.ended.place < start.place]
        free += [(each.ended.place, each) for each in over if each.ended is not None]
        busy = [each for each in busy if each not in over]
        free.sort(key=lambda item: (item[1].ref.tenant != attempt.ref.tenant, item[0]))
        if free:
            before = free.pop(0)[1]
            if before.active is not None and observation.in_window(before):
                cycles.setdefault(before.ref.tenant, []).append(start.at_ms - before.active.at_ms)
        busy.append(attempt)
    return {tenant: sum(each) / len(each) for tenant, each in cycles.items() if sum(each) > 0}


def _fill(weights: list[float], most: list[float], slot_ms: list[float], slots: float) -> list[float]:
    """Water-fill in slots: a rate of w·x takes w·slot_ms of the slots per unit of x."""
    filled = _core.ideal_shares(
        [weight * each for weight, each in zip(weights, slot_ms, strict=True)],
        [rate * each for rate, each in zip(most, slot_ms, strict=True)],
        slots,
    )
    if filled is None:
        return []
    return [share / each for share, each in zip(filled, slot_ms, strict=True)]
