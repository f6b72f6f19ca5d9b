"""Where the numbers are taken, and whether they may be taken here at all."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import bench
from bench.results import CoreFacts, Environment, ServerFacts
from fairlane import _core
from fairlane.errors import ConfigError
from fairlane.runtime.dashboard import check_installed
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store


def check_place() -> None:
    """Refuse to run anywhere but in the repository's root: workers import the benchmark from there.

    Raises:
        ConfigError: naming the directory to go to.
    """
    root = Path(bench.__file__).resolve().parents[1]
    if Path.cwd().resolve() != root:
        raise ConfigError(f"run the benchmark from the repository's root: cd {root}")


def check_core() -> None:
    """Refuse a native core built for debugging: its speed says nothing.

    Raises:
        ConfigError: naming the file and how to rebuild it.
    """
    if _core.build_profile() != "release":
        raise ConfigError(
            f"the native core {_core.__file__} is a {_core.build_profile()} build; run `maturin develop --release`"
        )


def check_dashboard() -> None:
    """Refuse ``--dashboard`` without the packages that Ray's dashboard needs.

    Raises:
        ConfigError: saying what to install.
    """
    check_installed("--dashboard")


def check_out(directory: Path) -> None:
    """Make the directory for the report and check that it is writable.

    Raises:
        ConfigError: naming the directory and what is wrong with it.
    """
    probe = directory / ".writable"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"--out {directory}: {error.strerror}") from None


async def describe(endpoint: Endpoint) -> Environment:
    """Return the facts. Asks the server for its kind and version."""
    async with Store(endpoint, "bench-environment") as store:
        server = await store.server()
    return Environment(
        python=platform.python_version(),
        ray=_version("ray"),
        server=ServerFacts(name=server.kind, version=server.version),
        fairlane=_core.version(),
        core=CoreFacts(path=_core_path(), profile=_core.build_profile()),
        cpus=len(os.sched_getaffinity(0)),
        git=_git(),
    )


def _core_path() -> str:
    path = Path(_core.__file__).resolve()
    root = Path(bench.__file__).resolve().parents[1]
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _git() -> str:
    """Return the commit, marked if the files differ from it; `unknown` outside a clone."""
    try:
        commit = _run_git("rev-parse", "--short=12", "HEAD")
        return f"{commit}-modified" if _run_git("status", "--porcelain") else commit
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _run_git(*arguments: str) -> str:
    root = Path(bench.__file__).resolve().parents[1]
    done = subprocess.run(  # noqa: S603 - fixed arguments
        ["git", "-C", str(root), *arguments],  # noqa: S607 - the git on PATH
        capture_output=True,
        check=True,
        text=True,
        timeout=10,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.strip()
