"""Methods derived from a method of another class: the same parameters and docstring, written once.

`of_client` gives a scheduler a method of its client. `blocking` gives a class for synchronous code a coroutine method
of its asynchronous counterpart. Type checkers and ``help()`` see the full signature.
"""

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from fairlane.runtime.loop_thread import LoopThread

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")
ClientT_co = TypeVar("ClientT_co", covariant=True)
WrappedT_co = TypeVar("WrappedT_co", covariant=True)


class HasClient(Protocol[ClientT_co]):
    """A scheduler, as far as `of_client` uses it."""

    @property
    def client(self) -> ClientT_co:
        """The scheduler's client. Raises RuntimeStartError unless the scheduler is started."""
        ...


def of_client(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[HasClient[T], P], R]:
    """Return a method of a scheduler that calls ``method`` of its client."""

    @functools.wraps(method)
    def call(scheduler: HasClient[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(scheduler.client, *args, **kwargs)

    return call


class Blocking(Generic[WrappedT_co]):
    """Base of the classes for synchronous code: an object that belongs to the event loop of a `LoopThread`."""

    def __init__(self, loop: LoopThread, wrapped: WrappedT_co) -> None:
        self._loop = loop
        self._wrapped = wrapped


@overload
def blocking(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Blocking[T], P], R]: ...
@overload
def blocking(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]], convert: Callable[[LoopThread, R], S]
) -> Callable[Concatenate[Blocking[T], P], S]: ...
def blocking(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]], convert: Callable[[LoopThread, R], Any] | None = None
) -> Callable[Concatenate[Blocking[T], P], Any]:
    """Return a method that runs ``method`` on the loop's thread, waits for it, and returns or raises what it does.

    ``convert`` turns the result into its synchronous counterpart; its annotated result replaces that of ``method``.
    The method raises RuntimeStartError once the loop is closed.
    """

    @functools.wraps(method)
    def call(counterpart: Blocking[T], /, *args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 - see overloads
        loop = counterpart._loop
        result = loop.run(method(counterpart._wrapped, *args, **kwargs))
        return result if convert is None else convert(loop, result)

    if convert is not None:
        returned = inspect.signature(convert).return_annotation
        call.__signature__ = inspect.signature(method).replace(return_annotation=returned)  # type: ignore[attr-defined]
    return call


def on_loop(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], Coroutine[Any, Any, R]]:
    """Return ``method``, which does not wait, as a coroutine method, for `blocking`."""

    @functools.wraps(method)
    async def call(target: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(target, *args, **kwargs)

    return call
