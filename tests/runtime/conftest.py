"""A configuration, and separate programs for tests that end one."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import fairlane
from fairlane.config import (
    ClientConfig,
    EstimateConfig,
    PoolConfig,
    SchedulerConfig,
    TenantConfig,
    WorkerConfig,
)
from fairlane.embedded.binary import find_binary
from fairlane.embedded.ping import ask
from fairlane.embedded.processes import ProcessId, identify, is_alive, send_signal, wait_until

ROOT = Path(fairlane.__file__).parents[1]
PROVIDER = "fairlane.providers.simulated:SimulatedProvider"
RUN_VARIABLE = "FAIRLANE_TEST_RUN"
LIMIT_S = 10.0
"""The time within which everything must be gone."""


@pytest.fixture
def config(name: str) -> SchedulerConfig:
    """Two tenants and two workers; a lease so short that a test can wait for its end."""
    return SchedulerConfig(
        name=name,
        pool=PoolConfig(slots=16, lease_ms=2_000, quantum_units=100),
        tenants={"acme": TenantConfig(weight=2), "beta": TenantConfig()},
        workers=WorkerConfig(count=2, slots=8, heartbeat_ms=200),
        client=ClientConfig(estimates=EstimateConfig()),
    )


class Program:
    """A running program, and every process that it was seen to start, directly or indirectly."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self._run = secrets.token_hex(8)
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT), RUN_VARIABLE: self._run} | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.seen: set[ProcessId] = set()

    def line(self) -> str:
        """Return the next line of the program's output."""
        line = self.process.stdout.readline().rstrip("\n")
        self.look()
        return line

    def look(self) -> set[str]:
        """Record the program's processes that run now; return their names."""
        try:
            running = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.Error:
            return set()
        self.seen |= {found for found in (identify(process.pid) for process in running) if found is not None}
        return {process.name() for process in running if process.is_running()}

    def wait_for(self, name: str) -> None:
        """Wait until the program has started a process of this name."""
        assert wait_until(lambda: name in self.look(), 60.0), f"{name} never ran"

    def end(self, signum: signal.Signals, limit_s: float = LIMIT_S) -> tuple[int, str, str]:
        """Send a signal; return exit code, output and errors. Fails if one of its processes outlives the limit."""
        self.look()
        begin = time.monotonic()
        self.process.send_signal(signum)
        output, errors = self.process.communicate(timeout=limit_s)
        assert wait_until(lambda: not self.left(), begin + limit_s - time.monotonic()), self.left()
        return self.process.returncode, output, errors

    def left(self) -> list[str]:
        """Return the program's processes that still run."""
        return [
            f"{process.pid} {' '.join(process.info['cmdline'] or [])[:80]}"
            for process in psutil.process_iter(["cmdline"])
            if identify(process.pid) in self.seen or self._is_marked(process)
        ]

    def clean_up(self) -> None:
        """Kill every process that the test left."""
        self.process.kill()
        self.process.communicate()
        wait_until(lambda: not self.left(), LIMIT_S)
        for process in self.seen:
            send_signal(process, signal.SIGKILL)

    def _is_marked(self, process: psutil.Process) -> bool:
        try:
            marked = process.environ().get(RUN_VARIABLE) == self._run
        except psutil.Error:
            return False
        return marked and identify(process.pid) is not None


@pytest.fixture
def run_program() -> Iterator[Callable[..., Program]]:
    """Return a function that starts programs."""
    programs: list[Program] = []

    def run(*arguments: str, environment: dict[str, str] | None = None) -> Program:
        programs.append(Program(*arguments, environment=environment))
        return programs[-1]

    yield run
    for program in programs:
        program.clean_up()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Return a function that starts a server with other settings than Fairlane's own and returns its socket."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(*settings: str) -> Path:
        socket = Path(f"/tmp/fairlane-test-{secrets.token_hex(4)}.sock")
        command = [find_binary().path, "--port", "0", "--unixsocket", socket, "--save", "", *settings]
        processes.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL))

        def answers() -> bool:
            try:
                return bool(ask(socket, "PING", 1.0))
            except OSError:
                return False

        assert wait_until(answers, 10.0)
        return socket

    yield start
    for process in processes:
        process.terminate()
        process.wait()


def gone(pid: int) -> bool:
    """Whether no process has this pid, or only a zombie."""
    found = identify(pid)
    return found is None or not is_alive(found)
