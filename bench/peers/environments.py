"""The throw-away environments of the queues: made on demand, with pinned versions, and kept in a cache folder."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.peers.roster import ADAPTERS, Peer
from bench.shared.text import visible

ROOT: Final = Path(__file__).resolve().parents[2]
_ADAPTERS: Final = Path(__file__).with_name("adapters")
_STAMP: Final = "installed.txt"
_INSTALL_S: Final = 600.0


class NotAvailable(Exception):
    """A queue cannot be had here; the message says why in one line."""


@dataclass(frozen=True)
class Environment:
    """Where one queue's programs are."""

    peer: Peer
    directory: Path

    def command_of_worker(self) -> list[str]:
        """Return the command that runs one worker."""
        program, *rest = self.peer.worker.split()
        if self.peer.node:
            return [program, *(str(_ADAPTERS / each) for each in rest)]
        return [self._program(program), *rest]

    def command_of_client(self) -> list[str]:
        """Return the command that runs the client's process."""
        if self.peer.node:
            return ["node", str(_ADAPTERS / f"{self.peer.key}_driver.mjs")]
        return [self._program("python"), "-m", f"{ADAPTERS}.driving", f"{ADAPTERS}.{self.peer.key}"]

    @property
    def working_directory(self) -> Path:
        """Where the commands run: node looks for packages there."""
        return self.directory if self.peer.node else ROOT

    def _program(self, name: str) -> str:
        return str(self.directory / "bin" / name) if self.peer.packages else sys.executable


def prepare(peer: Peer, cache: Path) -> Environment:
    """Return the queue's environment; make it if it is not there with exactly these versions.

    Raises:
        NotAvailable: it cannot run on this server, its programs are missing, or its packages cannot be installed.
    """
    if peer.cannot:
        raise NotAvailable(peer.cannot)
    directory = (cache / peer.key).absolute()
    environment = Environment(peer, directory)
    if not peer.packages:
        return environment
    for program in ("node", "npm") if peer.node else ():
        if shutil.which(program) is None:
            raise NotAvailable(f"{program} is not on PATH")
    stamp = directory / _STAMP
    wanted = "\n".join([*peer.packages, *([] if peer.node else [sys.version])])
    if not (stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        if peer.node:
            _run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *peer.packages], directory)
        else:
            _run([sys.executable, "-m", "venv", str(directory)], directory)
            pip = str(directory / "bin" / "pip")
            _run([pip, "install", "--quiet", "--no-input", "--disable-pip-version-check", *peer.packages], directory)
        stamp.write_text(wanted)
    return environment


def _run(command: list[str], directory: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - pinned packages by the registries' ordinary clients
            command,
            cwd=directory,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALL_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAvailable(visible(error)) from error
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        said = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no output")
        raise NotAvailable(f"{Path(command[0]).name} ended with status {done.returncode}: {visible(said)[:200]}")
