"""The Lua sources: their headers, how they are assembled, and that they run only when assembled."""

import re
from importlib.resources import files

import pytest
from lupa import lua51

from fairlane.domain.task import TaskRef
from fairlane.store import scripts
from fairlane.store.codec import pack
from fairlane.store.keys import KEYS, Keys
from fairlane.store.messages import Return
from fairlane.store.requests import REQUESTS, encode
from tests.support import lua_lint

LUA = files("fairlane.store") / "lua"
FILES = {path.name: path.read_text(encoding="utf-8") for path in LUA.iterdir() if path.name.endswith(".lua")}
INCLUDES = {path.name: path.read_text(encoding="utf-8") for path in (LUA / "includes").iterdir()}
COMMAND_LINES = 120
INCLUDE_LINES = 70
HEADER = re.compile(
    r"-- (?P<purpose>[^\n]+(?:\n--   [^\n]+)*)\n--\n"
    r"-- Guarantee: \S[^\n]*(?:\n--   \S[^\n]*)*\n"
    r"-- KEYS\[1\]  \S[^\n]*\n"
    r"-- ARGV     now_ms, \S[^\n]*(?:\n--          \S[^\n]*)*\n"
    r"-- Reply    \S[^\n]*(?:\n--          \S[^\n]*)*\n"
    r"-- Events   \S[^\n]*\n"
    r"(?:--- @include \w+\n|local )"
)


def test_there_is_one_file_per_command() -> None:
    assert set(FILES) == {f"{command}.lua" for command in scripts.COMMANDS}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_command_has_a_header_with_its_purpose_and_guarantee(name: str) -> None:
    assert HEADER.match(FILES[name]), "purpose, Guarantee, KEYS, ARGV, Reply, Events"


@pytest.mark.parametrize("command", scripts.COMMANDS)
def test_a_command_s_header_names_the_fields_of_its_request(command: str) -> None:
    request = REQUESTS[command]
    fields = ", ".join(request.fields)
    if request.items is not None:
        fields = fields.replace("items", f"{{{{{', '.join(request.items.fields)}}}...}}")
    header = " ".join(line.removeprefix("--").strip() for line in FILES[f"{command}.lua"].splitlines()[:20])
    assert f"ARGV     now_ms, {{{fields}}}" in header


def test_a_field_that_the_request_does_not_have_stops_the_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REQUESTS, "cancel", REQUESTS["heartbeat"])
    with pytest.raises(ValueError, match=r"cancel.lua reads request.items; the fields .* are: incarnation"):
        scripts.source.__wrapped__("cancel")


def test_a_request_takes_exactly_the_fields_of_its_command() -> None:
    assert encode("top_up", tenant="a", key="k", units=5) == pack(["a", 5, "k"])
    with pytest.raises(TypeError, match="top_up takes tenant, units, key; given: tenant, units"):
        encode("top_up", tenant="a", units=5)


def test_a_batch_is_built_from_its_messages() -> None:
    attempt = Return(TaskRef("a", "t"), 7, called=True, actual=30)
    assert REQUESTS["release"].items.fields == ("tenant", "id", "fence", "called", "actual")
    assert encode("release", incarnation="w1", items=[attempt]) == pack(["w1", [["a", "t", 7, True, 30]]])


@pytest.mark.parametrize("name", sorted(FILES) + sorted(INCLUDES))
def test_a_file_is_small_and_its_lines_fit(name: str) -> None:
    text = FILES.get(name) or INCLUDES[name]
    lines = text.splitlines()
    assert len(lines) <= (COMMAND_LINES if name in FILES else INCLUDE_LINES)
    assert max(map(len, lines)) <= 130
    assert text.endswith("\n")
    assert "\t" not in text


def test_every_include_is_used() -> None:
    used = set(re.findall(r"^--- @include (\w+)$", "\n".join([*FILES.values(), *INCLUDES.values()]), re.MULTILINE))
    assert used == {name.removesuffix(".lua") for name in INCLUDES}


@pytest.mark.parametrize("command", scripts.COMMANDS)
def test_a_script_compiles_and_touches_no_global_it_should_not(command: str) -> None:
    assert lua_lint.lint(command, scripts.source(command)) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("local pool = 1\nreturn function() return poool end", "x:2: unknown global poool"),
        ("local function f() return 1 end\nreturn g()", "x:2: unknown global g"),
        ("counter = 1", "x:1: sets the global counter"),
        ("return function(a) if a then leaked = a end end", "x:1: sets the global leaked"),
        ("return redis.cal('GET', KEYS[1])", "x:1: redis.cal is not"),
        ("return os.time()", "x:1: unknown global os"),
        ("return cjson.encode({})", "x:1: unknown global cjson"),
        ("return math.random()", "x:1: math.random is not"),
        ("local x =", "x:1: unexpected symbol"),
        ("return 1 // 2", "x:1: unexpected symbol"),  # not in Lua 5.1
    ],
)
def test_the_lint_finds_each_kind_of_mistake(source: str, problem: str) -> None:
    (found,) = lua_lint.lint("x", source)
    assert str(found).startswith(problem)


@pytest.mark.parametrize("misspelt", ["load_tenant", "pool_key", "task_prefix", "commit_draining"])
def test_a_name_misspelt_in_a_real_script_is_found(misspelt: str) -> None:
    source = scripts.source("cancel")
    start = source.rindex(misspelt)
    spoilt = source[:start] + misspelt + "x" + source[start + len(misspelt) :]
    found = lua_lint.lint("cancel", spoilt)
    assert [problem for problem in found if f"global {misspelt}x" in problem.text]


def test_the_lint_runs_as_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert lua_lint.main() == 0
    assert capsys.readouterr().out == f"{len(scripts.COMMANDS)} scripts, 0 problems\n"


@pytest.mark.parametrize("command", scripts.COMMANDS)
def test_a_script_scans_nothing_and_names_no_key_itself(command: str) -> None:
    source = scripts.source(command)
    assert not re.search(r"'(KEYS|SCAN|HSCAN|ZSCAN|SSCAN|FLUSH\w*)'", source)
    assert "'fl:" not in source


def test_lua_and_python_build_the_same_keys() -> None:
    keys = Keys("some-name")
    lua = lua51.LuaRuntime()
    lua.globals().KEYS = lua.table(keys.pool)
    for spec in KEYS:
        parameters = re.findall(r"<(\w+)>", spec.pattern)
        values = [f"v{number}" for number in range(len(parameters))]
        call = f"{spec.name}_key({', '.join(map(repr, values))})" if parameters else f"{spec.name}_key"
        assert lua.execute(f"{scripts.prelude()}return {call}") == keys.key(spec.pattern.split(":")[0], *values)


def test_a_digest_names_its_command() -> None:
    assert {scripts.command_of(scripts.digest(command)) for command in scripts.COMMANDS} == set(scripts.COMMANDS)
