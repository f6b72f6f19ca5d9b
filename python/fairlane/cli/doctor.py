"""``fairlane doctor``: whether this machine and a server can run Fairlane, and what they have."""

import platform
from importlib.metadata import PackageNotFoundError, version

import typer

from fairlane.config import ServerConfig
from fairlane.embedded.binary import find_binary
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import ConfigError
from fairlane.store.connection import Endpoint
from fairlane.store.server_check import ServerReport
from fairlane.store.store import Store

_FSYNC = {
    "always": "AOF, fsync always: a crash loses no acknowledged write",
    "everysec": "AOF, fsync every second: a crash may lose the last writes",
    "no": "AOF, fsync by the operating system: a crash of the machine may lose writes",
}


async def report(config: ServerConfig) -> None:
    """Print the report.

    Raises:
        StoreError: the server cannot be used. The lines about this machine are printed before.
        EmbeddedServerError: there is no URL, and no embedded server could be started.
        ConfigError: the Rust core is missing.
    """
    _say("python", platform.python_version())
    _say("fairlane", _installed("fairlane", "not installed, running from source"))
    _say("core", _core())
    _say("ray", _installed("ray", "not installed"))
    if config.url is not None:
        await _server(Endpoint(config.url, config.call_timeout_ms, config.connections))
        return
    found = find_binary(config.binary)
    _say("binary", f"{found.path} ({found.source})")
    with EmbeddedServer(binary=config.binary) as server:
        await _server(Endpoint(server.address.url), note=" (embedded, started for this report)")


async def _server(endpoint: Endpoint, note: str = "") -> None:
    _say("server", endpoint.checked().shown + note)
    async with Store(endpoint, "doctor") as store:
        server = await store.server()
        _say("kind", f"{server.kind} {server.version}")
        _say("persistence", _persistence(server))
        _say("eviction", server.eviction)
        _say("memory", f"{server.memory_used} used, {server.memory_limit or 'no limit'}")
        await store.check()
    _say("verdict", "can be used")


def _persistence(server: ServerReport) -> str:
    if server.append_only:
        return _FSYNC.get(server.fsync or "", "AOF; could not read the server's fsync setting")
    if server.snapshots:
        return f"snapshots only ({server.snapshots}): a crash loses the writes since the last snapshot"
    if server.snapshots is None:
        return "no AOF; could not read the server's snapshot setting"
    return "none: the data are lost when the server stops"


def _core() -> str:
    try:
        from fairlane import _core  # noqa: PLC0415 - its absence is a finding
    except ImportError as error:
        raise ConfigError(f"the Rust core cannot be loaded: {error}; build it with maturin develop") from None
    return f"{_core.version()}, {_core.build_profile()} build, {_core.__file__}"


def _installed(package: str, otherwise: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return otherwise


def _say(what: str, found: str) -> None:
    typer.echo(f"{what:<12} {found}")
