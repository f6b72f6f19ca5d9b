"""Errors, inputs and outputs whose own code fails when it is used."""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from tests.support.worker_work import Unspeakable


class Untold(Unspeakable):
    """Cannot be shown, and cannot be unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class Endless(Exception):
    """Recurses endlessly: it looks up every missing attribute in another missing attribute."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class NoError(Exception):
    """Pickles to a text instead of an exception."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (str, ("a text",))


class NoNotes(Exception):
    """Refuses notes."""

    def add_note(self, note: str, /) -> None:
        """See BaseException."""
        raise RuntimeError(note)


class Quit(BaseException):
    """Not an Exception, and cannot be shown."""

    __repr__ = Unspeakable.__repr__


class Remade(Exception):
    """Ends the program when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (sys.exit, (3,))


ERRORS: dict[str, Callable[[], BaseException]] = {
    "unspeakable": lambda: Unspeakable("x"),
    "untold": lambda: Untold("x", "y"),
    "endless": lambda: Endless("x"),
    "no-error": lambda: NoError("x"),
    "no-notes": lambda: NoNotes("x"),
    "quit": lambda: Quit("x"),
    "remade": lambda: Remade("x"),
}


def raise_named(name: str) -> None:
    raise ERRORS[name]()


async def raise_named_async(name: str) -> None:
    raise ERRORS[name]()


class Unloadable:
    """An input that pickles, and raises a given error when it is loaded."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return (_raise_loading, (self.name,))


LOADING: dict[str, BaseException] = {
    "surrogate": ValueError("file \udcff is missing"),
    "unspeakable": Unspeakable("x"),
    "exit": SystemExit(3),
    "cancelled": asyncio.CancelledError(),
}


def _raise_loading(name: str) -> None:
    raise LOADING[name]


class Unpicklable:
    """An input whose pickling raises an error that cannot be shown."""

    def __reduce__(self) -> tuple[Any, ...]:
        raise Unspeakable("x")


def take(_: object) -> int:
    return os.getpid()
