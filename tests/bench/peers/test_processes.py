"""A client's process that fails in any way is one error with the queue's name."""

import os
import re
import sys
from dataclasses import dataclass

import pytest

from bench.peers import processes
from bench.peers.environments import Environment
from bench.peers.processes import Crew
from bench.peers.roster import FAIRLANE
from bench.shared.session import ScenarioError
from fairlane.embedded.guard import Guard

ECHO = "import sys\nfor line in sys.stdin: print({answer!r}, flush=True)"
BUSY = """
import json, sys, time
for line in sys.stdin:
    while time.process_time() < 0.1: pass
    print(json.dumps({"used_s": time.process_time()}), flush=True)
"""
TICKS_S = 2 / os.sysconf("SC_CLK_TCK")  # user and system time are each cut to whole ticks


@dataclass(frozen=True)
class Scripted(Environment):
    """A client that is a line of Python."""

    program: str = ""

    def command_of_client(self) -> list[str]:
        return [sys.executable, "-c", self.program]


@pytest.fixture
def crew(tmp_path):
    with Guard.start() as guard, open(tmp_path / "log", "wb") as log:
        ran = tmp_path / "ran"
        ran.mkdir()
        yield lambda program: Crew(
            Scripted(FAIRLANE, tmp_path, program), socket=tmp_path / "none", ran=ran, guard=guard, log=log
        )


async def test_an_answer_is_one_json_line(crew):
    async with crew(ECHO.format(answer='{"seconds": 0.5}')) as running:
        assert await running.ask({"do": "load"}, 30) == {"seconds": 0.5}


async def test_the_time_of_its_processes_is_counted_until_they_end(crew):
    async with crew(BUSY) as running:
        used = (await running.ask({"do": "load"}, 60))["used_s"]
        assert running.cpu_s() >= used - TICKS_S
    assert running.cpu_s() == 0


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (ECHO.format(answer="hello"), "Fairlane: load: not a JSON object: hello"),
        (ECHO.format(answer="[1]"), "Fairlane: load: not a JSON object: [1]"),
        (ECHO.format(answer='{"error": "task 5 is wrong"}'), "Fairlane: load: task 5 is wrong"),
        ("import sys; sys.stdin.readline()", "Fairlane: load: the client's process has ended"),
    ],
)
async def test_a_bad_answer_is_an_error_that_names_the_queue(crew, program, problem):
    async with crew(program) as running:
        with pytest.raises(ScenarioError, match=f"^{re.escape(problem)}"):
            await running.ask({"do": "load"}, 30)


async def test_a_client_that_does_not_answer_is_given_up_and_ended(crew, monkeypatch):
    monkeypatch.setattr(processes, "_STOP_S", 0.05)
    async with crew("import time; time.sleep(600)") as running:
        with pytest.raises(ScenarioError, match=r"no answer within 0\.05 s"):
            await running.ask({"do": "load"}, 0.05)
    assert running.cpu_s() == 0


async def test_executions_are_counted_over_all_processes(crew, tmp_path):
    (tmp_path / "ran" / "1").write_text("0\n1\n")
    (tmp_path / "ran" / "2").write_text("1\n")
    async with crew("") as running:
        assert running.ran() == {0: 1, 1: 2}
        assert running.at_work() == 2
