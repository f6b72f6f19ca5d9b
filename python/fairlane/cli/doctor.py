"""``fairlane doctor``: whether this machine and a server can run Fairlane, and what they have."""

import platform
from importlib.metadata import PackageNotFoundError, version

import typer

from fairlane.config import ServerConfig
from fairlane.embedded.binary import find_binary
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import ConfigError, StoreError
from fairlane.store.connection import Endpoint
from fairlane.store.doctor import server_version
from fairlane.store.store import Store

_FSYNC = {
    "always": "AOF, fsync always: a crash loses no acknowledged write",
    "everysec": "AOF, fsync every second: a crash may lose the last writes",
    "no": "AOF, fsync by the operating system: a crash of the machine may lose writes",
}

_UNKNOWN = "no AOF; could not read the server's snapshot setting"


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
        info = await store.info("everything")
        kind, number = server_version(info)
        _say("kind", f"{kind} {number}")
        _say("persistence", await _persistence(store, info))
        _say("eviction", info.get("maxmemory_policy", "unknown"))
        limit = int(info.get("maxmemory", "0"))
        _say("memory", f"{info.get('used_memory_human', '?')} used, {info['maxmemory_human'] if limit else 'no limit'}")
        await store.check()
    _say("verdict", "can be used")


async def _persistence(store: Store, info: dict[str, str]) -> str:
    if info.get("aof_enabled") == "1":
        fsync = await _setting(store, "appendfsync")
        return _FSYNC.get(fsync or "", "AOF; could not read the server's fsync policy")
    save = await _setting(store, "save")
    if save:
        return f"snapshots only ({save}): a crash loses the writes since the last snapshot"
    return "none: the data are lost when the server stops" if save is not None else _UNKNOWN


async def _setting(store: Store, name: str) -> str | None:
    """Return a setting; None if the server does not let this user read it."""
    try:
        reply = await store.command("CONFIG", "GET", name)
    except StoreError:
        return None
    return reply[1].decode() if reply else None


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
