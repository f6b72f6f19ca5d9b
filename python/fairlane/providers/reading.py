"""Reads what a provider returned or raised. Nothing here fails, whatever the provider's object does when it is read."""

import operator
import re
from typing import Final

from fairlane.domain.limits import MAX_COST

_CODE: Final = re.compile(r"[!-~]{1,64}", re.ASCII)
_UNREADABLE: Final = object()


def attribute(thing: object, name: str) -> object:
    """Return an attribute; None if there is none. If reading it raises, return an object that fits no type."""
    try:
        return getattr(thing, name, None)
    except BaseException:
        return _UNREADABLE


def whole_units(value: object) -> int | None:
    """Return a number of units, 0 to 2^40: any integral number, such as 12.0 or NumPy's; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        units = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)  # type: ignore[arg-type]
    except BaseException:
        return None
    return units if 0 <= units <= MAX_COST else None


def code_of(error: object, default: str) -> str:
    """Return an error's code if it is 1 to 64 characters of printable ASCII without spaces, else ``default``."""
    code = attribute(error, "code")
    return str(code) if type(code) is str and _CODE.fullmatch(code) else default


def text_of(error: object) -> str:
    """Return an error's text; a note that it has none if it cannot be read."""
    try:
        text = str(error)
    except BaseException:
        return "its text cannot be read"
    return text if type(text) is str else "its text cannot be read"
