"""The provider contract: one asynchronous call per attempt.

A provider is any object with ``async def call(self, call: Call) -> Reply``. It may also have ``async def open()``
and ``async def close()``: the worker awaits them on its own loop before the first call and after the last.

How a call ends:

    returns a Reply              completed
    raises Throttled             not taken; the task waits and loses nothing
    raises ProviderRefused       the task fails now
    raises anything else         this attempt failed; another may follow
    is cancelled by the worker   expired, cancelled or handed back, as the worker asked

A call that ends with an exception costs nothing, unless the exception tells its usage: as the context
``actual_units`` of a ProviderError, or as an attribute of that name (`tell_usage`), also of a CancelledError.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from fairlane.errors import ConfigError, ProviderError


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt. ``attempt`` counts from 1 and grows with failures only; ``deadline_s`` is what is left."""

    tenant: str
    task_id: str
    payload: object
    """Decoded JSON, or bytes: what was submitted."""
    cost: int
    attempt: int
    deadline_s: float | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call brought. ``actual_units`` None: unknown, the estimate is charged."""

    result: object = None
    """JSON-able, or bytes."""
    actual_units: int | None = None


class Provider(Protocol):
    """Something that can be called."""

    async def call(self, call: Call) -> Reply:
        """Make one call; see the module for how it may end."""
        ...


def usage_of(error: BaseException) -> int | None:
    """Return the units an ended call says it used, None if it does not say (or says nonsense)."""
    value = error.context.get("actual_units") if isinstance(error, ProviderError) else None
    if value is None:
        value = getattr(error, "actual_units", None)
    return value if type(value) is int and value >= 0 else None


def tell_usage(error: BaseException, actual_units: int) -> None:
    """Have an exception tell what the call used that it ends."""
    error.actual_units = actual_units  # type: ignore[attr-defined]  # what `usage_of` reads


def load_provider(spec: str | Provider) -> Provider:
    """Return the provider that ``spec`` is or names.

    A name is ``package.module:attribute``; the attribute is an instance, or a class or function to be called
    without arguments.

    Raises:
        ConfigError: the name cannot be imported, or what it names is no provider.
    """
    found: object = _import(spec) if isinstance(spec, str) else spec
    if isinstance(found, type) or (callable(found) and not hasattr(found, "call")):
        make = cast("Callable[[], object]", found)
        try:
            found = make()
        except Exception as error:
            raise ConfigError(f"provider {_name(spec)} cannot be made: {error}") from error
    if not inspect.iscoroutinefunction(getattr(found, "call", None)):
        raise ConfigError(f"provider {_name(spec)} has no method `async def call(self, call)`")
    return cast("Provider", found)


async def run_hook(provider: Provider, name: str) -> None:
    """Await the provider's optional ``open`` or ``close``."""
    hook = getattr(provider, name, None)
    if hook is not None:
        await cast("Callable[[], Awaitable[None]]", hook)()


def _import(spec: str) -> object:
    module_name, colon, path = spec.partition(":")
    if not colon or not module_name or not path:
        raise ConfigError(f"provider {_name(spec)}: must look like package.module:attribute")
    try:
        found: object = import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"provider {_name(spec)} cannot be imported: {error}") from error
    return found


def _name(spec: object) -> str:
    return ascii(spec)[:120] if isinstance(spec, str) else type(spec).__name__
