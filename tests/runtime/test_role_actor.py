"""A role and its process end together. Each case runs in a separate process."""

import signal
import subprocess
import sys
import time

import pytest

from .conftest import ROOT

PROGRAM = """
import asyncio, os, sys, time
from fairlane.errors import ConfigError
from fairlane.run import Role, RoleReport
from fairlane.runtime.role_actor import RoleActor

kind = sys.argv[1]

class Store:
    async def __aenter__(self):
        return self
    async def __aexit__(self, *_):
        pass
    async def check(self):
        if kind == "unsuitable":
            raise ConfigError("no such store")

class Address:
    open = Store

class Play(Role):
    def __init__(self, store):
        if kind == "refuses":
            raise ConfigError("no such thing")

    def report(self):
        return RoleReport("life", 3)

    async def run(self, signals):
        signals.ready.set()
        if kind == "crashes":
            await asyncio.sleep(0.05)
            raise ValueError("broken")
        if kind == "ends":
            await asyncio.sleep(0.05)
            return
        await signals.stop.wait()
        print("finishing within", signals.grace_s, flush=True)
        if kind == "stubborn":
            await signals.stop_now.wait()

actor = RoleActor("role", Address(), Play, 0 if len(sys.argv) == 2 else 1)
print(repr(actor.startup_error(10.0)), flush=True)
if kind == "obeys":
    print(actor.health())
    actor.stop(1.5)
    print(actor.join(10.0), flush=True)
    actor.stop_now()
    os._exit(7)
if kind == "unsuitable" and len(sys.argv) > 2:
    os._exit(7)
time.sleep(60)
"""


@pytest.fixture
def start():
    processes = []

    def start_program(*arguments: str) -> subprocess.Popen[str]:
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *arguments],
                env={"PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return processes[-1]

    yield start_program
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("kind", "problem", "logged"),
    [
        ("crashes", "''", "ValueError: broken"),
        ("ends", "''", "it ended without having been asked to"),
        ("refuses", "'no such thing'", "no such thing"),
        ("unsuitable", "'no such store'", "no such store"),
    ],
)
def test_a_role_that_ends_by_itself_takes_its_process_with_it(start, kind, problem, logged):
    process = start(kind)
    output, errors = process.communicate(timeout=10)
    assert process.returncode == 1
    assert output.strip() == problem
    assert logged in errors


def test_a_stopped_role_leaves_its_process(start):
    process = start("obeys")
    output, _ = process.communicate(timeout=10)
    health = "RoleReport(incarnation='life', held=3)"
    assert output.splitlines() == ["''", health, "finishing within 1.5", "True"]
    assert process.returncode == 7


def test_only_the_first_process_of_a_role_refuses_a_store_that_it_cannot_use(start):
    """A later one waits: the store may be away only for a while."""
    process = start("unsuitable", "later")
    output, _ = process.communicate(timeout=10)
    assert output.splitlines() == ["''"]
    assert process.returncode == 7


def test_sigterm_stops_the_role_and_a_second_one_at_once(start):
    process = start("stubborn")
    assert process.stdout.readline() == "''\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "finishing within None\n"
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
