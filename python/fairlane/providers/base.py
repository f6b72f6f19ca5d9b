"""The provider contract: one asynchronous call per attempt.

A provider is any object with ``async def call(self, call: Call) -> Reply``. It may also have ``async def open()``
and ``async def close()``: the worker awaits them on its own loop before the first call and after the last.

How a call ends:

    returns a Reply              the task has completed
    raises Throttled             the provider is rate limited: the task waits and loses nothing
    raises ProviderRefused       the task fails now
    raises anything else         this attempt has failed; a retry may follow
    is cancelled by the worker   the task has expired, is cancelled, or goes back to the queue

A call that ends with an exception costs nothing, unless the exception has the units it used: as the context
``actual_units`` of a ProviderError, or as an attribute with that name (`tell_usage`), also of a CancelledError. If
they are no number of units, or cannot be read, the hold is charged.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from fairlane.errors import ConfigError, ProviderError
from fairlane.providers.reading import attribute, whole_units


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt. ``attempt`` is 1 plus the task's failures so far; ``deadline_s`` is the time left, if limited."""

    tenant: str
    task_id: str
    payload: object
    """The submitted payload: decoded JSON, or bytes."""
    cost: int
    attempt: int
    deadline_s: float | None


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a call. ``actual_units`` None, or no number of units: unknown, so the hold is charged."""

    result: object = None
    """Anything that JSON can hold, or bytes."""
    actual_units: int | None = None


class Provider(Protocol):
    """The object that a worker calls. Its optional ``open`` and ``close`` are not part of this protocol."""

    async def call(self, call: Call) -> Reply:
        """Make one call. The module's docstring says how it may end."""
        ...


def usage_of(error: BaseException, unusable: int | None = None) -> int | None:
    """Return the units that an exception says the call used; None if it says nothing. Fails for no exception.

    ``unusable`` is returned if what it says is no number of units, or cannot be read.
    """
    context = attribute(error, "context") if isinstance(error, ProviderError) else None
    said = context.get("actual_units") if type(context) is dict else None
    if said is None:
        said = attribute(error, "actual_units")
    if said is None:
        return None
    units = whole_units(said)
    return unusable if units is None else units


def tell_usage(error: BaseException, actual_units: int) -> None:
    """Attach to an exception the units that the call used."""
    error.actual_units = actual_units  # type: ignore[attr-defined]  # what `usage_of` reads


def load_provider(spec: str | Provider) -> Provider:
    """Return the provider that ``spec`` is or names.

    A name is ``package.module:attribute``. The attribute is an instance, or a class or function that is called without
    arguments.

    Raises:
        ConfigError: the name cannot be imported, or does not name a provider.
    """
    found: object = _import(spec) if isinstance(spec, str) else spec
    if isinstance(found, type) or (callable(found) and not hasattr(found, "call")):
        make = cast("Callable[[], object]", found)
        try:
            found = make()
        except Exception as error:
            raise ConfigError(f"provider {_name(spec)} cannot be made: {error}") from error
    if not inspect.iscoroutinefunction(getattr(found, "call", None)):
        raise ConfigError(f"provider {_name(spec)} needs a method `async def call(self, call)`")
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
