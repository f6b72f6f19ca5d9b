"""``python -m bench``: the command line. Ctrl-C or SIGTERM ends it with one line at any moment."""

import os
import signal
import sys
from types import FrameType


def _quit_at_once(number: int, frame: FrameType | None) -> None:
    """End while there is nothing yet to clean up: imports take a second."""
    del frame
    os.write(2, b"interrupted\n")
    os._exit(128 + number)


def main() -> int:
    """Run the command line and return the exit code."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, _quit_at_once)
    from bench.cli import run  # noqa: PLC0415 - after the handler, since this import takes long

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
