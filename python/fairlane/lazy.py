"""Public names that are loaded on first use, so that importing a package costs nothing.

The one list of them is the package's ``__init__.pyi``: type checkers read it, and so does this module.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose stub imports its public names.

    The stub holds ``from module import name as name`` and nothing else. It is read when a name, or ``__all__``, is
    first asked for.
    """
    loaded = vars(sys.modules[package])

    def load(name: str) -> Any:  # noqa: ANN401 - the module protocol
        if name == "__all__":
            return sorted(_homes(package))
        home = None if name.startswith("__") else _homes(package).get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        loaded[name] = getattr(import_module(home), name)
        return loaded[name]

    return load, lambda: sorted({*loaded, *_homes(package)})


@cache
def _homes(package: str) -> dict[str, str]:
    """Return the module of each public name."""
    import ast  # noqa: PLC0415 - a worker's process and the guard need no name
    import pkgutil  # noqa: PLC0415

    stub = ast.parse(pkgutil.get_data(package, "__init__.pyi") or b"")
    return {
        alias.name: each.module
        for each in stub.body
        if isinstance(each, ast.ImportFrom) and each.module is not None
        for alias in each.names
    }
