"""A twin whose callers lose replies: any call may be sent again, at once or much later, any number of times."""

import random
from collections.abc import Iterable

from fairlane.store.connection import Endpoint
from fairlane.store.messages import CancelStatus, SubmitStatus, Write
from tests.support import world_operations as ops
from tests.support.world_model import Call
from tests.support.world_state import observed
from tests.support.world_twin import Twin

ONCE = {"settle", "throttle", "release"}
"""Writes about attempts. A repetition gets the answer `repeated`; `stale` if the worker no longer has the attempt."""


class StutteringTwin(Twin):
    """After random calls, repeats that call or an earlier one, and requires that nothing changes."""

    def __init__(self, endpoint: Endpoint, name: str, setup: ops.Setup, source: random.Random) -> None:
        super().__init__(endpoint, name, setup)
        self._source = source
        self._sent: list[Call] = []
        self.repeated = 0

    async def _call(self, calls: Iterable[Call]) -> None:
        for call in calls:
            await super()._call([call])
            admitted = call.method == "submit" and call.expected == [SubmitStatus.ACCEPTED] * len(call.arguments[0])
            if admitted or call.method in ONCE | {"cancel"}:
                self._sent.append(call)
            if call.method == "start" or (call.method in ONCE and self._source.random() < 0.5):
                await self._repeat(call, at_once=True)
            if self._sent and self._source.random() < 0.3:
                await self._repeat(self._source.choice(self._sent), at_once=False)

    async def _repeat(self, call: Call, *, at_once: bool) -> None:
        before = await self.store.snapshot()
        for _ in range(self._source.randint(1, 3)):
            answer = await getattr(self.store, call.method)(*call.arguments)
            self._require_harmless(call, answer, at_once=at_once)
            self.repeated += 1
        after = await self.store.snapshot()
        assert observed(after) == observed(before), self._at(f"repeating {call.method} changed something")
        assert after.pool.events == before.pool.events, self._at(f"repeating {call.method} wrote an event")
        assert after.pool.fence == before.pool.fence

    def _require_harmless(self, call: Call, answer: object, *, at_once: bool) -> None:
        if call.method == "start":
            harmless = call.view(answer) == call.expected
        elif call.method in ONCE:
            assert isinstance(answer, list)
            harmless = set(answer) <= ({Write.REPEATED} if at_once else {Write.REPEATED, Write.STALE})
        elif call.method == "submit":
            assert isinstance(answer, list)
            allowed = {SubmitStatus.EXISTING, SubmitStatus.UNKNOWN_TENANT}
            harmless = {each.status for each in answer} <= allowed
        else:
            assert isinstance(answer, list)
            harmless = set(answer) <= {CancelStatus.ENDED, CancelStatus.STOPPING, CancelStatus.UNKNOWN}
        assert harmless, self._at(f"{call.method} repeated returned {answer}")
