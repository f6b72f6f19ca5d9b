"""Store calls that are cancelled: no other call loses its turn at the connections."""

import asyncio
import random

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.task import TaskRef
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

TRIALS = 60
CALLS = 40


async def test_calls_go_on_when_half_of_those_that_wait_are_cancelled(endpoint: Endpoint, name: str) -> None:
    chance = random.Random(7)
    refs = [TaskRef("acme", "none")]
    async with Store(Endpoint(endpoint.url, connections=2), name) as store:
        await store.put_pool(PoolConfig())
        await store.put_tenants({"acme": TenantConfig()})
        for _ in range(TRIALS):
            calls = [asyncio.create_task(store.get(refs)) for _ in range(CALLS)]
            for call in chance.sample(calls, CALLS // 2):
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                call.cancel()
            ends = await asyncio.gather(*calls, return_exceptions=True)
            failed = [end for end in ends if isinstance(end, Exception)]
            assert failed == []  # a call without its turn fails with StoreUnavailable after its whole timeout
        assert await store.get(refs) == [None]
        await store.erase()
