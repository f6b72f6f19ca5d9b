"""When its Ray has ended, Fairlane says so. It does not start another, and leaves nothing behind."""

import pytest

from fairlane.embedded.processes import wait_until

from .conftest import LIMIT_S

pytestmark = [pytest.mark.ray, pytest.mark.fault]

PROGRAM = __file__.replace("test_ray_ended", "ended_program")
ENDED = "RuntimeStartError: Ray: this process is not connected to it any more; it was ended, its actors with it"


@pytest.mark.parametrize("way", ["platform", "own"])
def test_a_scheduler_whose_ray_has_ended(run_program, endpoint, name, way):
    program = run_program(PROGRAM, name, endpoint.url, way)
    output, errors = program.process.communicate(timeout=120)
    unstarted = f"RuntimeStartError: scheduler {name} is not started"
    assert output.splitlines() == [ENDED, ENDED, unstarted, unstarted, "no Ray"], errors
    assert program.process.returncode == 0
    assert f"scheduler {name}: Ray was ended before it" in errors
    assert "Traceback" not in errors
    assert wait_until(lambda: not program.left(), LIMIT_S), program.left()


def test_a_scheduler_that_did_not_start(run_program, endpoint, name):
    program = run_program(PROGRAM, name, endpoint.url, "failed")
    output, errors = program.process.communicate(timeout=120)
    unstarted = f"RuntimeStartError: scheduler {name} is not started"
    assert output.splitlines() == ["provider 'no.such:thing'", unstarted, unstarted, "no Ray"], errors
    assert program.process.returncode == 0
    assert wait_until(lambda: not program.left(), LIMIT_S), program.left()
