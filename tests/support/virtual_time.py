"""Time that passes only when every task waits: intervals, backoffs and timeouts are tested without waiting for them.

Not for tests with threads or processes whose progress takes real time: while the loop waits for them it has nothing to
do, so it jumps to its next timer at once.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

STUCK_S: Final = 10.0
"""Real seconds without a timer or anything ready, after which a test counts as hanging."""
EPOCH_S: Final = 1_700_000_000.0


class _Selector(selectors.DefaultSelector):
    """Polls the real descriptors, and skips the time in which the loop would wait for them."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ns = 0
        """In whole nanoseconds, so that sums of intervals are exact."""
        self.settling: list[asyncio.Future[None]] = []

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.settling:
            while self.settling:
                waiter = self.settling.pop()
                if not waiter.done():
                    waiter.set_result(None)
        elif timeout is not None:
            self.now_ns += max(1, round(timeout * 1e9))
        else:
            ready = super().select(STUCK_S)
            assert ready, "the test hangs: there is no timer, and nothing is ready"
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer as soon as nothing is ready."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual.now_ns / 1e9

    async def settled(self) -> None:
        """Return when nothing else is ready."""
        waiter = self.create_future()
        self._virtual.settling.append(waiter)
        await waiter


class VirtualClock:
    """A fairlane.clock.Clock that reads the running loop, so that both agree."""

    def monotonic_s(self) -> float:
        """Virtual seconds."""
        return asyncio.get_running_loop().time()

    def wall_s(self) -> float:
        """Virtual seconds since an arbitrary date."""
        return EPOCH_S + self.monotonic_s()


def virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Run the decorated coroutine function in a loop of its own with virtual time. Fixtures must not be async."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(test(*args, **kwargs))

    return run


def now_s() -> float:
    """Virtual seconds since the test began."""
    return asyncio.get_running_loop().time()


async def settle() -> None:
    """Return when all other tasks wait for time to pass, or for each other; no time passes."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    await loop.settled()
