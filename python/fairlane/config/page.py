"""Renders every configuration section as a page: what each field takes, its default, and what it means.

Run as ``python -m fairlane.config.page > docs/configuration.md``. The meanings are the fields' docstrings.
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

from pydantic.fields import FieldInfo

from fairlane.config import REDIS_URL_VARIABLE, BudgetConfig, EstimateConfig, SchedulerConfig, Section
from fairlane.config.example import EXAMPLE
from fairlane.config.openai_chat import OpenAIChatConfig
from fairlane.config.roles import DispatcherConfig
from fairlane.config.supervision import WorkerSupervisorConfig
from fairlane.config.workers import HealthConfig, ManagerConfig, SupervisorConfig
from fairlane.domain.limits import MAX_DURATION_MS

_INTRO: Final = f"""\
# Configuration

Generated from `fairlane.config` by `python -m fairlane.config.page`; do not edit.

A file has the sections of `SchedulerConfig`; each may be missing, and so may each field that has a default:

```toml
{EXAMPLE}```

- `fairlane serve --config FILE`, the other commands and `fairlane.load_config(path)` read such a file, and, if it names
  no server, `${REDIS_URL_VARIABLE}`. `--redis` goes before both.
- A `SchedulerConfig` that is built in code means what it says: it looks at no file and no environment. The classes have
  the names below, and are in `fairlane`. They are frozen.
- What cannot be used is refused with a `ConfigError`, which names each field, its value and what would be accepted.
- A field whose default is *none* is left out of a file to have none.
- Numbers are whole unless it says *any number*. Durations are milliseconds; costs are units, such as tokens.
"""

_OUTSIDE: Final = """\
## Not in the file

These are built in code: for the provider of OpenAI-compatible endpoints, and for a `fairlane.workers` of one's own.
"""

_HOMES: Final[Mapping[type[Section], str]] = {
    OpenAIChatConfig: "fairlane.providers.openai_chat",
    ManagerConfig: "fairlane.workers",
    HealthConfig: "fairlane.workers",
    SupervisorConfig: "fairlane.workers",
}
_NOTES: Final[Mapping[type[Section], str]] = {
    BudgetConfig: "See [budgets.md](budgets.md).",
    DispatcherConfig: "The strategies are those of [pools](workers.md#strategies).",
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


def meanings(kind: type[Section]) -> dict[str, str]:
    """Return what each field means: its docstring, else that of the class it was inherited from, else its section's."""
    found: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        section = _section_of(field.annotation)
        if section is not None:
            found[name] = _plain(section.__doc__ or "")
    for base in reversed(kind.__mro__):
        if issubclass(base, Section) and base is not Section:
            [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(tree, ast.ClassDef)  # noqa: S101 - it is the source of a class
            found |= _docstrings(tree)
    return found


def _sections() -> dict[type[Section], list[str]]:
    """Each section of a file, in the order of the fields, with the places where it may stand."""
    found: dict[type[Section], list[str]] = {SchedulerConfig: []}

    def visit(kind: type[Section], place: str) -> None:
        found.setdefault(kind, []).append(place)
        inside(kind, f"{place}.")

    def inside(kind: type[Section], prefix: str) -> None:
        for name, field in kind.model_fields.items():
            section = _section_of(field.annotation)
            if section is not None:
                many = get_origin(field.annotation) is not None and _is_mapping(field.annotation)
                visit(section, f"{prefix}{name}{'.<tenant>' if many else ''}")

    inside(SchedulerConfig, "")
    return found


def _section(title: str, kind: type[Section], *, level: int) -> Iterator[str]:
    yield f"{'#' * level} {title}"
    yield ""
    note = _NOTES.get(kind)
    name = "" if kind in _HOMES else f"`{kind.__name__}`. "
    yield f"{name}{_plain(kind.__doc__ or '')}{' ' + note if note else ''}"
    yield ""
    yield _row(("field", "takes", "default", "meaning"))
    yield _row(("---",) * 4)
    told = meanings(kind)
    for name, field in kind.model_fields.items():
        yield _row((f"`{name}`", _takes(field.annotation, field.metadata, name), _default(field, name), told[name]))
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
    """What a field of this type takes, in words."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        [inner] = [each for each in arguments if each is not NoneType]
        return f"{_takes(inner, metadata, name)}; or none"
    if origin is Annotated:
        more = [item for each in arguments[1:] for item in (each.metadata if isinstance(each, FieldInfo) else [each])]
        return _takes(arguments[0], [*metadata, *more], name)
    if _is_mapping(kind):
        return "a section for each tenant's id"
    if issubclass(kind, Section):
        return "a section"
    if issubclass(kind, Enum):
        return " or ".join(f"`{each.value}`" for each in kind)
    words = {bool: "true or false", str: "text", Path: "a path", int: "", float: "any number"}[kind]
    bounds = _bounds(metadata, name)
    return ", ".join(part for part in (words, bounds) if part)


def _bounds(metadata: Sequence[object], name: str) -> str:
    told = {key: getattr(each, key) for each in metadata for key in ("ge", "le", "max_length") if hasattr(each, key)}
    if "le" in told:
        return f"{_number(told['ge'], name)} to {_number(told['le'], name)}"
    return f"at most {told['max_length']} characters" if "max_length" in told else ""


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
    """A number as a file has it, and once more as one would say it."""
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


def _section_of(kind: Any) -> type[Section] | None:  # noqa: ANN401 - a type as it was annotated
    """The section that a field holds, or may hold, if it does."""
    if isinstance(kind, type) and get_origin(kind) is None:
        return kind if issubclass(kind, Section) else None
    return next((found for each in get_args(kind) if (found := _section_of(each)) is not None), None)


def _is_mapping(kind: Any) -> bool:  # noqa: ANN401 - a type as it was annotated
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _plain(docstring: str) -> str:
    return " ".join(docstring.replace("``", "`").split())


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(render())
