"""The commands below "Run it" work together: they use the same server, scheduler and file."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairlane.config import REDIS_URL_VARIABLE
from fairlane.embedded.server import EmbeddedServer
from tools.docs.example import EXAMPLE

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
URL = "redis://127.0.0.1:6379"
LIMIT_S = 120


def _commands() -> list[str]:
    section = README.partition("\n## Run it\n")[2].partition("\n## ")[0]
    [block] = re.findall(r"^```console\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for line in block.splitlines()]


def test_the_commands_and_the_file_use_the_server_of_compose_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    [service] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].values()
    assert service["ports"] == [f"{URL.removeprefix('redis://')}:6379"]
    assert _commands()[0] == f"export {REDIS_URL_VARIABLE}={URL}"
    assert f'url = "{URL}"' in EXAMPLE


@pytest.mark.ray
def test_the_commands_run_in_order(server: EmbeddedServer, tmp_path: Path) -> None:
    url = server.address.url
    (tmp_path / "fairlane.toml").write_text(EXAMPLE.replace(URL, url))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    export, doctor, serve, status = (command.replace(URL, url) for command in _commands())
    name, _, environment[name] = export.removeprefix("export ").partition("=")

    def start(command: str) -> subprocess.Popen[str]:
        program, *arguments = shlex.split(command)
        assert program == "fairlane"
        return subprocess.Popen(
            [sys.executable, "-m", "fairlane.cli", *arguments],
            cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(command: str) -> str:
        process = start(command)
        output, errors = process.communicate(timeout=LIMIT_S)
        assert (process.returncode, errors) == (0, "")
        return output

    assert "can be used" in run(doctor)
    serving = start(serve)
    try:
        assert serving.stdout is not None
        ready = serving.stdout.readline()
        shown = run(status) if ready else ""
    finally:
        serving.send_signal(signal.SIGTERM)
        _, errors = serving.communicate(timeout=LIMIT_S)
    assert (serving.returncode, "scheduler default is ready" in ready) == (0, True), errors
    assert "acme" in shown
    assert "globex" in shown
    assert "32 of 32 slots" in shown
