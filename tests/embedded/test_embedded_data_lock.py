"""Only one server may use a data directory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairlane.embedded.data_lock import DataLock
from fairlane.embedded.processes import ProcessId, is_alive, send_signal, wait_until
from fairlane.errors import EmbeddedServerError

OWNER_WITHOUT_GUARD = """
import sys
from pathlib import Path
from fairlane.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path, reaped):
    """Another process that owns a server on tmp_path/data: (the process, its server's ProcessId)."""
    command = [sys.executable, "-c", OWNER_WITHOUT_GUARD, str(tmp_path / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        server = reaped(int(process.stdout.readline()))
        yield process, server
        process.kill()


def test_a_second_server_is_refused_with_the_owners_pid(make_server, owner, tmp_path):
    process, server = owner
    with pytest.raises(EmbeddedServerError, match=f"in use by process {process.pid}; stop it") as caught:
        make_server(tmp_path / "data").start()
    assert caught.value.context["owner_pid"] == process.pid
    assert is_alive(server)


def test_a_second_server_in_the_same_process_is_refused(make_server, tmp_path):
    first = make_server(tmp_path / "data")
    first.start()
    with pytest.raises(EmbeddedServerError, match=f"in use by process {os.getpid()}; stop it"):
        make_server(tmp_path / "data").start()
    first.stop()
    make_server(tmp_path / "data").start()


@pytest.mark.fault
def test_a_server_that_outlives_its_owner_keeps_the_lock_until_it_ends(owner, make_server, connect, tmp_path):
    process, server = owner
    process.kill()
    process.wait()
    with pytest.raises(EmbeddedServerError, match="left behind") as caught:
        DataLock.acquire(tmp_path / "data", wait_s=0.1)
    assert caught.value.context["owner_pid"] == process.pid
    assert caught.value.context["server_pid"] == server.pid

    send_signal(server, signal.SIGKILL)
    connect(make_server(tmp_path / "data").start()).ping()


@pytest.mark.fault
def test_the_lock_of_a_dead_owner_is_taken_over_while_its_server_stops(owner, tmp_path):
    process, server = owner
    process.kill()
    process.wait()
    # The guard also stops such a server; here the next owner is already waiting.
    ending = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill {server.pid}"])
    DataLock.acquire(tmp_path / "data", wait_s=10.0).release()
    assert ending.wait() == 0
    assert not is_alive(server)


def test_an_invalid_lock_file_is_overwritten(tmp_path):
    (tmp_path / "fairlane.lock").write_bytes(b"\xff\x00 not a pid\n\n\n1 2 3\n" * 50)
    lock = DataLock.acquire(tmp_path, wait_s=0.0)
    first, *rest = (tmp_path / "fairlane.lock").read_text().splitlines()
    assert ProcessId.parse(first).pid == os.getpid()
    assert not rest
    lock.release()
    lock.release()


def test_a_forked_child_does_not_keep_the_lock(tmp_path):
    held = DataLock.acquire(tmp_path, wait_s=0.0)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as echo:
        child = os.fork()
        if child == 0:
            echo.stdin.write(b"forked\n")
            echo.stdin.flush()
            signal.pause()
        try:
            assert echo.stdout.readline() == b"forked\n"
            files = {os.readlink(link) for link in Path(f"/proc/{child}/fd").iterdir()}
            assert str(tmp_path / "fairlane.lock") not in files
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    with pytest.raises(EmbeddedServerError, match="in use"):
        DataLock.acquire(tmp_path, wait_s=0.0)
    held.release()


def test_a_signal_never_reaches_a_process_that_only_reuses_the_pid(reaped):
    with subprocess.Popen(["sleep", "600"]) as process:
        running = reaped(process.pid)
        send_signal(ProcessId(running.pid, "1" + running.started), signal.SIGKILL)
        assert not wait_until(lambda: process.poll() is not None, 0.2)
        send_signal(running, signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
