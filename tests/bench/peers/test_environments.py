"""An environment is made once for each set of versions; a queue that cannot be had has one line that says why."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.peers import environments
from bench.peers.environments import NotAvailable, prepare
from bench.peers.roster import FAIRLANE, PEERS
from tests.bench.peers.samples import BULLMQ

ARQ = next(each for each in PEERS if each.key == "arq")


class Installer:
    """Stands for pip and npm: keeps the commands, and ends them as it is set to."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.status, self.stderr = 0, ""

    def run(self, command, **_) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        return subprocess.CompletedProcess(command, self.status, "", self.stderr)


@pytest.fixture
def installer(monkeypatch) -> Installer:
    found = Installer()
    monkeypatch.setattr(environments.subprocess, "run", found.run)
    monkeypatch.setattr(environments.shutil, "which", lambda name: f"/bin/{name}")
    return found


def test_fairlane_needs_no_environment(installer, tmp_path):
    environment = prepare(FAIRLANE, tmp_path)
    assert installer.commands == []
    assert environment.command_of_worker() == [sys.executable, "-m", "bench.peers.adapters.fairlane"]
    assert environment.command_of_client()[0] == sys.executable


def test_a_python_queue_gets_its_pinned_packages_in_its_own_venv(installer, tmp_path):
    environment = prepare(ARQ, tmp_path)
    venv, pip = installer.commands
    assert venv == [sys.executable, "-m", "venv", str(tmp_path / "arq")]
    assert {*ARQ.packages} < {*pip}
    assert environment.command_of_worker()[0] == str(tmp_path / "arq" / "bin" / "arq")
    assert environment.command_of_client()[0] == str(tmp_path / "arq" / "bin" / "python")


def test_a_node_queue_runs_its_scripts_where_its_packages_are(installer, tmp_path):
    environment = prepare(BULLMQ, tmp_path)
    [npm] = installer.commands
    assert npm[:2] == ["npm", "install"]
    assert {*BULLMQ.packages} < {*npm}
    assert environment.working_directory == tmp_path / "bullmq"
    for command in (environment.command_of_worker(), environment.command_of_client()):
        assert command[0] == "node"
        assert Path(command[1]).is_file()


def test_it_is_made_once_and_again_for_other_versions(installer, tmp_path):
    prepare(BULLMQ, tmp_path)
    prepare(BULLMQ, tmp_path)
    assert len(installer.commands) == 1
    prepare(replace(BULLMQ, packages=("bullmq@7.0.0",)), tmp_path)
    assert len(installer.commands) == 2


def test_a_registry_out_of_reach_is_one_line_and_leaves_no_finished_environment(installer, tmp_path):
    installer.status, installer.stderr = 1, "npm warn old\nnpm error code ENOTFOUND\nnpm error network\n"
    with pytest.raises(NotAvailable) as refused:
        prepare(BULLMQ, tmp_path)
    assert str(refused.value) == "npm ended with status 1: npm error code ENOTFOUND"
    installer.status = 0
    prepare(BULLMQ, tmp_path)
    assert len(installer.commands) == 2


def test_no_node_is_one_line(installer, monkeypatch, tmp_path):
    monkeypatch.setattr(environments.shutil, "which", lambda _: None)
    with pytest.raises(NotAvailable, match=r"^node is not on PATH$"):
        prepare(BULLMQ, tmp_path)


def test_a_queue_that_the_server_cannot_serve_is_not_installed(installer, tmp_path):
    with pytest.raises(NotAvailable, match="IDMP"):
        prepare(next(each for each in PEERS if each.key == "chasquimq"), tmp_path)
    assert installer.commands == []


def test_every_python_queue_has_an_adapter_with_a_client():
    folder = Path(environments.__file__).with_name("adapters")
    for each in PEERS:
        if not each.node and not each.cannot:
            assert "class Client:" in (folder / f"{each.key}.py").read_text()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH")
@pytest.mark.parametrize("script", ["bullmq_worker.mjs", "bullmq_driver.mjs"])
def test_the_scripts_for_node_parse(script):
    path = Path(environments.__file__).with_name("adapters") / script
    subprocess.run(["node", "--check", str(path)], check=True, timeout=30)
