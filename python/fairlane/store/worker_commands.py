"""The commands of workers: an incarnation's life, its tasks, and the ends of their attempts."""

from collections.abc import Sequence

from fairlane.errors import LeaseLost
from fairlane.store import decode
from fairlane.store.heartbeat import decode_heartbeat
from fairlane.store.messages import HeartbeatReply, Return, Settlement, Started, Throttle, Write
from fairlane.store.script_runner import ScriptRunner, ServerFull


class WorkerCommands(ScriptRunner):
    """Registers an incarnation, starts its tasks and ends its attempts."""

    async def register(self, name: str, incarnation: str, slots: int) -> int:
        """Begin an incarnation's life; return its lease in ms. An older incarnation of the name is lost from now on.

        Raises:
            LeaseLost: this incarnation is already lost.

        """
        lease_ms = int(await self._call("register", name=name, incarnation=incarnation, slots=slots))
        if lease_ms == 0:
            raise LeaseLost(
                f"worker {name}: incarnation {incarnation} is lost; register under a new one", incarnation=incarnation
            )
        return lease_ms

    async def drain(self, incarnation: str) -> bool:
        """Get no more tasks from now on; return False if the incarnation is not alive."""
        return bool(await self._call("drain", incarnation=incarnation))

    async def start(self, incarnation: str, cursor: int, limit: int = 256) -> Started:
        """Take the tasks that were handed over above the cursor, which is the highest fence received so far."""
        return decode.started(await self._call("start", incarnation=incarnation, cursor=cursor, limit=limit))

    async def settle(self, incarnation: str, settlements: Sequence[Settlement]) -> list[Write]:
        """End attempts that ran."""
        return decode.writes(await self._call("settle", incarnation=incarnation, items=settlements))

    async def settle_and_start(
        self, incarnation: str, settlements: Sequence[Settlement], cursor: int, limit: int = 256
    ) -> tuple[list[Write], Started]:
        """Settle, start, and take as many of the next tasks as ended, in one step.

        A full server takes the settlements and starts what was handed over, and adds nothing.
        """
        try:
            writes, started = await self._call(
                "turn", incarnation=incarnation, cursor=cursor, limit=limit, items=settlements
            )
        except ServerFull:
            return await self.settle(incarnation, settlements), await self.start(incarnation, cursor, limit)
        return decode.writes(writes), decode.started(started)

    async def throttle(self, incarnation: str, throttles: Sequence[Throttle]) -> list[Write]:
        """End attempts that the provider throttled; nothing is charged, and no failure is counted."""
        return decode.writes(await self._call("throttle", incarnation=incarnation, items=throttles))

    async def release(self, incarnation: str, returns: Sequence[Return]) -> list[Write]:
        """Hand attempts back. No failure is counted, and only the usage of interrupted calls is charged."""
        return decode.writes(await self._call("release", incarnation=incarnation, items=returns))

    async def heartbeat(self, incarnation: str) -> HeartbeatReply:
        """Renew the lease."""
        return decode_heartbeat(await self._raw("heartbeat", incarnation=incarnation))
