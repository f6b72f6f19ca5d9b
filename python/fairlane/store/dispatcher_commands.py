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

    async def dispatch(self, plan: Sequence[tuple[str, int]], limit: int, keep: int = 0, unused: int = 0) -> Dispatched:
        """Place up to ``limit`` tasks with the planned incarnations, in that order of preference.

        If no task waits then, the store keeps at most ``keep`` of the places that are left, and at most 255: `submit`
        places the next tasks there at once. Those that it has kept before stand if ``unused``, what the caller knows to
        be left of them, is neither 0 nor right.
        """
        reply = await self._call("dispatch", limit=limit, keep=keep, unused=unused, items=plan)
        placed, stop, runnable, wake_ms, fleet, unused, kept, *free = reply
        return Dispatched(
            placed=placed,
            stop=_STOPS[stop],
            runnable=runnable,
            wake_ms=None if wake_ms is False else wake_ms,
            free={incarnation.decode(): slots for incarnation, slots in free},
            fleet=fleet,
            unused=unused,
            kept=None if kept is False else kept,
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

    async def fire(self) -> int:
        """Fire timers that are due, as `dispatch` does: deadlines, ends of waits and limits. Return how many."""
        return int(await self._call("fire"))

    async def reap(self) -> Recovered:
        """End incarnations whose lease ran out and take back some of their tasks; call again while ``more``."""
        return decode.recovered(await self._call("reap"))
