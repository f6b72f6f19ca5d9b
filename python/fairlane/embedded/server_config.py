"""The private server's configuration file. It has only directives that both Redis 6.2 and Valkey 9 know."""

import os
from enum import StrEnum
from pathlib import Path

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=@,: ")


class Durability(StrEnum):
    """When kept data reach the disk (``appendfsync``).

    ALWAYS: before the reply. Acknowledged writes survive a crash of the process and of the machine.
    EVERYSEC: within about a second. While an fsync is slow, even a crash of the process can lose acknowledged writes.
    NO: when the operating system decides. Acknowledged writes survive a crash of the process only.
    """

    ALWAYS = "always"
    EVERYSEC = "everysec"
    NO = "no"


def render(*, directory: Path, socket: Path, log: Path, durability: Durability | None) -> bytes:
    """Return the file's content. Without ``durability`` the server writes neither AOF nor RDB to disk."""
    lines = [
        b"port 0",
        b"unixsocket " + _quote(socket),
        b"unixsocketperm 700",
        b"dir " + _quote(directory),
        b"logfile " + _quote(log),
        b"daemonize no",
        b"databases 1",
        b"timeout 0",
        b"io-threads 1",
        b'save ""',
        # A full server must refuse writes: evicting keys would lose tasks silently.
        b"maxmemory-policy noeviction",
        # The server scans small sorted sets from the front, but ours mostly grow at the back.
        b"zset-max-ziplist-entries 16",
        # Freeing a large result must not delay the next command.
        b"lazyfree-lazy-expire yes",
        b"lazyfree-lazy-server-del yes",
        b"lazyfree-lazy-user-del yes",
        # Setting a title would overwrite the environment, by which the guard recognises the server.
        b"set-proc-title no",
    ]
    if durability is None:
        lines.append(b"appendonly no")
    else:
        lines += [
            b"appendonly yes",
            b"appendfsync " + durability.encode(),
            # fsync also while the AOF is rewritten, and load an AOF whose last command a crash has cut short.
            b"no-appendfsync-on-rewrite no",
            b"aof-load-truncated yes",
        ]
    return b"\n".join(lines) + b"\n"


def _quote(path: Path) -> bytes:
    """Quote for the configuration parser. Hexadecimal escapes make newlines and quotes in a path safe."""
    return b'"' + b"".join(bytes([b]) if b in _PLAIN else b"\\x%02x" % b for b in os.fsencode(path)) + b'"'
