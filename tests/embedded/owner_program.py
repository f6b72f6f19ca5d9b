"""The process that the guard tests kill. It prints the processes it started, then reads one command line.

Arguments: the marker value, and the directory for kept data. Commands: `close` stops everything; any other line exits.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fairlane.embedded.guard import Guard
from fairlane.embedded.private_directory import create_private_directory
from fairlane.embedded.server import EmbeddedServer

NAME = "FAIRLANE_TEST_SESSION"
SLEEP = "print(flush=True); import time; time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP
OPEN = "import sys; file = open(*sys.argv[1:3]); " + SLEEP


def run(program: str, *arguments: object, marker: str | None, session: bool = False, close_fds: bool = True) -> int:
    environment = {name: value for name, value in os.environ.items() if name != NAME}
    if marker is not None:
        environment[NAME] = marker
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=session,
        close_fds=close_fds,
    )
    process.stdout.readline()
    return process.pid


def forked() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    return child


def main() -> None:
    marker, data = sys.argv[1], Path(sys.argv[2])
    guard = Guard.start()
    guard.watch_marker(NAME, marker)
    directory = create_private_directory()
    guard.watch_directory(directory)
    (directory / "log").touch()
    thrown_away = EmbeddedServer(guard=guard)
    kept = EmbeddedServer(data, guard=guard)
    temporary = [directory, thrown_away.start().socket.parent]
    kept.start()
    os.kill(kept.pid, signal.SIGKILL)
    kept.restart()
    report = {
        "guard": guard.pid,
        "doomed": {
            "thrown_away": thrown_away.pid,
            "kept": kept.pid,
            "marked": run(SLEEP, marker=marker),
            "stubborn": run(STUBBORN, marker=marker, session=True),
            "writer": run(OPEN, directory / "log", "a", marker=None, session=True),
        },
        "spared": {
            "other_value": run(SLEEP, marker=marker + "0"),
            "reader": run(OPEN, directory / "log", "r", marker=None),
            "inherits_everything": run(SLEEP, marker=None, close_fds=False),
            "forked": forked(),
        },
        "temporary": [str(path) for path in temporary],
    }
    print(json.dumps(report), flush=True)
    if sys.stdin.readline() == "close\n":
        kept.stop()
        thrown_away.stop()
        guard.close()
        guard.close()
        print("closed", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
