"""The guard stops what a killed owner started, and touches nothing else."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairlane.embedded.guard import Guard
from fairlane.embedded.private_directory import create_private_directory, remove_private_directory
from fairlane.embedded.processes import ProcessId, is_alive, wait_until
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import ConfigError, EmbeddedServerError

PROGRAM = Path(__file__).with_name("owner_program.py")


class Owner:
    """A running owner_program.py."""

    def __init__(self, process: subprocess.Popen[str], reaped) -> None:
        self.process = process
        report = json.loads(process.stdout.readline())
        self.doomed: dict[str, ProcessId] = {name: reaped(pid) for name, pid in report["doomed"].items()}
        self.spared: dict[str, ProcessId] = {name: reaped(pid) for name, pid in report["spared"].items()}
        self.guard: ProcessId = reaped(report["guard"])
        self.temporary = [Path(path) for path in report["temporary"]]

    def say(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()


@pytest.fixture
def owner(tmp_path, reaped):
    command = [sys.executable, str(PROGRAM), secrets.token_hex(8), str(tmp_path / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        started = Owner(process, reaped)
        yield started
        process.kill()
        for directory in started.temporary:
            remove_private_directory(directory)


def alive(processes: dict[str, ProcessId]) -> set[str]:
    return {name for name, process in processes.items() if is_alive(process)}


@pytest.mark.fault
def test_after_sigkill_of_the_owner_everything_it_started_is_gone(owner, make_server, tmp_path):
    # A terminal, a process supervisor or a user may send these.
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(owner.guard.pid, signum)
    assert alive(owner.doomed) == owner.doomed.keys()

    begin = time.monotonic()
    owner.process.kill()

    # The process that ignores SIGTERM uses up the grace time.
    assert wait_until(lambda: not is_alive(owner.guard), 10.0)
    took_s = time.monotonic() - begin
    assert alive(owner.doomed) == set()
    assert alive(owner.spared) == owner.spared.keys()
    assert not any(directory.exists() for directory in owner.temporary)
    assert took_s < 10
    make_server(tmp_path / "data").start()


@pytest.mark.fault
def test_an_owner_that_ends_without_closing_counts_as_killed(owner):
    owner.say("exit")
    assert owner.process.wait(10) == 0
    assert wait_until(lambda: not is_alive(owner.guard), 10.0)
    assert alive(owner.doomed) == set()
    assert alive(owner.spared) == owner.spared.keys()


def test_after_a_clean_close_the_guard_stops_nothing(owner):
    owner.say("close")
    assert owner.process.stdout.readline() == "closed\n"
    assert not is_alive(owner.guard)
    # The owner stopped its servers itself.
    assert alive(owner.doomed) == {"marked", "stubborn", "writer"}
    assert alive(owner.spared) == owner.spared.keys()
    assert [directory.exists() for directory in owner.temporary] == [True, False]


def test_the_guard_has_its_own_session():
    with Guard.start() as guard:
        assert os.getsid(guard.pid) == guard.pid


def test_using_a_dead_guard_is_an_error_and_closing_it_is_not(reaped):
    guard = Guard.start()
    process = reaped(guard.pid)
    os.kill(guard.pid, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(process), 5.0)
    with pytest.raises(EmbeddedServerError, match="guard has ended"):
        guard.watch_process(os.getppid())
    with pytest.raises(EmbeddedServerError, match="guard has ended"):
        EmbeddedServer(guard=guard).start()
    guard.close()


def test_a_closed_guard_refuses_commands():
    guard = Guard.start()
    guard.close()
    with pytest.raises(EmbeddedServerError, match="guard has ended"):
        guard.watch_marker("NAME", "value")


def test_only_directories_made_by_fairlane_are_watched(tmp_path):
    ours = create_private_directory(tmp_path)
    (ours / "below").mkdir()
    (tmp_path / "link").symlink_to(ours)
    with Guard.start() as guard:
        guard.watch_directory(ours)
        guard.watch_directory(ours / "below")
        for path in (tmp_path, tmp_path / "missing", ours / ".."):
            with pytest.raises(ConfigError, match="must be made by create_private_directory"):
                guard.watch_directory(path)
    remove_private_directory(tmp_path)
    remove_private_directory(tmp_path / "link")
    assert ours.exists()
    remove_private_directory(ours)
    assert not ours.exists()


@pytest.mark.parametrize(("name", "value"), [("", "v"), ("N", ""), ("A=B", "v"), ("N", "a\nb"), ("N", "v" * 5000)])
def test_an_invalid_marker_is_refused(name, value):
    with Guard.start() as guard, pytest.raises(ConfigError):
        guard.watch_marker(name, value)
