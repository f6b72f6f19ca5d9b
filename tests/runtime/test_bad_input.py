"""Each mistake is reported in one plain line, by the command line and by the library."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest

import fairlane
from fairlane import RayConfig, Scheduler, SchedulerConfig, ServerConfig
from fairlane.cli.app import run
from fairlane.runtime.platform import Platform
from fairlane.runtime.ray_session import RaySession
from fairlane.store.store import Store

from .conftest import PROVIDER


@pytest.fixture
def not_redis() -> Iterator[str]:
    """A server that answers, but does not speak Redis's protocol."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1024)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def bad_url(request, start_server, not_redis) -> str:
    match request.param:
        case "absent":
            return "redis://127.0.0.1:1"
        case "not redis":
            return not_redis
        case "wants a password":
            return f"unix://{start_server('--requirepass', 'right')}"
        case "another password":
            return f"unix://:canary-42@{start_server('--requirepass', 'right')}"
        case "evicts":
            return f"unix://{start_server('--maxmemory-policy', 'allkeys-lru')}"
        case "replica":
            return f"unix://{start_server('--replicaof', '127.0.0.1 1')}"


SERVERS = [
    ("absent", "127.0.0.1:1"),
    ("not redis", "not Redis's protocol"),
    ("wants a password", "Authentication required"),
    ("another password", "password"),
    ("evicts", "maxmemory-policy is allkeys-lru"),
    ("replica", "read-only replica"),
]


@pytest.mark.parametrize(("bad_url", "expected"), SERVERS, indirect=["bad_url"])
def test_a_server_that_cannot_be_used(bad_url, expected, tmp_path, capsys):
    config = tmp_path / "fairlane.toml"
    config.write_text("[server]\ncall_timeout_ms = 1000\n")
    options = ["--redis", bad_url, "--config", str(config)]
    for command in (["status"], ["doctor"], ["serve", "--provider", PROVIDER], ["tenants", "put", "acme"], ["audit"]):
        assert run([*command, *options]) == 1, command
        captured = capsys.readouterr()
        assert captured.err.startswith("fairlane: "), command
        assert captured.err.count("\n") == 1, captured.err
        assert expected in captured.err, command
        assert "canary-42" not in captured.out + captured.err

    server = ServerConfig(url=bad_url, call_timeout_ms=1_000)
    with pytest.raises((fairlane.StoreUnavailable, fairlane.StoreUnsuitable)) as caught:
        asyncio.run(Scheduler(SchedulerConfig(server=server), PROVIDER).start())
    assert expected in caught.value.message
    assert "canary-42" not in f"{caught.value!r} {server!r}"


@pytest.mark.parametrize(
    ("arguments", "expected", "code"),
    [
        (["status", "--redis", "http://localhost"], "server.url: must be redis://", 1),
        (["status"], "no server: give --redis or --config", 1),
        (["status", "--name", "a{b", "--redis", "redis://localhost"], "name = 'a{b'", 1),
        (["tenants", "put", "a b", "--redis", "redis://localhost"], "tenant = 'a b'", 1),
        (["tenants", "put", "acme", "--weight", "0", "--redis", "redis://localhost"], "weight = 0", 1),
        (["serve", "--provider", "a:b", "--config", "/no/such/file"], "/no/such/file: No such file", 1),
        (["serve", "--provider", "a:b"], "config", 2),
        (["tenants", "put", "acme", "--weight", "heavy"], "--weight", 2),
        (["dance"], "dance", 2),
        ([], "ommand", 2),
    ],
)
def test_wrong_use(arguments, expected, code, capsys, monkeypatch):
    monkeypatch.delenv("FAIRLANE_REDIS_URL", raising=False)
    assert run(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("fairlane: ")
    assert captured.err.count("\n") == 1
    assert expected in captured.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nmae = 'x'", "nmae"),
        ("name = 'a b'", "name"),
        ("[pool]\nslots = -1", "pool.slots = -1"),
        ("[pool]\npolicy = 'lottery'", "pool.policy = 'lottery'"),
        ("[tenants.acme]\nweight = 1.5", "tenants.acme.weight = 1.5"),
        ("[workers]\ncount = 0", "workers.count = 0"),
        ("[ray]\nnum_cpus = 0", "ray.num_cpus = 0"),
        ("= 1", "not valid TOML"),
    ],
)
def test_a_configuration_that_cannot_be_used(text, expected, tmp_path, capsys):
    config = tmp_path / "fairlane.toml"
    config.write_text(text)
    assert run(["serve", "--config", str(config), "--provider", PROVIDER]) == 1
    captured = capsys.readouterr()
    assert expected in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "named", "kind", "expected"),
    [
        ("10.0.0.1:6379", False, fairlane.ConfigError, "embedded server"),
        ("ray://somewhere:10001", True, fairlane.ConfigError, "host:port or auto"),
        ("somewhere", True, fairlane.ConfigError, "host:port or auto"),
        ("127.0.0.1:1", True, fairlane.RuntimeStartError, "Ray at 127.0.0.1:1"),
    ],
)
async def test_a_ray_that_cannot_be_used(address, named, kind, expected, endpoint):
    config = ServerConfig(url=endpoint.url if named else None)
    with pytest.raises(kind, match=expected):
        await Platform(config, RayConfig(address=address)).start()


def test_status_shows_a_scheduler_and_names_one_that_does_not_exist(endpoint, name, capsys):
    async def put() -> None:
        async with Store(endpoint, name) as store:
            await store.put_pool(fairlane.PoolConfig(slots=5))

    asyncio.run(put())
    options = ["--redis", endpoint.url, "--name", name]
    assert run(["tenants", "put", "acme", "--weight", "3", *options]) == 0
    assert run(["tenants", "put", "acme", "--weight", "4", *options]) == 0
    assert run(["status", *options]) == 0
    shown = capsys.readouterr().out
    assert "tenant acme registered\ntenant acme changed: weight 3 -> 4\n" in shown
    assert "5 of 5 slots" in shown
    assert run(["tenants", "remove", "acme", *options]) == 0
    assert run(["tenants", "remove", "acme", *options]) == 1
    assert run(["status", "--redis", endpoint.url, "--name", "nobody"]) == 1
    assert capsys.readouterr().err == (
        "fairlane: tenant acme is not registered; fairlane tenants put acme registers it\n"
        f"fairlane: name = nobody: no scheduler of this name on {endpoint.shown}\n"
    )


def test_doctor_reports_an_embedded_server(capsys, monkeypatch):
    monkeypatch.delenv("FAIRLANE_REDIS_URL", raising=False)
    assert run(["doctor"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["eviction"] == "noeviction"
    assert lines["kind"].startswith("valkey 9.")
    assert lines["persistence"].startswith("none")
    assert "release build" in lines["core"]
    assert lines["verdict"] == "can be used"


@pytest.mark.ray
async def test_a_secret_is_never_sent_through_ray(platform, start_server, monkeypatch):
    url = f"unix://:canary-42@{start_server('--requirepass', 'canary-42')}"
    monkeypatch.delenv("FAIRLANE_REDIS_URL", raising=False)
    monkeypatch.setattr(RaySession, "is_private", False)
    with pytest.raises(fairlane.ConfigError, match="FAIRLANE_REDIS_URL") as caught:
        await Platform(ServerConfig(url=url)).start()
    assert "canary" not in str(caught.value)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", url)
    async with Platform(ServerConfig(url=url)) as second:
        assert second.actor_endpoint is None
        assert second.endpoint.url == url


@pytest.mark.ray
async def test_a_private_ray_that_already_runs_takes_no_other_secret_url(platform, start_server, monkeypatch):
    url = f"unix://:canary-42@{start_server('--requirepass', 'canary-42')}"
    monkeypatch.setenv("FAIRLANE_REDIS_URL", url)
    with pytest.raises(fairlane.ConfigError, match="one private Ray serves one URL") as caught:
        await Platform(ServerConfig(url=url)).start()
    assert "canary" not in str(caught.value)
    monkeypatch.setattr(RaySession, "exported", {"FAIRLANE_REDIS_URL": url})
    async with Platform(ServerConfig(url=url)) as second:
        assert second.actor_endpoint is None
