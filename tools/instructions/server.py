"""The embedded server's own binary, plain or under callgrind, and what it counts."""

import os
import platform
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from redis import Redis

from fairlane.embedded.binary import find_binary
from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer

_START_S: Final = 120.0
_CONTROL_S: Final = 120.0
_DUMP: Final = "counts"
_CALLGRIND: Final = (
    "valgrind",
    "--tool=callgrind",
    "--instr-atstart=no",
    # Only while the server reads and executes requests, and while it writes replies: no timers, no waiting.
    "--toggle-collect=readQueryFromClient",
    "--toggle-collect=writeToClient",
    # ECHO begins a count and PING ends it.
    "--zero-before=echoCommand",
    "--dump-before=pingCommand",
    "--dump-line=no",
)
# Neither the time nor chance may move a count.
_SETTINGS: Final = ("--hz", "1", "--activerehashing", "no", "--hash-seed", "fairlane")


def has_valgrind() -> bool:
    """Say whether valgrind is on PATH, and the program that controls it."""
    return all(map(shutil.which, ("valgrind", "vgdb")))


def server_version() -> str:
    """Return the version of the server's binary and the kind of machine, such as ``9.1.2 on x86_64``."""
    shown = subprocess.run([find_binary().path, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    found = re.search(r"\bv=(\S+)", shown.stdout)
    return f"{found[1] if found else shown.stdout.strip()} on {platform.machine()}"


class CountingServer:
    """A running server. One count at a time: begin it, let others call the server, end it."""

    def __init__(self, server: EmbeddedServer, directory: Path) -> None:
        """``directory``: where the server, or callgrind, writes its files."""
        self._pid = server.pid
        self._directory = directory
        self._redis: Redis = Redis(unix_socket_path=os.fspath(server.address.socket), protocol=2)
        self.url = server.address.url

    def save(self) -> None:
        """Write all data into the directory, for the next server that starts there."""
        self._redis.save()

    def delete(self, keys: list[str]) -> None:
        """Delete keys."""
        self._redis.delete(*keys)

    def begin_calls(self) -> None:
        """Begin to count calls and bytes."""
        self._redis.config_resetstat()

    def end_calls(self) -> Counter[str]:
        """Return the commands that ran, in scripts and out, and the bytes of requests and replies."""
        info = self._redis.info("commandstats", "stats")
        return Counter(
            calls=sum(each["calls"] for name, each in info.items() if name.startswith("cmdstat_")),
            bytes=info["total_net_input_bytes"] + info["total_net_output_bytes"],
        )

    def instrument(self) -> None:
        """Become able to count instructions, and some 50 times slower."""
        command = ["vgdb", f"--pid={self._pid}", "instrumentation", "on"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_CONTROL_S)  # noqa: S603
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed with status {done.returncode}: {done.stderr.strip()}")
        self.begin_instructions()
        self.end_instructions()  # callgrind has not seen the beginning of what runs now, so this count is wrong

    def begin_instructions(self) -> None:
        """Begin to count instructions."""
        self._redis.echo("")

    def end_instructions(self) -> Counter[str]:
        """Return the instructions that the server executed."""
        self._redis.ping()
        (dump,) = self._directory.glob(f"{_DUMP}.*")
        found = re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)
        dump.unlink()
        if found is None or not int(found[1]):
            raise RuntimeError("callgrind counted no instruction: does the server's binary have its symbols?")
        return Counter(instructions=int(found[1]))


@contextmanager
def counting_server(directory: Path, *, callgrind: bool) -> Iterator[CountingServer]:
    """Start a server with the data that were saved in ``directory``, and stop it at the end."""
    before = (*_CALLGRIND, f"--callgrind-out-file={directory}/{_DUMP}") if callgrind else ()
    command = shlex.join([*before, os.fspath(find_binary().path)])
    program = directory / "server"
    program.write_text(f'#!/bin/sh\nexec {command} "$@" {shlex.join((*_SETTINGS, "--dir", os.fspath(directory)))}\n')
    program.chmod(0o700)
    with Guard.start() as guard, EmbeddedServer(binary=program, guard=guard, start_timeout_s=_START_S) as server:
        yield CountingServer(server, directory)
