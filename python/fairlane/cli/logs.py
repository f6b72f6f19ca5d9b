"""Shows log records on standard error, one line each, while a command runs as a service."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from fairlane.cli.formatting import one_line

_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class LogLevel(StrEnum):
    """The lowest level of the records that are shown."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def number(self) -> int:
        """The logging module's number."""
        return int(logging.getLevelNamesMapping()[self.value.upper()])


class OneLine(logging.Formatter):
    """Formats a record as one line. An exception is its class and text, without the traceback."""

    def __init__(self) -> None:
        super().__init__(_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        record = logging.makeLogRecord(record.__dict__)
        error = record.exc_info[1] if record.exc_info else None
        record.msg, record.args = record.getMessage(), None
        if error is not None and str(error) not in record.msg:
            record.msg = f"{record.msg}: {type(error).__name__}: {error}"
        record.msg = one_line(record.msg)
        record.exc_info = record.exc_text = record.stack_info = None
        return super().format(record)


@contextmanager
def shown(level: LogLevel) -> Iterator[None]:
    """For the block, show Fairlane's records from ``level`` up, and other libraries' from warnings up at least."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    root, ours = logging.getLogger(), logging.getLogger("fairlane")
    before = root.level, ours.level
    root.addHandler(handler)
    root.setLevel(max(level.number, logging.WARNING))
    ours.setLevel(level.number)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        ours.setLevel(before[1])
