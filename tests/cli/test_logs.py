"""A service logs one line per record, from the chosen level up."""

import logging

import pytest

from fairlane.cli.app import run
from fairlane.cli.logs import LogLevel, shown

ours, others = logging.getLogger("fairlane.workers.members.group"), logging.getLogger("somebody.else")


def lines(level: LogLevel, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Log one record per level, by Fairlane and by another library, and return the lines."""
    with shown(level):
        for logger in (ours, others):
            for number in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
                logger.log(number, "%s tells", logging.getLevelName(number))
    captured = capsys.readouterr()
    assert captured.out == ""
    return [line.split(" ", 2)[2] for line in captured.err.splitlines()]


@pytest.mark.parametrize(
    ("level", "of_ours", "of_others"),
    [
        (LogLevel.DEBUG, ["DEBUG", "INFO", "WARNING", "ERROR"], ["WARNING", "ERROR"]),
        (LogLevel.INFO, ["INFO", "WARNING", "ERROR"], ["WARNING", "ERROR"]),
        (LogLevel.WARNING, ["WARNING", "ERROR"], ["WARNING", "ERROR"]),
        (LogLevel.ERROR, ["ERROR"], ["ERROR"]),
    ],
)
def test_the_level_decides(
    level: LogLevel, of_ours: list[str], of_others: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(level, capsys) == [
        *(f"{each} fairlane.workers.members.group: {each} tells" for each in of_ours),
        *(f"{each} somebody.else: {each} tells" for each in of_others),
    ]


def test_a_record_is_always_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(LogLevel.INFO):
        ours.info("worker %s\nended\x1b[31m", "a\rb")
        try:
            raise ValueError("first\nsecond")
        except ValueError:
            ours.exception("it failed")
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(r"fairlane.workers.members.group: worker a\rb\nended\x1b[31m")
    assert second.endswith(r"fairlane.workers.members.group: it failed: ValueError: first\nsecond")


def test_an_exception_that_is_in_the_message_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(LogLevel.INFO):
        error = ValueError("no room")
        ours.error("worker-1: %s; the process ends", error, exc_info=error)
    assert capsys.readouterr().err.count("no room") == 1


def test_other_handlers_still_get_the_exception(capsys: pytest.CaptureFixture[str], caplog) -> None:  # type: ignore[no-untyped-def]
    with shown(LogLevel.INFO):
        ours.error("it failed", exc_info=ValueError("no room"))
    assert capsys.readouterr().err.count("\n") == 1
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.getMessage() == "it failed"


def test_logging_is_as_before_afterwards() -> None:
    root, library = logging.getLogger(), logging.getLogger("fairlane")
    before = list(root.handlers), root.level, library.level
    with shown(LogLevel.DEBUG):
        assert (list(root.handlers), root.level, library.level) != before
    assert (list(root.handlers), root.level, library.level) == before


def test_an_unknown_level_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--config", "x.toml", "--provider", "a:b", "--log-level", "loud"]) == 2
    shown_error = capsys.readouterr().err
    assert shown_error.count("\n") == 1
    for word in ("--log-level", "loud", "debug", "info", "warning", "error"):
        assert word in shown_error
