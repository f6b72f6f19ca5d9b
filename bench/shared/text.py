"""Text that is safe inside Markdown, and tables whose source is as readable as their rendering."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from bench.shared.metrics import Percentiles

Align = Literal["left", "right"]
Facts = dict[str, str]
FAILED = "**FAILED**"

_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKUP = re.compile(r"[\\`*|\[\]~#]|(?<!\w)_|_(?!\w)")


def escape(value: object) -> str:
    """Render any text as itself: no markup, no HTML, no table cell, no terminal sequence, no spreadsheet formula."""
    text = visible(value)
    text = _MARKUP.sub(lambda found: "\\" + found.group(), text)
    text = "".join(_HTML.get(character, character) for character in text)
    return f"&#61;{text[1:]}" if text.startswith("=") else text


def visible(value: object) -> str:
    """Render any text on one line, with control characters spelled out instead of obeyed."""
    return "".join(_visible(character) for character in str(value))


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
        return f"(U+{ord(character):04X})"
    return character


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    """Show a number, or a dash for none."""
    return "–" if value is None else f"{value:,.{digits}f}{unit}"


def milliseconds(value: float | None) -> str:
    """Show a duration with about three digits, or a dash for none."""
    if value is None:
        return "–"
    return number(value, 2 if value < 10 else 1 if value < 100 else 0)


def duration(value: float | None) -> str:
    """Show milliseconds with their unit, or a dash for none."""
    return "–" if value is None else f"{milliseconds(value)} ms"


def plain(value: JsonValue) -> str:
    """Show a check's observation in one line."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case list():
            return ", ".join(plain(each) for each in value) or "none"
        case dict():
            return ", ".join(f"{key}: {plain(each)}" for key, each in value.items()) or "none"
        case _:
            return str(value)


def table(headings: Sequence[tuple[str, Align]], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table whose cells are escaped already. Every row has as many cells as there are headings."""
    widths = [
        max(3, _width(heading), *(_width(row[column]) for row in rows)) for column, (heading, _) in enumerate(headings)
    ]
    aligns = [align for _, align in headings]
    rule = ["-" * (width - 1) + (":" if align == "right" else "-") for width, align in zip(widths, aligns, strict=True)]
    lines = [[heading for heading, _ in headings], rule, *rows]
    return [
        "| "
        + " | ".join(_pad(cell, width, align) for cell, width, align in zip(line, widths, aligns, strict=True))
        + " |"
        for line in lines
    ]


def columns(facts: Sequence[tuple[str, Facts]]) -> list[str]:
    """Lay out one column per set of facts, a row for each fact that any of them has. Escapes all but ``FAILED``."""
    rows = dict.fromkeys(what for _, each in facts for what in each)
    left: Align = "left"
    return table(
        [("", left), *((escape(heading), left) for heading, _ in facts)],
        [[escape(what), *(_cell(each.get(what, "–")) for _, each in facts)] for what in rows],
    )


def latencies(rows: Mapping[str, Percentiles]) -> list[str]:
    """Lay out percentiles in milliseconds, by label."""
    return table(
        [("Milliseconds", "left"), ("p50", "right"), ("p95", "right"), ("p99", "right")],
        [
            [label, milliseconds(each.p50), milliseconds(each.p95), milliseconds(each.p99)]
            for label, each in rows.items()
        ],
    )


def _cell(text: str) -> str:
    return text if text == FAILED else escape(text)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _pad(text: str, width: int, align: Align) -> str:
    space = " " * (width - _width(text))
    return space + text if align == "right" else text + space
