"""A role and the process it is in stand and fall together. Each case is a process of its own."""

import signal
import subprocess
import sys
import time

import pytest

from .conftest import ROOT

PROGRAM = """
import asyncio, os, sys, time
from fairlane.errors import ConfigError
from fairlane.runtime.role_thread import RoleThread

async def work(signals):
    kind = sys.argv[1]
    if kind == "refuses":
        raise ConfigError("no such thing")
    signals.ready.set()
    if kind == "crashes":
        await asyncio.sleep(0.05)
        raise ValueError("broken")
    if kind == "ends":
        await asyncio.sleep(0.05)
        return
    await signals.stop.wait()
    print("finishing", flush=True)
    if kind == "stubborn":
        await signals.stop_now.wait()

role = RoleThread("role", work)
role.handle_sigterm()
print(repr(role.problem(10.0)), flush=True)
if sys.argv[1] == "obeys":
    role.stop()
    print(role.join(10.0), flush=True)
    role.stop_now()
    os._exit(7)
time.sleep(60)
"""


@pytest.fixture
def start():
    processes = []

    def start_program(kind: str) -> subprocess.Popen[str]:
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, kind],
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
    ("kind", "problem", "told"),
    [
        ("crashes", "''", "ValueError: broken"),
        ("ends", "''", "it ended unasked"),
        ("refuses", "'no such thing'", "no such thing"),
    ],
)
def test_a_role_that_ends_unasked_takes_its_process_with_it(start, kind, problem, told):
    process = start(kind)
    output, errors = process.communicate(timeout=10)
    assert process.returncode == 1
    assert output.strip() == problem
    assert told in errors


def test_a_stopped_role_leaves_its_process(start):
    process = start("obeys")
    output, _ = process.communicate(timeout=10)
    assert output.splitlines() == ["''", "finishing", "True"]
    assert process.returncode == 7


def test_sigterm_stops_the_role_and_a_second_one_at_once(start):
    process = start("stubborn")
    assert process.stdout.readline() == "''\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "finishing\n"
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
