"""A naive reference for windows: it keeps every attempt that took a place, and sums them at every call."""

from dataclasses import dataclass, field
from typing import Final

from fairlane.config import WindowConfig

KINDS: Final = ("starts", "spend")


@dataclass
class Place:
    """The amount that an attempt counts for in one window, and since when. Before its start it counts as of now."""

    amount: int
    since_ms: int | None = None


@dataclass
class NaiveWindow:
    """One window through all its changes. While it is off, it takes nothing new and forgets by its last interval."""

    config: WindowConfig | None = None
    interval_ms: int = 0
    forgotten_ms: int = -1
    """Stamps up to this time have left the interval at some moment, and may be forgotten for good."""
    places: dict[int, Place] = field(default_factory=dict)

    def configure(self, config: WindowConfig | None, now_ms: int) -> None:
        self.pass_time(now_ms)
        self.config = config
        if config is not None:
            self.interval_ms = config.interval_ms
        self.pass_time(now_ms)

    def pass_time(self, now_ms: int) -> None:
        if self.interval_ms:
            self.forgotten_ms = max(self.forgotten_ms, now_ms - self.interval_ms)

    def must_hold(self, now_ms: int) -> int:
        """The amounts that must count: they never left."""
        self.pass_time(now_ms)
        return self._sum(self.forgotten_ms)

    def may_hold(self, now_ms: int) -> int:
        """The amounts that may count: they have not left the present interval."""
        return self._sum(now_ms - self.interval_ms)

    def _sum(self, after_ms: int) -> int:
        kept = (each for each in self.places.values() if each.since_ms is None or each.since_ms > after_ms)
        return sum(each.amount for each in kept)


@dataclass
class NaiveWindows:
    """Both windows of some owners."""

    owners: tuple[str, ...]
    windows: dict[tuple[str, str], NaiveWindow] = field(init=False)

    def __post_init__(self) -> None:
        self.windows = {(owner, kind): NaiveWindow() for owner in self.owners for kind in KINDS}

    def configure(self, owner: str, configs: dict[str, WindowConfig | None], now_ms: int) -> None:
        for kind in KINDS:
            self.windows[owner, kind].configure(configs[kind], now_ms)

    def placed(self, fence: int, cost: int, now_ms: int) -> None:
        """An attempt takes its places; no window that is on may then hold more than its limit."""
        for (_, kind), window in self.windows.items():
            if window.config is not None:
                window.places[fence] = Place(cost if kind == "spend" else 1)
                assert window.must_hold(now_ms) <= window.config.limit

    def refused(self, cost: int, now_ms: int) -> None:
        """A task waits: some window that is on could not take it."""
        assert any(
            window.may_hold(now_ms) + (cost if kind == "spend" else 1) > window.config.limit
            for (_, kind), window in self.windows.items()
            if window.config is not None
        ), {name: (window.config, window.may_hold(now_ms)) for name, window in self.windows.items()}

    def started(self, fence: int, now_ms: int) -> None:
        for window in self.windows.values():
            if fence in window.places:
                window.places[fence].since_ms = now_ms

    def returned(self, fence: int) -> None:
        for window in self.windows.values():
            window.places.pop(fence, None)
