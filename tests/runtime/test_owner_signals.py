"""SIGTERM runs the program's own handler, from before Ray's start to after its end."""

import signal

import pytest

from .conftest import PROVIDER, Program

pytestmark = [pytest.mark.ray, pytest.mark.fault]

PROGRAM = __file__.replace("test_owner_signals", "owner_program")


@pytest.fixture
def begin(run_program, endpoint, name):
    """Start the program; return it once it has printed these lines."""

    def begin(way: str, *said: str) -> Program:
        program = run_program(PROGRAM, name, endpoint.url, way)
        for line in said:
            assert program.line() == line, program.process.communicate()
        return program

    return begin


def test_the_handler_works_while_ray_connects(begin):
    program = begin("loop", "connecting")
    program.look()
    program.process.send_signal(signal.SIGTERM)
    output, errors = program.process.communicate(timeout=60)  # it completes its start before it stops
    assert sorted(output.splitlines()) == ["disconnected", "stopped", "terminating", "up"]
    assert (program.process.returncode, errors) == (0, "")


def test_the_handler_works_while_ray_disconnects(begin):
    program = begin("loop", "connecting", "up")
    program.process.send_signal(signal.SIGTERM)
    assert [program.line(), program.line()] == ["terminating", "disconnected"]
    assert program.end(signal.SIGTERM) == (0, "terminating\nstopped\n", "")


def test_a_program_without_a_handler_ends_at_once_and_silently(begin):
    program = begin("none", "up")
    assert program.end(signal.SIGTERM) == (-signal.SIGTERM, "", "")


def test_a_handler_that_stops_a_sync_scheduler_while_it_stops(begin):
    program = begin("sync", "connecting", "up")
    program.process.send_signal(signal.SIGTERM)
    assert [program.line(), program.line()] == ["terminating", "disconnected"]
    assert program.end(signal.SIGTERM) == (0, "terminating\nstopped\n", "")


def test_a_handler_that_stops_a_sync_scheduler_while_it_starts(begin, name):
    program = begin("sync", "connecting")
    code, output, errors = program.end(signal.SIGTERM)
    message = f"scheduler {name} was stopped while it started"
    assert sorted(output.splitlines()) == sorted(["disconnected", message, "stopped", "terminating"])
    assert (code, errors) == (0, "")


@pytest.mark.parametrize("moment", ["gcs_server", "raylet"])
def test_serve_at_sigterm_while_it_starts(run_program, tmp_path, name, moment):
    config = tmp_path / "fairlane.toml"
    config.write_text(f'name = "{name}"\n')
    program = run_program("-m", "fairlane.cli", "serve", "--config", str(config), "--provider", PROVIDER)
    program.wait_for(moment)
    message = "fairlane: interrupted while starting; nothing is left running\n"
    assert program.end(signal.SIGTERM) == (128 + signal.SIGTERM, "", message)
