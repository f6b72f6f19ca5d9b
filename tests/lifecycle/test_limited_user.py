"""A server's user with the ACL line of docs/operations.md, limited to the keys of one scheduler."""

import re
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import redis

from fairlane.config import ServerConfig
from fairlane.embedded.guard import Guard
from fairlane.errors import StoreUnsuitable
from fairlane.providers.simulated import SimulatedProvider
from fairlane.runtime.platform import Platform
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store
from tests.lifecycle.harness import Harness
from tests.support.store_servers import running

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
NAME = "limited"


async def test_the_documented_user_suffices_for_every_role(tmp_path: Path, guard: Guard) -> None:
    found = re.search(r"^ACL SETUSER .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    line = found[0].replace("NAME", NAME).replace("PASSWORD", "pw")
    with running(tmp_path) as url:
        with redis.Redis.from_url(url) as admin:
            admin.execute_command(*line.split())
        own = url.replace("unix://", "unix://fairlane:pw@")
        platform = Platform(ServerConfig(url=own), name=NAME)
        async with AsyncExitStack() as stack:
            await platform._start_server(stack, guard)
        pool = Harness(Endpoint(own), NAME)
        await pool.put()
        await pool.dispatcher()
        await pool.controller()
        await pool.reaper()
        await pool.worker(SimulatedProvider())
        client = await pool.client()
        handle = await client.submit("acme", {"echo": 1, "throttle": 1, "retry_after_ms": 1}, cost=1, deadline_s=60)
        assert await handle.result(20) == 1
        await pool.assert_nothing_held()
        await pool.close()
        async with Store(Endpoint(own), "another") as another:
            with pytest.raises(StoreUnsuitable, match=r"fl:\{another\}:"):
                await another.check()
