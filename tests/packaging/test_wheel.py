"""The wheel has every source, script, stub and marker of the library, and nothing else."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel as an installer would get it."""
    out = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "maturin", "build", "--quiet", "--out", str(out)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [path] = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_source_file(wheel: zipfile.ZipFile) -> None:
    wanted = {
        str(path.relative_to(PACKAGE))
        for pattern in ("*.py", "*.pyi", "*.lua", "py.typed")
        for path in PACKAGE.rglob(pattern)
    }
    assert {
        "fairlane/py.typed",
        "fairlane/__init__.pyi",
        "fairlane/_core.pyi",
        "fairlane/store/lua/dispatch.lua",
    } <= wanted
    assert wanted <= set(wheel.namelist())


def test_the_wheel_holds_the_library_only(wheel: zipfile.ZipFile) -> None:
    """It has neither the benchmark nor the generators of docs/, wherever in the tree they are."""
    assert {name.partition("/")[0].partition("-")[0] for name in wheel.namelist()} == {"fairlane"}
    generators = [path for path in (ROOT / "tools" / "docs").glob("*.py") if "def render" in path.read_text()]
    assert {path.stem for path in generators} == {
        "configuration",
        "peers",
        "performance",
        "redis_schema",
        "telemetry",
    }
    sources = [wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".py")]
    for title in ("# Configuration", "# What a task costs the server", "# What Fairlane stores", "# Metrics and spans"):
        assert any(title in path.read_text() for path in generators)
        assert not any(title in source for source in sources)


def test_the_wheel_holds_the_core_for_any_later_python(wheel: zipfile.ZipFile) -> None:
    assert [name for name in wheel.namelist() if name.startswith("fairlane/_core.abi3")]


def test_the_wheel_says_its_version_and_licence(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = wheel.read(name).decode()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert f"\nVersion: {version}\n" in metadata
    assert any(name.endswith("LICENSE") for name in wheel.namelist())


def test_no_dependency_group_is_called_dev() -> None:
    """An older pip would then break `maturin develop`."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert "dev" not in groups
