"""No tracked file uses a name that was replaced. CHANGELOG.md may, because it records the history."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OLD_NAMES = (
    "fairlane.pool",
    "fairlane/pool",
    "PoolError",
    "PoolErrorCode",
    "POOL_ERROR_CODES",
    "PoolEvent",
    "PoolEventKind",
    "Caretaker",
    "caretaker",
    "pool.md",
    "tests/pool",
    "lifecycle/execute",
    "lifecycle.execute",
    "lifecycle/dispatch.py",
    "lifecycle.dispatch",
    "lifecycle/recover",
    "lifecycle.recover",
    "cli/words",
    "cli.words",
    "store/calls",
    "store.calls",
    "store/failures",
    "store.failures",
    "store/heart",
    "store.heart",
    "store/doctor",
    "store.doctor",
    "store/schema_doc",
    "store.schema_doc",
    "audit/state",
    "audit.state",
    "config/page",
    "config.page",
    "config/example",
    "config.example",
    "telemetry/page",
    "telemetry.page",
    "RoleWatch",
    "role_watch",
    "RoleThread",
    "WorkerRole",
    "DispatcherRole",
    "ControllerRole",
    "WorkerActor",
    "WorkerMember",
    "runtime/fleet",
    "runtime.fleet",
    "FullJitter",
    "full_jitter",
)
"""To retire a name, add it here. Only whole words match: `fairlane.pool` does not match `fairlane.pooling`."""
_PATTERN = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, OLD_NAMES))})(?!\w)")
EXEMPT = {"CHANGELOG.md", "tests/docs/test_names.py"}


def _old_names_in(text: str) -> list[str]:
    return sorted(set(_PATTERN.findall(text)))


def _tracked_files() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if listed.returncode != 0 or not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout")
    paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def test_the_search_finds_whole_names_only() -> None:
    assert _old_names_in("import fairlane.pool\nraise PoolError(x)") == ["PoolError", "fairlane.pool"]
    assert _old_names_in("from fairlane.pool.errors import PoolErrors") == ["fairlane.pool"]
    assert _old_names_in("lifecycle.dispatcher, fairlane.pooling, WorkerError") == []


def test_no_tracked_file_uses_an_old_name() -> None:
    files = _tracked_files()
    assert len(files) > len(EXEMPT)
    found = {}
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        old = _old_names_in(name) + _old_names_in(path.read_text(encoding="utf-8", errors="replace"))
        if old and name not in EXEMPT:
            found[name] = old
    assert found == {}
