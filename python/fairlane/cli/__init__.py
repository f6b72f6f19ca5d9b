"""The command line. Each error is one plain line on standard error, never a traceback."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit: 0 success, 1 error, 2 wrong use, 130 interrupted."""
    try:
        from fairlane.cli.app import run  # noqa: PLC0415 - Ctrl-C may come while it is being imported

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("fairlane: interrupted\n")
        code = 130
    sys.exit(code)
