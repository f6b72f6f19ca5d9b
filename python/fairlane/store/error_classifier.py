"""Classifies failed calls: whether the command may have run, and whether trying again can help."""

import re
from dataclasses import dataclass
from typing import Final

from redis import exceptions

from fairlane.errors import StoreError, StoreUnavailable, StoreUnsuitable

_NOT_NOW: Final = (
    "LOADING",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MASTERDOWN",
    "READONLY",
    "OOM",
    "MISCONF",
    "BUSY",
    "NOREPLICAS",
)
"""Codes with which the server refuses at the first write or before: nothing was written."""
_NEVER: Final = ("NOAUTH", "WRONGPASS", "NOPERM")
_CODE: Final = re.compile(r"\b(" + "|".join((*_NOT_NOW, *_NEVER)) + r")\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """A classified failure. ``error`` is for the caller if no retry succeeds."""

    error: StoreError
    retry: bool


def classify(error: BaseException, *, sent: bool, where: str) -> Failure:
    """Classify an exception of the client library from a call to ``where`` (an address without secrets).

    ``sent``: the command may have left this process.
    """
    if isinstance(error.__cause__, exceptions.RedisError):
        error = error.__cause__  # the client library wraps errors from connecting
    text = str(error)
    if isinstance(error, exceptions.AuthenticationError | exceptions.NoPermissionError):
        return Failure(StoreUnsuitable(f"{where}: {text}", where=where), retry=False)
    if isinstance(error, exceptions.BusyLoadingError) or "max number of clients" in text:
        return Failure(StoreUnavailable(f"{where}: {text}", where=where, reason="NOT_NOW"), retry=True)
    if isinstance(error, exceptions.InvalidResponse):
        return Failure(
            StoreUnsuitable(f"{where}: the answer is not Redis's protocol; name a Redis or Valkey server", where=where),
            retry=False,
        )
    if isinstance(error, exceptions.ResponseError):
        code = code_of(error)
        if code in _NEVER:
            return Failure(StoreUnsuitable(f"{where}: {text}", where=where), retry=False)
        if code in _NOT_NOW:
            shown = text if code in text else f"{code} {text}"
            return Failure(StoreUnavailable(f"{where}: {shown}", where=where, reason=code), retry=True)
        return Failure(StoreError(f"{where}: {text}", where=where), retry=False)
    reason = text or type(error).__name__
    outcome = "" if not sent else " (the command may have run)"
    return Failure(
        StoreUnavailable(f"{where}: {reason}{outcome}", outcome_known=not sent, where=where),
        retry=True,
    )


def code_of(error: exceptions.ResponseError) -> str:
    """Return the server's code: an attribute of the error, or part of its text if a script met the error."""
    code = getattr(error, "status_code", None)
    if code in {*_NOT_NOW, *_NEVER}:
        return str(code)
    found = _CODE.search(str(error))
    return found[1] if found else ""
