"""Formats values for the commands' tables and lines."""

from datetime import UTC, datetime


def amount(used: int, limit: int | None) -> str:
    """Show how much is used, and of how much if there is a limit."""
    return str(used) if limit is None else f"{used} of {limit}"


def units(value: float) -> str:
    """Show an amount in whole units."""
    return str(round(value))


def instant(at_ms: int | None) -> str:
    """Show a server time in UTC; None: never."""
    if at_ms is None:
        return "never"
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def one_line(text: str) -> str:
    """Escape characters that would end the line or move the cursor."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
