"""What ``fairlane serve`` prints while it runs, and when it cannot run."""

import asyncio
import os
import re
import signal

import pytest

from fairlane.cli.app import run
from fairlane.config import RayConfig
from fairlane.embedded.guard import Guard
from fairlane.errors import ConfigError
from fairlane.lifecycle.client import Client
from fairlane.runtime import dashboard
from fairlane.runtime.platform import Platform
from fairlane.runtime.ray_connection import Connection, PrivateRay
from fairlane.runtime.ray_session import RaySession
from fairlane.store.store import Store

from .conftest import PROVIDER

RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG|INFO|WARNING|ERROR) fairlane\.[\w.]+: \S.*")


@pytest.fixture
def no_dashboard(monkeypatch):
    """An environment without the packages that the dashboard needs."""
    monkeypatch.setattr(dashboard, "_NEEDED", ("aiohttp", "no_such_module_here"))


def session(*, url: str | None, token: str | None) -> RaySession:
    """A session that is connected to a Ray with this dashboard."""
    found = RaySession.__new__(RaySession)
    found._connection = Connection(None, None, True, {}, url, token)
    return found


def test_an_invitation_says_where_and_how_to_log_in():
    lines = dashboard.invitation(session(url="127.0.0.1:8265", token="t0ken"))
    assert "http://127.0.0.1:8265" in lines[0]
    assert lines[1].endswith("paste this one: t0ken")


def test_an_invitation_does_not_show_the_users_own_token():
    _, how = dashboard.invitation(session(url="127.0.0.1:8265", token=None))
    assert "RAY_AUTH_TOKEN" in how
    assert "paste" not in how


def test_without_a_dashboard_there_is_no_invitation():
    assert dashboard.invitation(None) == []
    assert dashboard.invitation(session(url=None, token="t0ken")) == []


async def test_a_dashboard_that_is_not_installed_is_refused_before_anything_starts(no_dashboard):
    platform = Platform(ray=RayConfig(dashboard=True))
    with pytest.raises(ConfigError, match=r"ray.dashboard = true: .*pip install 'ray\[default\]'"):
        await platform.start()
    assert (platform.server, platform.ray) == (None, None)


def test_serve_says_what_to_install_for_the_dashboard(no_dashboard, tmp_path, capsys):
    config = tmp_path / "fairlane.toml"
    config.write_text("[ray]\ndashboard = true\n")
    assert run(["serve", "--config", str(config), "--provider", PROVIDER]) == 1
    assert capsys.readouterr().err == (
        "fairlane: ray.dashboard = true: Ray's dashboard is not installed; run: pip install 'ray[default]'\n"
    )


def test_rays_log_is_named_only_if_it_is_there(guard: Guard):
    private = PrivateRay(guard)
    try:
        assert private.log is None
        logs = private.directory / "session_latest" / "logs"
        logs.mkdir(parents=True)
        (logs / "raylet.out").touch()
        assert private.log == logs / "raylet.out"
    finally:
        private.kill()
        for path in (logs / "raylet.out", logs, logs.parent):
            path.unlink() if path.is_file() else path.rmdir()


@pytest.mark.ray
@pytest.mark.fault
def test_the_error_of_a_ray_that_is_not_ready_in_time_names_no_missing_log(run_program, tmp_path, name):
    config = tmp_path / "fairlane.toml"
    config.write_text(f'name = "{name}"\n[ray]\nstart_timeout_ms = 1\n')
    program = run_program("-m", "fairlane.cli", "serve", "--config", str(config), "--provider", PROVIDER)
    _, errors = program.process.communicate(timeout=60)
    assert program.process.returncode == 1
    assert errors == "fairlane: Ray: not ready after 1 ms\n"


@pytest.mark.ray
@pytest.mark.fault
def test_at_info_each_end_of_a_task_or_a_worker_is_one_line(run_program, endpoint, name, tmp_path):
    config = tmp_path / "fairlane.toml"
    config.write_text(f'name = "{name}"\n[tenants.acme]\n[workers]\ncount = 1\nslots = 4\n')
    options = ["--config", str(config), "--provider", PROVIDER, "--redis", endpoint.url, "--log-level", "info"]
    program = run_program("-m", "fairlane.cli", "serve", *options)
    line = program.line()
    (pid,) = re.findall(r"worker-1 (\d+)", line)

    async def work() -> None:
        async with Store(endpoint, name) as store, Client(store) as client:
            await (await client.submit("acme", {"ms": 1}, cost=10, task_id="first")).result(timeout_s=60)
            os.kill(int(pid), signal.SIGKILL)
            await (await client.submit("acme", {"ms": 1}, cost=20, task_id="second")).result(timeout_s=60)

    asyncio.run(work())
    expected = {
        "task acme:first completed: attempt 1 completed, 10 units",
        r"task acme:second completed: attempt \d completed, 20 units",
        "worker worker-1 failed: ",
        "worker worker-1: restarted; ",
    }
    logged: list[str] = []
    while not all(any(re.search(each, line) for line in logged) for each in expected):
        logged.append(program.process.stderr.readline().rstrip("\n"))
        assert RECORD.fullmatch(logged[-1]), logged
    assert all(sum(re.search(each, line) is not None for line in logged) == 1 for each in expected), logged
    code, _, errors = program.end(signal.SIGTERM)
    assert (code, errors) == (0, "fairlane: stopping; signal again to stop without waiting for running tasks\n")
