"""The server: whether Fairlane can use it, and a report on it."""

from dataclasses import dataclass
from typing import Any, Final

from fairlane.errors import StoreError, StoreUnavailable, StoreUnsuitable
from fairlane.store.connection import Command, Connector
from fairlane.store.keys import Keys

OLDEST_VERSION: Final = (6, 2)
_PROBE: Final = "redis.call('SET', KEYS[1], '1', 'PX', 1000) return 1"


def parse_info(reply: bytes) -> dict[str, str]:
    """Parse INFO's text into fields."""
    lines = (line for line in reply.decode("utf-8", "replace").splitlines() if ":" in line)
    return dict(line.split(":", 1) for line in lines)


def server_version(info: dict[str, str]) -> tuple[str, str]:
    """Return the server's kind and version. Valkey reports 7.2.4 as ``redis_version`` and its own version elsewhere."""
    if "valkey_version" in info:
        return "valkey", info["valkey_version"]
    return info.get("server_name", "redis"), info.get("redis_version", "0")


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A server's facts. None: the server, or this user's permissions, did not let them be read."""

    kind: str
    """``valkey`` or ``redis``."""
    version: str
    append_only: bool
    fsync: str | None
    """The append-only file's policy: ``always``, ``everysec`` or ``no``."""
    snapshots: str | None
    """When the server saves snapshots, as its setting ``save`` says; "": never."""
    eviction: str
    memory_used: str
    memory_limit: str | None
    """None: no limit."""


def report(info: dict[str, str], fsync: str | None, snapshots: str | None) -> ServerReport:
    """Return the report that INFO's fields and two settings make."""
    kind, version = server_version(info)
    return ServerReport(
        kind=kind,
        version=version,
        append_only=info.get("aof_enabled") == "1",
        fsync=fsync,
        snapshots=snapshots,
        eviction=info.get("maxmemory_policy", "unknown"),
        memory_used=info.get("used_memory_human", "?"),
        memory_limit=info["maxmemory_human"] if int(info.get("maxmemory", "0")) else None,
    )


def _unsuitable(where: str, problem: str) -> StoreUnsuitable:
    return StoreUnsuitable(f"{where}: {problem}", where=where)


async def check(connector: Connector, keys: Keys) -> None:
    """Raise StoreUnsuitable, naming the problem and the requirement, if Fairlane cannot use the server."""
    where = connector.endpoint.shown
    info = parse_info(await _run(connector, ("INFO",)))
    version = info.get("redis_version", "0")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_VERSION:
        raise _unsuitable(where, f"server version {version} is too old; 6.2 or newer is needed")
    if info.get("role") in {"slave", "replica"}:
        raise _unsuitable(where, "it is a read-only replica; name the primary instead")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise _unsuitable(where, f"maxmemory-policy is {policy} and would evict tasks; set it to noeviction")
    try:
        await _run(connector, ("EVAL", _PROBE, 1, keys.key("bell", "probe")))
    except StoreUnavailable:
        raise
    except StoreError as error:
        raise _unsuitable(where, f"scripts that write cannot run: {error.message}") from None


async def _run(connector: Connector, command: Command) -> Any:  # noqa: ANN401 - the command decides
    (reply,) = await connector.run([command], lambda _error: [])
    return reply
