"""A program leaves nothing behind, however it ends."""

import asyncio
import json
import re
import signal
from pathlib import Path

import psutil
import pytest

import fairlane
from fairlane import TaskState
from fairlane.embedded.processes import wait_until
from fairlane.lifecycle.client import Client
from fairlane.store.store import Store

from .conftest import LIMIT_S, PROVIDER, gone

pytestmark = [pytest.mark.ray, pytest.mark.fault]

PROGRAM = str(Path(__file__).with_name("driver_program.py"))


def started(program) -> dict[str, int]:
    assert program.line() == "starting"
    line = program.line()
    assert line, program.process.communicate()
    result, pids = json.loads(line)
    assert result == "done"
    assert "valkey-server" in program.look()
    return pids


def private_directories(program) -> set[Path]:
    """The temporary directories that the program's processes name in their command lines."""
    words = [word for process in program.seen for word in psutil.Process(process.pid).cmdline()]
    found = {Path(path) for word in words for path in re.findall(r"(/[^ =:]*/fairlane-[^/ ]+)/", word)}
    return {path for path in found if (path / ".fairlane-private").exists()}


def test_a_clean_stop_leaves_no_process_and_no_directory(run_program, name):
    program = run_program(PROGRAM, name)
    pids = started(program)
    directories = private_directories(program)
    assert len(directories) == 2, directories
    output, errors = program.process.communicate(timeout=30)
    assert (program.process.returncode, output, errors) == (0, "stopped\n", "")
    assert wait_until(lambda: not program.left(), 1.0), program.left()
    assert all(map(gone, pids.values()))
    assert not any(path.exists() for path in directories)


def test_after_sigkill_of_the_driver_everything_is_gone(run_program, name):
    program = run_program(PROGRAM, name)
    pids = started(program)
    directories = private_directories(program)
    program.end(signal.SIGKILL)
    assert all(map(gone, pids.values()))
    assert not any(path.exists() for path in directories)


@pytest.mark.parametrize("moment", ["valkey-server", "gcs_server", "raylet"])
def test_ctrl_c_while_it_starts(run_program, name, moment):
    program = run_program(PROGRAM, name)
    assert program.line() == "starting"
    program.wait_for(moment)
    code, output, errors = program.end(signal.SIGINT)
    assert (code, output, errors) == (0, "interrupted\n", "")


def test_ctrl_c_while_it_runs(run_program, name):
    program = run_program(PROGRAM, name)
    pids = started(program)
    code, output, errors = program.end(signal.SIGINT)
    assert (code, output, errors) == (0, "interrupted\n", "")
    assert all(map(gone, pids.values()))


class Service:
    """``fairlane serve`` on the session's server, running one task."""

    def __init__(self, run_program, endpoint, name, tmp_path, ms: int) -> None:
        config = tmp_path / "fairlane.toml"
        config.write_text(f'name = "{name}"\n[tenants.acme]\n[workers]\nslots = 4\n')
        self.store_of = lambda: Store(endpoint, name)
        self.program = run_program(
            "-m", "fairlane.cli", "serve", "--config", str(config), "--provider", PROVIDER, "--redis", endpoint.url
        )
        assert "is ready on" in self.program.line(), self.program.process.communicate()
        self.ref = asyncio.run(self._submit(ms))

    async def _submit(self, ms: int):
        async with self.store_of() as store, Client(store) as client:
            handle = await client.submit("acme", {"ms": ms, "echo": "kept"}, cost=10)
            while await handle.state() is not TaskState.ACTIVE:
                await asyncio.sleep(0.01)
            return handle.ref

    async def view(self) -> fairlane.TaskView:
        async with self.store_of() as store:
            (view,) = await store.get([self.ref])
            return view


def test_serve_finishes_its_running_task(run_program, endpoint, name, tmp_path):
    service = Service(run_program, endpoint, name, tmp_path, ms=700)
    code, _, errors = service.program.end(signal.SIGTERM)
    assert code == 0
    assert errors == "fairlane: stopping; signal again to stop without waiting for running tasks\n"
    view = asyncio.run(service.view())
    assert (view.state, view.fence) == (TaskState.COMPLETED, 1)


def test_a_second_signal_does_not_wait(run_program, endpoint, name, tmp_path):
    service = Service(run_program, endpoint, name, tmp_path, ms=60_000)
    service.program.process.send_signal(signal.SIGTERM)
    assert service.program.process.stderr.readline().startswith("fairlane: stopping")
    code, _, errors = service.program.end(signal.SIGTERM, LIMIT_S - 2)
    assert (code, errors) == (0, "")
    view = asyncio.run(service.view())
    assert (view.state, view.failures, view.recoveries) == (TaskState.PENDING, 0, 0)


def test_ctrl_c_while_serve_starts(run_program, tmp_path, name):
    config = tmp_path / "fairlane.toml"
    config.write_text(f'name = "{name}"\n')
    program = run_program("-m", "fairlane.cli", "serve", "--config", str(config), "--provider", PROVIDER)
    program.wait_for("gcs_server")
    code, output, errors = program.end(signal.SIGINT)
    assert (code, output) == (130, "")
    assert errors == "fairlane: interrupted while starting; nothing is left running\n"
