"""The pages are correct: their commands exist, their program runs, and their links and paths lead to files."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fairlane.cli.app import run
from fairlane.config import REDIS_URL_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    (make [^\n#]*|python -m [^\n#]*|maturin [^\n#]*)", re.MULTILINE)
_GROUPS = {"tenants"}
"""Commands with subcommands."""
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
[_VENV] = re.findall(r"^VENV\s*:=\s*(\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
PARTS = (
    "python/fairlane",
    "python/fairlane/store",
    "python/fairlane/store/lua",
    "python/fairlane/workers/transports",
    "tests/support",
    "tests/workers",
)
"""Where a page's paths may begin, besides the root."""
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def _commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [line[2:] for kind, body in _FENCE.findall(text) if kind == "console" for line in body.splitlines()]
        lines += _INDENTED.findall(text)
        found += [(page.name, line.split("#")[0].strip()) for line in lines]
    return found


def _run(*command: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT)])}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )


def test_there_are_commands_to_check() -> None:
    pages = {page for page, _ in _commands()}
    assert {"README.md", "CONTRIBUTING.md"} <= pages


@pytest.mark.parametrize(("page", "command"), _commands(), ids=lambda value: value.replace(" ", "-"))
def test_every_command_of_the_pages_exists(page: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = command.split()
    if words[0] == "make":
        done = _run("make", "--dry-run", words[1])
        assert done.returncode == 0, f"{page}: {done.stderr}"
    elif words[0] == "fairlane":
        name = words[1:3] if words[1] in _GROUPS else words[1:2]
        code, shown = run([*name, "--help"]), capsys.readouterr()
        assert code == 0, f"{page}: {shown.err}"
        for option in (word for word in words if word.startswith("--")):
            assert option in shown.out, f"{page}: {' '.join(name)} has no {option}"
    elif words[:2] == ["pip", "install"]:
        extras = re.fullmatch(r"\.(?:\[(\w+)\])?", words[2].strip("'"))
        assert extras, f"{page}: {words[2]} is not this clone"
        assert extras[1] is None or extras[1] in _PROJECT["optional-dependencies"]
    elif words[0] == ".":
        assert words[1] == f"{_VENV}/bin/activate", f"{page}: `make setup` makes {_VENV}"
    elif words[0] == "export":
        assert words[1].partition("=")[0] == REDIS_URL_VARIABLE, f"{page}: nothing reads {words[1]}"
    elif words[:2] == ["python", "-m"]:
        name = words[2:4] if words[2:4] == ["bench", "peers"] else words[2:3]
        done = _run(sys.executable, "-m", *name, "--help")
        assert done.returncode == 0, f"{page}: {done.stderr}"
        for option in (word for word in words if word.startswith("--")):
            assert option in done.stdout, f"{page}: {' '.join(name)} has no {option}"
    else:
        assert words[0] == "maturin", f"{page}: nothing checks {command!r}"
        assert words[1] in _run(sys.executable, "-m", "maturin", "--help").stdout


def test_the_doctor_of_the_readme_succeeds_on_this_machine() -> None:
    done = _run(sys.executable, "-m", "fairlane.cli", "doctor")
    assert done.returncode == 0, done.stderr
    assert "valkey" in done.stdout.lower()


@pytest.mark.ray
def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    [program] = [body for kind, body in _FENCE.findall((ROOT / "README.md").read_text()) if kind == "python"]
    path = tmp_path / "readme_program.py"
    path.write_text(program)
    done = _run(sys.executable, str(path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines == ["{'words': 5}", "100 results", "cancel: cancelled - state: cancelled"]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_path_on_the_page_exists(page: str) -> None:
    paths = re.findall(r"`([\w./]+(?:/|\.(?:py|lua|rs|md|toml|yaml|lock)))`", (ROOT / page).read_text(encoding="utf-8"))
    places = [ROOT, *(ROOT / place for place in PARTS)]
    assert paths
    assert [path for path in paths if not any((place / path).exists() for place in places)] == []


def test_the_tree_of_the_architecture_is_the_package() -> None:
    tree = (
        (ROOT / "ARCHITECTURE.md")
        .read_text(encoding="utf-8")
        .partition("\npython/fairlane/\n")[2]
        .partition("bench/")[0]
    )
    parts = {path.name + "/" * path.is_dir() for path in (ROOT / "python" / "fairlane").iterdir()}
    assert set(re.findall(r"^  (\S+)", tree, re.MULTILINE)) == {
        name for name in parts if re.fullmatch(r"[a-z]\w*(/|\.py)", name)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
