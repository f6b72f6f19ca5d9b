"""Renders the configuration as a page: what each field takes, its default, and its meaning.

Run as ``python -m tools.docs.configuration > docs/configuration.md``. The meanings are the fields' docstrings.
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fairlane.config import REDIS_URL_VARIABLE, BudgetConfig, EstimateConfig, SchedulerConfig, Section
from fairlane.config.openai_chat import OpenAIChatConfig
from fairlane.config.problems import is_mapping, section_of
from fairlane.config.roles import DispatcherConfig
from fairlane.config.supervision import WorkerSupervisorConfig
from fairlane.config.workers import HealthConfig, ManagerConfig, SupervisorConfig
from fairlane.domain.limits import MAX_DURATION_MS
from tools.docs.example import EXAMPLE

_INTRO: Final = f"""\
# Configuration

Generated from `fairlane.config` by `python -m tools.docs.configuration`; do not edit.

This file uses every section. A section may be missing, and so may a field that has a default:

```toml
{EXAMPLE}```

- `fairlane serve --config FILE`, the other commands and `fairlane.load_config(path)` read such a file. If it names no
  server, they read `${REDIS_URL_VARIABLE}`. `--redis` overrides both.
- In code, build a `SchedulerConfig` from the classes named below, which are in `fairlane`. They are frozen, and read
  neither a file nor the environment.
- A `ConfigError` names each unusable field, its value, and what would be accepted. For an unknown field it suggests the
  name that was probably meant.
- If the default of a field is *none*, leave the field out to have none.
- Numbers are whole unless the table says *any number*. Durations are in milliseconds, costs in units, such as tokens.
- `starts` and `spend` are rate limits. With `interval_ms = 60_000`, `starts` limits requests per minute (RPM) and
  `spend` tokens per minute (TPM).
"""

_OUTSIDE: Final = """\
## Not in the file

These are built in code: for the provider of OpenAI-compatible endpoints, and for a `fairlane.workers` of your own.
"""

_HOMES: Final[Mapping[type[BaseModel], str]] = {
    OpenAIChatConfig: "fairlane.providers.openai_chat",
    ManagerConfig: "fairlane.workers",
    HealthConfig: "fairlane.workers",
    SupervisorConfig: "fairlane.workers",
}
_NOTES: Final[Mapping[type[BaseModel], str]] = {
    BudgetConfig: "See [budgets.md](budgets.md).",
    DispatcherConfig: "See [the strategies](workers.md#strategies).",
    EstimateConfig: "See [estimates.md](estimates.md).",
    ManagerConfig: "See [workers.md](workers.md).",
    OpenAIChatConfig: "See [providers.md](providers.md#openai-compatible-chat-completions).",
    WorkerSupervisorConfig: "See [operations.md](operations.md#supervision).",
}
_DURATIONS: Final = ((365 * 86_400_000, "years"), (86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_MEBIBYTE: Final = 2**20


def render() -> str:
    """Return the page."""
    lines = [_INTRO]
    for kind, places in _sections().items():
        lines += _section(" ".join(f"`[{place}]`" for place in places) or "At the top", kind, level=2)
    lines.append(_OUTSIDE)
    for kind, home in _HOMES.items():
        lines += _section(f"`{home}.{kind.__name__}`", kind, level=3)
    return "\n".join(lines)


def meanings(kind: type[BaseModel]) -> dict[str, str]:
    """Return what each field means: its docstring, else that of the class it was inherited from, else its section's."""
    found: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        section = section_of(field.annotation)
        if section is not None:
            found[name] = _plain(section.__doc__ or "")
    for base in reversed(kind.__mro__):
        if issubclass(base, Section) and base is not Section:
            [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(tree, ast.ClassDef)  # noqa: S101 - it is the source of a class
            found |= _docstrings(tree)
    return found


def _sections() -> dict[type[BaseModel], list[str]]:
    """Return each section of a file, in the order of the fields, with the places where it may stand."""
    found: dict[type[BaseModel], list[str]] = {SchedulerConfig: []}

    def visit(kind: type[BaseModel], place: str) -> None:
        found.setdefault(kind, []).append(place)
        inside(kind, f"{place}.")

    def inside(kind: type[BaseModel], prefix: str) -> None:
        for name, field in kind.model_fields.items():
            section = section_of(field.annotation)
            if section is not None:
                many = get_origin(field.annotation) is not None and is_mapping(field.annotation)
                visit(section, f"{prefix}{name}{'.<tenant>' if many else ''}")

    inside(SchedulerConfig, "")
    return found


def _section(title: str, kind: type[BaseModel], *, level: int) -> Iterator[str]:
    yield f"{'#' * level} {title}"
    yield ""
    note = _NOTES.get(kind)
    name = "" if kind in _HOMES else f"`{kind.__name__}`. "
    yield f"{name}{_plain(kind.__doc__ or '')}{' ' + note if note else ''}"
    yield ""
    yield _row(("field", "takes", "default", "meaning"))
    yield _row(("---",) * 4)
    words = meanings(kind)
    for name, field in kind.model_fields.items():
        yield _row((f"`{name}`", _takes(field.annotation, field.metadata, name), _default(field, name), words[name]))
    yield ""


def _docstrings(tree: ast.ClassDef) -> dict[str, str]:
    found = {}
    for statement, after in pairwise(tree.body):
        match statement, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = _plain(text)
            case _:
                pass
    return found


def _takes(kind: Any, metadata: Sequence[object], name: str) -> str:  # noqa: ANN401 - a type as it was annotated
    """Say in words what a field of this type takes."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        [inner] = [each for each in arguments if each is not NoneType]
        return f"{_takes(inner, metadata, name)}; or none"
    if origin is Annotated:
        more = [item for each in arguments[1:] for item in (each.metadata if isinstance(each, FieldInfo) else [each])]
        return _takes(arguments[0], [*metadata, *more], name)
    if is_mapping(kind):
        return "a section for each tenant's id"
    if issubclass(kind, Section):
        return "a section"
    if issubclass(kind, Enum):
        return " or ".join(f"`{each.value}`" for each in kind)
    words = {bool: "true or false", str: "text", Path: "a path", int: "", float: "any number"}[kind]
    bounds = _bounds(metadata, name)
    return ", ".join(part for part in (words, bounds) if part)


def _bounds(metadata: Sequence[object], name: str) -> str:
    bounds = {key: getattr(each, key) for each in metadata for key in ("ge", "le", "max_length") if hasattr(each, key)}
    if "le" in bounds:
        return f"{_number(bounds['ge'], name)} to {_number(bounds['le'], name)}"
    return f"at most {bounds['max_length']} characters" if "max_length" in bounds else ""


def _default(field: FieldInfo, name: str) -> str:
    value = field.default
    if field.is_required():
        return "required"
    if value is None:
        return "*none*"
    if isinstance(value, Section | Mapping):
        return "" if value else "*none*"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    return _number(value, name)


def _number(value: float, name: str) -> str:
    """Show a number as it stands in a file, and as people say it."""
    shown = f"`{value:_}`"
    if not isinstance(value, int) or value < 1_000:
        return shown
    if value.bit_count() == 1 and value >= 2**30:
        return f"2^{value.bit_length() - 1}"
    if name.endswith("_bytes") and value % _MEBIBYTE == 0:
        return f"{shown} ({value // _MEBIBYTE} MiB)"
    if name.endswith("_ms"):
        size, unit = next((size, unit) for size, unit in _DURATIONS if value >= size)
        spoken = f"{value / size:g} {unit}"
        return spoken if value == MAX_DURATION_MS else f"{shown} ({spoken})"
    return shown


def _plain(docstring: str) -> str:
    return " ".join(docstring.replace("``", "`").split())


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(render())
