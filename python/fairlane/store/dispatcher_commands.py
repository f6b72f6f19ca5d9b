"""The commands of the dispatcher, the controller and the reaper."""

from collections.abc import Sequence

from fairlane.config import ControllerConfig
from fairlane.domain.policy import CapacityReason, StopReason
from fairlane.store import decode
from fairlane.store.messages import Adaptation, Dispatched, Recovered
from fairlane.store.script_runner import ScriptRunner

_STOPS = {stop.value.encode(): stop for stop in StopReason}


class DispatcherCommands(ScriptRunner):
    """Places tasks with workers, moves the capacity, and takes back the tasks of lost workers."""

    async def dispatch(self, plan: Sequence[tuple[str, int]], limit: int) -> Dispatched:
        """Place up to ``limit`` tasks with the planned incarnations, in that order of preference."""
        placed, stop, runnable, wake_ms, fleet, *free = await self._call("dispatch", limit=limit, items=plan)
        return Dispatched(
            placed=placed,
            stop=_STOPS[stop],
            runnable=runnable,
            wake_ms=None if wake_ms is False else wake_ms,
            free={incarnation.decode(): slots for incarnation, slots in free},
            fleet=fleet,
        )

    async def adapt(self, config: ControllerConfig) -> Adaptation:
        """Run one tick of the controller."""
        before, after, reason, next_ms = await self._call(
            "adapt",
            period_ms=config.period_ms,
            cooldown_ms=config.cooldown_ms,
            clean_ticks=config.clean_ticks,
            minimum_slots=config.minimum_slots,
        )
        return Adaptation(before, after, CapacityReason(reason.decode()), next_ms)

    async def evict(self, incarnation: str) -> Recovered:
        """End an incarnation now and take back some of its tasks; call again while ``more``."""
        return decode.recovered(await self._call("evict", incarnation=incarnation))

    async def reap(self) -> Recovered:
        """End incarnations whose lease ran out and take back some of their tasks; call again while ``more``."""
        return decode.recovered(await self._call("reap"))
