"""The private Valkey server of one machine, and the guard process that outlives its owner.

Owns processes, sockets and directories. Knows neither the Redis client nor Ray: the server's readiness is
one raw PING, and Ray's processes are, to the guard, processes with a given environment variable.

The names are imported on first use, because the guard process imports this package too and must start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlane.embedded.binary import Binary, BinarySource, find_binary
    from fairlane.embedded.guard import Guard
    from fairlane.embedded.private_directory import create_private_directory, remove_private_directory
    from fairlane.embedded.server import EmbeddedServer, ServerAddress
    from fairlane.embedded.server_config import Durability

__all__ = [
    "Binary",
    "BinarySource",
    "Durability",
    "EmbeddedServer",
    "Guard",
    "ServerAddress",
    "create_private_directory",
    "find_binary",
    "remove_private_directory",
]

_HOME = {
    "Binary": "binary",
    "BinarySource": "binary",
    "Durability": "server_config",
    "EmbeddedServer": "server",
    "Guard": "guard",
    "ServerAddress": "server",
    "create_private_directory": "private_directory",
    "find_binary": "binary",
    "remove_private_directory": "private_directory",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
