"""Sends one command to a server on a unix socket, in RESP's inline form. Enough for PING and SHUTDOWN."""

import socket
from pathlib import Path


def ask(socket_path: Path, command: str, timeout_s: float) -> str:
    """Send ``command`` and return the first line of the reply; empty if the server closed the connection instead.

    Raises OSError if nothing listens yet, or if ``timeout_s`` passes without a byte. It bounds each wait; a reply of
    one short line needs one wait.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(socket_path))
        connection.sendall(command.encode() + b"\r\n")
        reply = b""
        while b"\r\n" not in reply:
            received = connection.recv(512)
            if not received:
                break
            reply += received
        return reply.split(b"\r\n", 1)[0].decode(errors="replace")
