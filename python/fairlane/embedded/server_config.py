"""The configuration file of the private server: only directives that Redis 6.2 and Valkey 9 both know."""

import os
from enum import StrEnum
from pathlib import Path

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=@,: ")


class Durability(StrEnum):
    """When kept data reaches the disk (``appendfsync``).

    ALWAYS: before the reply; survives the death of the process and of the machine.
    EVERYSEC: within about a second; while an fsync is slow, even the death of the process can lose
        acknowledged writes.
    NO: when the operating system likes; survives the death of the process only.
    """

    ALWAYS = "always"
    EVERYSEC = "everysec"
    NO = "no"


def render(*, directory: Path, socket: Path, log: Path, durability: Durability | None) -> bytes:
    """Return the file's content. Without ``durability`` nothing is written to disk: neither AOF nor RDB."""
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
        # A full server must refuse writes: evicting a key would silently lose tasks.
        b"maxmemory-policy noeviction",
        # Small sorted sets are lists that are walked from the front; ours mostly grow at the back.
        b"zset-max-ziplist-entries 16",
        # Freeing a large result must not hold up the next command.
        b"lazyfree-lazy-expire yes",
        b"lazyfree-lazy-server-del yes",
        b"lazyfree-lazy-user-del yes",
        # The title would be written over the environment, by which the guard recognises the server.
        b"set-proc-title no",
    ]
    if durability is None:
        lines.append(b"appendonly no")
    else:
        lines += [
            b"appendonly yes",
            b"appendfsync " + durability.encode(),
            # Also while the AOF is being rewritten, and with a last command cut short by a crash.
            b"no-appendfsync-on-rewrite no",
            b"aof-load-truncated yes",
        ]
    return b"\n".join(lines) + b"\n"


def _quote(path: Path) -> bytes:
    """Quote for the configuration parser; its hexadecimal escapes make newlines and quotes in a path safe."""
    return b'"' + b"".join(bytes([b]) if b in _PLAIN else b"\\x%02x" % b for b in os.fsencode(path)) + b'"'
