"""One command to a server on a unix socket, in the inline form of RESP: enough for PING and SHUTDOWN."""

import socket
from pathlib import Path


def ask(socket_path: Path, command: str, timeout_s: float) -> str:
    """Send ``command`` and return the first line of the reply, empty if the server hung up instead.

    Raises OSError: nobody listens (yet), or ``timeout_s`` passed without a byte. It bounds each wait, and a
    reply of one short line needs one.
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
