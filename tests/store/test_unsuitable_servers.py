"""An unsuitable server is refused at once, in one line with the reason and without a password."""

from pathlib import Path

import pytest
import redis

from fairlane.clock import SYSTEM_CLOCK
from fairlane.errors import StoreError, StoreUnavailable, StoreUnsuitable
from fairlane.store.connection import Endpoint
from fairlane.store.server_check import OLDEST_VERSION
from fairlane.store.store import Store
from tests.store.conftest import SOON_MS
from tests.support.store_servers import answering

SECRET = "c4nary-s3cret"


async def refusal(endpoint: Endpoint, kind: type[StoreError] = StoreUnsuitable) -> str:
    """Return the error of `check`: one line without the password, within a bounded time."""
    started = SYSTEM_CLOCK.monotonic_s()
    async with Store(endpoint, "any") as store:
        with pytest.raises(kind) as caught:
            await store.check()
    assert SYSTEM_CLOCK.monotonic_s() - started < endpoint.call_timeout_ms / 1000 + 2
    text = str(caught.value)
    assert "\n" not in text
    assert SECRET not in text + repr(endpoint) + repr(caught.value.context)
    return text


async def test_a_wrong_password_is_named_without_showing_it(url: str, admin: redis.Redis) -> None:
    admin.config_set("requirepass", "right")
    assert "password" in (await refusal(Endpoint(f"{url}?password={SECRET}"))).lower()
    assert "auth" in (await refusal(Endpoint(url))).lower()


async def test_the_error_of_a_user_without_permission_says_so(url: str, admin: redis.Redis) -> None:
    admin.execute_command("ACL", "SETUSER", "reader", "on", f">{SECRET}", "~*", "+@read", "+@connection", "+info")
    text = await refusal(Endpoint(f"{url}?username=reader&password={SECRET}"))
    assert "permission" in text.lower() or "NOPERM" in text


async def test_a_server_that_evicts_is_refused(url: str, admin: redis.Redis) -> None:
    admin.config_set("maxmemory-policy", "allkeys-lru")
    assert "allkeys-lru" in await refusal(Endpoint(url))


async def test_a_replica_is_refused(url: str, admin: redis.Redis) -> None:
    admin.replicaof("127.0.0.1", 1)
    assert "replica" in await refusal(Endpoint(url))


async def test_a_server_that_is_not_redis_is_refused(tmp_path: Path) -> None:
    page = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
    async with answering(tmp_path / "http", lambda _command: page) as url:
        assert "not Redis" in await refusal(Endpoint(url, call_timeout_ms=SOON_MS))


async def test_an_old_version_is_refused(tmp_path: Path) -> None:
    """No such server is available; this one only reports an old version."""
    info = b"# Server\r\nredis_version:5.0.14\r\n"
    reply = b"$%d\r\n%s\r\n" % (len(info), info)
    async with answering(tmp_path / "old", lambda command: reply if b"\r\nINFO" in command else b"+OK\r\n") as url:
        text = await refusal(Endpoint(url, call_timeout_ms=SOON_MS))
    assert "5.0.14" in text
    assert ".".join(map(str, OLDEST_VERSION)) in text


@pytest.mark.parametrize("where", ["unix:///nowhere/at/all", f"redis://user:{SECRET}@127.0.0.1:1/0"])
async def test_an_address_where_nothing_listens_is_named(where: str) -> None:
    text = await refusal(Endpoint(where, call_timeout_ms=SOON_MS), StoreUnavailable)
    assert ("/nowhere/at/all" if where.startswith("unix") else "127.0.0.1:1") in text
