"""docs/errors.md: its tables match the error classes, and the codes with which the sources end tasks."""

import ast
import re
from pathlib import Path

import fairlane.errors
from fairlane.domain.attempt import Outcome
from fairlane.errors import FairlaneError, ProviderError, ProviderRefused, Throttled
from fairlane.lifecycle import attempts
from fairlane.workers import WorkerError

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SOURCES = ROOT / "python" / "fairlane"

_LUA_ENDS = {"reject": (-1, 1), "finish": (1, 4), "drop_pending": (3, 4)} | dict.fromkeys(
    ("end_unstarted", "end_failed", "end_lost"), (3, 4)
)
"""The Lua functions that end a task: the index of the state among their arguments, and the first index of the code."""
_LUA_CALL = re.compile(rf"\b({'|'.join(_LUA_ENDS)})\(((?:[^()]|\([^()]*\))*)\)")
_CODE = re.compile(r"'([a-z_]+)'")
_PYTHON_ENDS = {"refused": "no", "_failed": "yes"}
"""The Python functions that end an attempt with a code, and whether the task is tried again."""

Ending = tuple[str, str]
"""The state in which a task ends, and whether it is tried again."""


def _rows(header: str) -> list[list[str]]:
    """The cells of the table below a header row."""
    lines = PAGE.partition(f"\n{header}\n")[2].splitlines()[1:]
    table = lines[: lines.index("")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def _subclasses(kind: type[FairlaneError]) -> list[type[FairlaneError]]:
    own = [each for each in kind.__subclasses__() if each.__module__.startswith("fairlane.")]
    return [kind, *(each for child in own for each in _subclasses(child))]


def _endings_in_python() -> dict[str, Ending]:
    found = {}
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[_, ast.Constant(str(code)), *_]):
                    if name in _PYTHON_ENDS:
                        found[code] = ("failed", _PYTHON_ENDS[name])
                case _:
                    pass
    return found


def _endings_in_lua() -> dict[str, Ending]:
    found = {}
    for path in SOURCES.rglob("*.lua"):
        for name, text in _LUA_CALL.findall(path.read_text(encoding="utf-8")):
            arguments = [argument.strip() for argument in re.split(r",(?![^()]*\))", text)]
            state_at, code_at = _LUA_ENDS[name]
            for code in filter(None, map(_CODE.fullmatch, arguments[code_at:])):
                found[code[1]] = ("rejected" if state_at < 0 else arguments[state_at].strip("'"), "no")
    return found


def _endings_by_providers() -> dict[str, Ending]:
    kinds = [kind for kind in _subclasses(ProviderError) if kind is not Throttled]
    return {kind.code: ("failed", "no" if kind is ProviderRefused else "yes") for kind in kinds}


def _endings_of_stopped_calls() -> dict[str, Ending]:
    outcomes = [stop.value for stop in attempts.Stop if isinstance(stop.value, Outcome)]
    return {outcome.value: (outcome.value, "no") for outcome in outcomes}


def test_the_searches_find_known_codes() -> None:
    assert _endings_in_python()["invalid_reply"] == ("failed", "yes")
    assert _endings_in_python()["result_too_large"] == ("failed", "no")
    assert _endings_in_lua()["outcome_unknown"] == ("dead", "no")
    assert _endings_in_lua()["budget_exhausted"] == ("rejected", "no")
    assert _endings_in_lua()["deadline"] == ("expired", "no")
    assert set(_endings_of_stopped_calls()) == {"expired", "cancelled"}


def test_the_table_of_classes_matches_the_tree() -> None:
    listed = {name.strip("`"): code for name, code, *_ in _rows("| class | code | when | what to do |")}
    expected = {}
    for kind in _subclasses(FairlaneError):
        name = kind.__name__ if kind is FairlaneError else f"{kind.__name__}` (`{kind.__bases__[0].__name__}`)"
        expected[name] = "its own" if kind is WorkerError else f"`{kind.code}`"
    assert {name.removesuffix("`"): code for name, code in listed.items()} == expected


def test_the_tree_of_the_module_and_the_table_have_the_same_order() -> None:
    drawn = re.findall(r"\b[A-Z]\w+", (fairlane.errors.__doc__ or "").partition("A normal")[0])
    names = {kind.__name__ for kind in _subclasses(FairlaneError)}
    listed = [name.partition("`")[2].partition("`")[0] for name, *_ in _rows("| class | code | when | what to do |")]
    assert listed == [word for word in drawn if word in names]


def test_the_table_of_codes_matches_the_sources() -> None:
    endings = _endings_in_lua() | _endings_in_python() | _endings_by_providers() | _endings_of_stopped_calls()
    rows = _rows("| error_code | state | when | tried again |")
    assert {code.strip("`"): (state.strip("`"), again) for code, state, _, again in rows} == endings
