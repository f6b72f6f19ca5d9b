"""Names of a package that are loaded from their modules on first use, so that importing the package costs nothing."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package. ``homes``: modules to the names they hold."""
    home_of = {name: module for module, names in homes.items() for name in names}
    loaded = vars(sys.modules[package])

    def load(name: str) -> Any:  # noqa: ANN401 - the module protocol
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        loaded[name] = getattr(import_module(home), name)
        return loaded[name]

    return sorted(home_of), load, lambda: sorted({*loaded, *home_of})
