"""A scheduler's state on the session's server, in real time, and the command line for it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from fairlane.audit import check_invariants
from fairlane.cli.app import run
from fairlane.store.connection import Endpoint
from tests.support.store_world import World

T = TypeVar("T")


class Operator:
    """Runs commands against one scheduler, and reads its state in between."""

    def __init__(self, endpoint: Endpoint, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._endpoint = endpoint
        self._name = name
        self._capsys = capsys

    def outcome(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command; return its exit code, its output and its errors."""
        code = run([*arguments, "--redis", self._endpoint.url, "--name", self._name])
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command and return its output, or its one line of error if it must fail."""
        found, output, errors = self.outcome(*arguments)
        assert found == code, errors
        assert (errors.count("\n"), output if code else errors) == (1 if code else 0, "")
        return errors if code else output

    def within(self, work: Callable[[World], Awaitable[T]]) -> T:
        """Read or change the scheduler's state directly."""

        async def with_world() -> T:
            world = World(self._endpoint, self._name, now=0)  # the server's own time
            async with world.store:
                return await work(world)

        return asyncio.run(with_world())


@pytest.fixture
def operator(endpoint: Endpoint, name: str, capsys: pytest.CaptureFixture[str]) -> Iterator[Operator]:
    """An operator of a scheduler that has a pool and no tenants; its keys are checked and deleted afterwards."""
    operator = Operator(endpoint, name, capsys)
    operator.within(lambda world: world.pool())
    yield operator

    async def clean(world: World) -> None:
        assert await check_invariants(world.store) == []
        await world.store.erase()

    operator.within(clean)
