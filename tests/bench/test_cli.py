"""Bad input is one plain line and exit code 2; nothing is started for it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import bench
from bench import cli, environment
from bench.fairness.scenarios import FAIR
from bench.runner import Plan
from fairlane.embedded.processes import wait_until

ROOT = Path(bench.__file__).resolve().parents[1]


def refused(capsys, *arguments: str) -> str:
    code = cli.run(list(arguments))
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err


class TestBadInput:
    @pytest.fixture(autouse=True)
    def _in_the_root(self, monkeypatch):
        monkeypatch.chdir(ROOT)

    def test_an_unknown_scenario_names_the_choices(self, capsys):
        line = refused(capsys, "fiar")
        assert "'fiar'" in line
        assert "baseline, fair, contention" in line

    @pytest.mark.parametrize("count", ["0", "-1", "65", "two", "1.5"])
    def test_an_invalid_number_of_workers(self, capsys, count):
        assert "workers" in refused(capsys, "fair", "--workers", count)

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("lottery", "'lottery' must be one of least-busy, least-busy-ewma, round-robin, weighted, weighted-random"),
            ("", "must be one of least-busy"),
            ("no_such_module:factory", "No module named 'no_such_module'"),
            ("bench.cli:no_such_factory", "has no attribute 'no_such_factory'"),
            ("bench.cli:run", "TypeError"),
        ],
    )
    def test_an_unknown_strategy(self, capsys, name, problem):
        line = refused(capsys, "fair", "--strategy", name)
        assert "strategy" in line
        assert problem in line

    def test_a_directory_that_is_not_writable(self, capsys):
        assert "/proc/bench" in refused(capsys, "fair", "--out", "/proc/bench")

    def test_a_file_in_place_of_the_directory(self, capsys, tmp_path):
        (tmp_path / "file").write_text("")
        assert "file" in refused(capsys, "fair", "--out", str(tmp_path / "file"))

    def test_a_cluster_without_a_server_it_can_reach(self, capsys):
        assert "add --redis" in refused(capsys, "fair", "--ray-address", "127.0.0.1:6379")

    def test_an_unknown_option(self, capsys):
        assert "--wokers" in refused(capsys, "fair", "--wokers", "2")

    def test_no_scenario_at_all(self, capsys):
        refused(capsys)

    def test_a_seed_that_is_not_a_number(self, capsys):
        assert "seed" in refused(capsys, "fair", "--seed", "x")

    def test_a_debug_build_of_the_core(self, capsys, monkeypatch):
        monkeypatch.setattr(environment._core, "build_profile", lambda: "debug")
        assert "debug build" in refused(capsys, "fair")

    def test_another_directory(self, capsys, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        assert f"cd {ROOT}" in refused(capsys, "fair")

    def test_an_unreachable_server(self, tmp_path):
        done = command("race-controller", "--redis", "unix:///nowhere/server.sock", "--out", str(tmp_path))
        assert done.returncode in {1, 2}
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "/nowhere/server.sock" in done.stderr

    def test_a_url_of_another_kind(self, tmp_path):
        done = command("race-controller", "--redis", "http://localhost", "--out", str(tmp_path))
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


class TestCommand:
    def test_list_shows_every_scenario(self, capsys):
        assert cli.run(["list"]) == 0
        shown = capsys.readouterr().out
        assert "race-controller" in shown
        assert "throughput" in shown

    def test_help_is_not_an_error(self, capsys):
        assert cli.run(["--help"]) == 0
        assert "--ray-address" in capsys.readouterr().out

    @pytest.mark.parametrize(("arguments", "strategy"), [([], "least-busy"), (["--strategy", "weighted"], "weighted")])
    def test_the_named_strategy_is_used(self, monkeypatch, tmp_path, arguments, strategy):
        taken = []
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(cli, "execute", lambda options: taken.append(options.strategy) or 0)
        assert cli.run(["quick", "--out", str(tmp_path), *arguments]) == 0
        assert taken == [strategy]

    @pytest.mark.parametrize(("arguments", "backlog"), [([], None), (["--large"], 1_000_000)])
    def test_large_adds_a_queue_to_those_of_the_scenario(self, monkeypatch, tmp_path, arguments, backlog):
        taken = []
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(cli, "execute", lambda options: taken.append(options) or 0)
        assert cli.run(["throughput", "fair", "--out", str(tmp_path), *arguments]) == 0
        (options,) = taken
        assert options.backlog == backlog
        fair, throughput = Plan(options.scenarios, 1, backlog=options.backlog).varied()
        assert (fair, throughput.name) == (FAIR, "throughput")
        assert throughput.backlogs == (1_000, 100_000, *([backlog] if backlog else []))

    @pytest.mark.parametrize(
        ("after_s", "signum"), [(0.15, signal.SIGINT), (0.6, signal.SIGINT), (0.6, signal.SIGTERM)]
    )
    def test_a_signal_while_it_loads_is_one_line(self, after_s, signum, tmp_path):
        process = begun(tmp_path)
        time.sleep(after_s)
        process.send_signal(signum)
        out, err = process.communicate(timeout=30)
        assert "Traceback" not in out + err
        assert process.returncode == 128 + signum
        assert err.strip() == "interrupted"

    @pytest.mark.ray
    @pytest.mark.fault
    def test_sigterm_while_its_actors_run_is_one_line_and_leaves_none(self, tmp_path):
        process = begun(tmp_path)
        actors: list[psutil.Process] = []

        def run() -> bool:
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if child.name().startswith("ray::RoleActor"):
                        actors.append(child)
            return bool(actors)

        assert wait_until(run, 60.0), process.communicate()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (128 + signal.SIGTERM, "interrupted\n")
        assert not any(actor.is_running() for actor in actors)


def begun(out: Path) -> subprocess.Popen[str]:
    """A benchmark that has been started."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench", "fair", "--out", str(out)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
