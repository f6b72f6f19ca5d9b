"""Whatever a provider returns or raises: its attempt ends, and its slot is free at once."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from fairlane.config import PoolConfig, TenantConfig
from fairlane.errors import ProviderFailed, ProviderRefused, TaskExpired, TaskFailed, Throttled
from fairlane.providers.base import Call, Reply
from tests.lifecycle.harness import Harness


class Bare(ProviderFailed):
    def __init__(self) -> None:
        pass


class BareThrottle(Throttled):
    def __init__(self) -> None:
        pass


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class MuteExit(ProviderFailed):
    def __str__(self) -> str:
        raise SystemExit


class HiddenUsage(ProviderFailed):
    @property
    def actual_units(self) -> int:
        raise ValueError("no usage")


class HiddenCode(ProviderRefused):
    @property
    def code(self) -> str:  # type: ignore[override] - the point
        raise ValueError("no code")


class HiddenItems(dict[str, int]):
    def items(self) -> Any:
        raise KeyError("no items")


class ExitingItems(dict[str, int]):
    def items(self) -> Any:
        raise SystemExit


class HiddenReply(Reply):
    @property  # type: ignore[misc] - the point
    def result(self) -> object:  # type: ignore[override] - the point
        raise ValueError("no result")

    def __init__(self) -> None:
        pass


class Ends:
    """Ends its calls for `bad` as given, and counts them; completes all others."""

    def __init__(self, end: Callable[[], Any]) -> None:
        self._end = end
        self.bad_calls = 0

    async def call(self, call: Call) -> Reply:
        if call.tenant != "bad":
            return Reply("fine", 1)
        self.bad_calls += 1
        end = self._end()
        if isinstance(end, BaseException):
            raise end
        return Reply(end, 3) if isinstance(end, dict) else end


SLOTS = 2


async def _ends_all(pool: Harness, end: Callable[[], Any]) -> tuple[TaskFailed, int]:
    """Fill the worker twice over with calls that end so; another tenant's task must run. Return the first error."""
    await pool.put(PoolConfig(max_attempts=1), bad=TenantConfig(), good=TenantConfig())
    await pool.dispatcher()
    await pool.worker(Ends(end), slots=SLOTS)
    client = await pool.client()
    bad = [await client.submit("bad", {}, cost=9) for _ in range(2 * SLOTS)]
    good = await client.submit("good", {}, cost=9)
    assert await good.result(10) == "fine"
    losses = await client.wait_many(bad, 10)
    assert all(type(loss) is TaskFailed for loss in losses)
    await pool.assert_nothing_held()
    view = await client.get("bad", bad[0].ref.id)
    assert view is not None
    assert isinstance(losses[0], TaskFailed)
    assert view.actual is not None
    return losses[0], view.actual


@pytest.mark.parametrize(
    ("end", "code", "actual"),
    [
        (Bare, "provider_failed", 0),
        (Mute, "provider_failed", 0),
        (MuteExit, "provider_failed", 0),
        (lambda: HiddenUsage("x"), "provider_failed", 9),
        (lambda: HiddenCode("x"), "provider_refused", 0),
        (lambda: ProviderFailed("x", actual_units="12"), "provider_failed", 9),
        (lambda: ProviderFailed("x", actual_units=12.0), "provider_failed", 12),
        (lambda: BaseExceptionGroup("several", [SystemExit(), ValueError()]), "provider_failed", 0),
        (GeneratorExit, "provider_failed", 0),
        (SystemExit, "provider_failed", 0),
        (HiddenItems, "invalid_result", 3),
        (ExitingItems, "unreadable_end", 9),
        (HiddenReply, "unreadable_end", 9),
    ],
)
async def test_every_attempt_ends_and_frees_its_slot(
    pool: Harness, end: Callable[[], Any], code: str, actual: int
) -> None:
    if end in (HiddenItems, ExitingItems):
        make = end
        end = lambda: make(a=1)  # noqa: E731 - an empty dict has no items to read
    loss, charged = await _ends_all(pool, end)
    assert (loss.error_code, charged) == (code, actual)


async def test_a_throttle_that_names_no_readable_pause_is_a_throttle(pool: Harness) -> None:
    class Once(Ends):
        async def call(self, call: Call) -> Reply:
            if self.bad_calls:
                return Reply("fine", 1)
            return await super().call(call)

    await pool.put(PoolConfig(default_pause_ms=10), bad=TenantConfig())
    await pool.dispatcher()
    await pool.worker(Once(BareThrottle), slots=SLOTS)
    client = await pool.client()
    handle = await client.submit("bad", {}, cost=9)
    assert await handle.result(10) == "fine"
    view = await client.get("bad", handle.ref.id)
    assert view is not None
    assert (view.throttles, view.failures) == (1, 0)


@pytest.mark.parametrize("code", [429, True, None, "a\ud800b", "x" * 3_000_000, "", "two words", b"bytes"])
async def test_a_code_that_cannot_be_stored_becomes_one_of_ours(pool: Harness, code: Any) -> None:
    class Coded(ProviderFailed):
        def __init__(self) -> None:
            super().__init__("x")
            self.code = code

    loss, _ = await _ends_all(pool, Coded)
    assert loss.error_code == "provider_failed"


async def test_a_code_of_a_provider_s_own_is_kept(pool: Harness) -> None:
    class Coded(ProviderFailed):
        code = "content_filter"

    loss, _ = await _ends_all(pool, lambda: Coded("x"))
    assert loss.error_code == "content_filter"


async def test_a_call_that_ignores_its_deadline_gives_its_slot_back(pool: Harness) -> None:
    released = asyncio.Event()

    class Deaf:
        async def call(self, call: Call) -> Reply:
            while call.tenant == "bad" and not released.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await released.wait()
            return Reply("fine", 1)

    await pool.put(PoolConfig(max_attempts=1), bad=TenantConfig(), good=TenantConfig())
    await pool.dispatcher()
    await pool.worker(Deaf(), slots=1)
    client = await pool.client()
    bad = await client.submit("bad", {}, cost=9, deadline_s=0.2)
    good = await client.submit("good", {}, cost=9)
    with pytest.raises(TaskExpired):
        await bad.result(10)
    assert await good.result(10) == "fine"
    released.set()
    await pool.assert_nothing_held()
