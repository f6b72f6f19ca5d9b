"""The run contract: how every long-lived part of Fairlane is started, observed and stopped.

Dispatcher, worker, reaper and controller are *roles*. The *owner* of a role runs it: an actor
(`runtime.role_actor`), or a test on its own event loop.

1. The owner makes the role, makes `Signals`, and awaits ``role.run(signals)``, once.
2. The role sets ``ready`` when it does its work for the first time. It never clears it.
3. The owner calls `Signals.request_stop`. The role takes nothing new, finishes or hands back what it holds within the
   grace time, and returns.
4. The owner may call `Signals.request_stop_now`, also during a stop. The role does not wait for running calls any
   more: it hands them back and returns.
5. If the owner cancels ``run``, the role drops everything without a word to the store. Its tasks return when its lease
   ends.

A role waits out a store that does not answer. Any other exception leaves ``run`` and is the owner's to handle, as is a
``run`` that returns without having been asked to. No role restarts itself or knows its owner.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class Signals:
    """The signals between a role and its owner. They belong to the event loop that runs the role."""

    ready: asyncio.Event = field(default_factory=asyncio.Event)
    """The role sets it."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """`request_stop` sets it."""
    stop_now: asyncio.Event = field(default_factory=asyncio.Event)
    """`request_stop_now` sets it, together with ``stop``."""
    grace_s: float | None = None
    """How long running calls may take from the stop on; None: as the role's configuration says."""

    def request_stop(self, grace_s: float | None = None) -> None:
        """Ask the role to finish and return. A later request may give another grace time."""
        if grace_s is not None:
            self.grace_s = grace_s
        self.stop.set()

    def request_stop_now(self) -> None:
        """Ask the role to return without waiting for running calls."""
        self.stop.set()
        self.stop_now.set()

    async def pause(self, seconds: float) -> None:
        """Return after this time, or when a stop is requested."""
        try:
            async with asyncio.timeout(seconds):
                await self.stop.wait()
        except TimeoutError:
            return

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """While the block runs, call ``wake`` when a stop is requested, and when it is to be at once."""
        watches = [asyncio.create_task(event.wait()) for event in (self.stop, self.stop_now)]
        for watch in watches:
            watch.add_done_callback(lambda _: wake())
        try:
            yield
        finally:
            for watch in watches:
                watch.cancel()


@dataclass(frozen=True, slots=True)
class RoleReport:
    """What a role says about itself. Only workers have an incarnation and hold tasks."""

    incarnation: str | None = None
    """The id under which the store knows it: the current one, or the last; None before the first."""
    held: int = 0
    """Tasks it holds."""


class Role(Protocol):
    """A long-lived part. See the module for the contract."""

    async def run(self, signals: Signals) -> None:
        """Do the work until a stop is requested."""
        ...

    def report(self) -> RoleReport:
        """Report its state. Callable from any thread."""
        return RoleReport()


class CombinedRole(Role):
    """Several roles that run together, none of which holds anything. If one fails, all end."""

    def __init__(self, *roles: Role) -> None:
        self._roles = roles

    async def run(self, signals: Signals) -> None:
        """See Role."""
        async with asyncio.TaskGroup() as group:
            for role in self._roles:
                group.create_task(role.run(signals))
