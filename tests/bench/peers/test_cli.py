"""``python -m bench peers`` exits with 0 if and only if delivery was exact; a missed goal fails only if asked to."""

import pytest

from bench import cli
from bench.peers import cli as peers
from bench.peers.environments import ROOT
from bench.peers.results import Failure
from bench.peers.roster import FAIRLANE, PEERS
from tests.bench.peers.samples import BULLMQ, compared, measured, turn

SLOW = turn({3: 100.0})
LATE = compared([measured(FAIRLANE, SLOW, beside=[SLOW]), measured(BULLMQ, SLOW, beside=[SLOW])])
FAILED = compared([measured(FAIRLANE, SLOW)], [Failure(name="arq", reason="lost a task")])


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command on results that are there already; return its exit code and what was asked for."""
    monkeypatch.chdir(ROOT)

    def command(results, *arguments):
        plans = []

        async def compare(plan, *_):
            plans.append(plan)
            return results

        monkeypatch.setattr(peers, "compare", compare)
        return cli.run(["peers", "--out", str(tmp_path), *arguments]), *plans

    return command


def test_a_missed_goal_fails_only_if_goals_are_required(run, tmp_path, capsys):
    assert not LATE.reached
    assert run(LATE)[0] == 0
    assert run(LATE, "--require-goals")[0] == 1
    shown = capsys.readouterr().out
    assert "missed: speed at 3 tenants against BullMQ: 1; the goal is ≥ 3 ×" in shown
    assert {path.name for path in tmp_path.iterdir()} == {"peers.md", "peers.json", "peers.log"}


def test_a_lost_task_fails_in_any_case(run, capsys):
    assert run(FAILED)[0] == 1
    assert "arq delivers exactly: lost a task" in capsys.readouterr().out


def test_all_queues_some_or_none_are_compared(run):
    assert run(LATE)[1].peers == PEERS
    assert [each.key for each in run(LATE, "celery", "bullmq")[1].peers] == ["bullmq", "celery"]
    assert run(LATE, "--alone")[1].peers == ()


def test_sizes_are_options(run):
    plan = run(LATE, "--rounds", "2", "--tasks", "100", "--trips", "7", "--waiting", "9")[1]
    assert (plan.rounds, plan.size.tasks, plan.size.trips, plan.size.waiting) == (2, 100, 7, 9)


@pytest.mark.parametrize("arguments", [["rabbit"], ["--rounds", "0"], ["--tasks", "x"], ["--wokers", "2"]])
def test_bad_input_is_one_plain_line(run, capsys, arguments):
    assert run(LATE, *arguments) == (2,)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)


def test_it_belongs_to_no_suite(capsys):
    assert cli.run(["list"]) == 0
    assert "peers" not in capsys.readouterr().out
