"""An invalid configuration is refused in one line that names the field and its value, and shows no secret."""

import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import fairlane
from fairlane.config import (
    REDIS_URL_VARIABLE,
    ClientConfig,
    ControllerConfig,
    DispatcherConfig,
    PoolConfig,
    SchedulerConfig,
    Section,
    ServerConfig,
    TenantConfig,
    WorkerConfig,
    build,
    load_config,
)
from fairlane.config.problems import is_mapping, section_of
from fairlane.domain.limits import MAX_COST, MAX_SLOTS, MAX_WEIGHT
from fairlane.domain.policy import QueuePolicy
from fairlane.domain.strategy_name import StrategyName
from fairlane.errors import ConfigError

NOT_WHOLE: list[Any] = [0, -1, 1.5, 2.0, math.nan, math.inf, 1e308, True, False, "1", b"1", [1], 10**30]
SECRET = "c4nary-s3cret"


def refusal(kind: type[Section], values: dict[str, Any]) -> str:
    """Return the one line that refuses these values."""
    with pytest.raises(ConfigError) as caught:
        build(kind, values)
    text = str(caught.value)
    assert text.isprintable()
    assert "http" not in text
    return text


@pytest.mark.parametrize("value", [*NOT_WHOLE, None])
def test_a_bad_weight_is_refused_naming_field_and_value(value: object) -> None:
    text = refusal(TenantConfig, {"weight": value})
    assert text.startswith(f"weight = {ascii(value)[:60]}: ")


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (TenantConfig, "slots"), (TenantConfig, "cost_ceiling_units"), (TenantConfig, "queue_limit"),
        (PoolConfig, "slots"), (PoolConfig, "cost_ceiling_units"), (PoolConfig, "quantum_units"),
        (PoolConfig, "max_attempts"), (PoolConfig, "lease_ms"), (PoolConfig, "default_pause_ms"),
        (PoolConfig, "retention_ms"), (DispatcherConfig, "batch"), (DispatcherConfig, "heartbeat_ms"),
        (WorkerConfig, "count"), (WorkerConfig, "slots"), (WorkerConfig, "batch"), (WorkerConfig, "heartbeat_ms"),
        (ControllerConfig, "period_ms"), (ControllerConfig, "clean_ticks"), (ControllerConfig, "minimum_slots"),
        (ClientConfig, "batch"), (ClientConfig, "max_payload_bytes"), (ServerConfig, "connections"),
        (ServerConfig, "call_timeout_ms"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", NOT_WHOLE, ids=repr)
def test_every_number_takes_only_whole_numbers_within_its_bounds(
    kind: type[Section], field: str, value: object
) -> None:
    assert refusal(kind, {field: value}).startswith(f"{field} = ")


@pytest.mark.parametrize("value", [-1, 1.5, True, "0", math.nan])
@pytest.mark.parametrize(
    ("kind", "field"),
    [(PoolConfig, "max_recoveries"), (PoolConfig, "idempotency_ms"), (PoolConfig, "event_limit"),
     (WorkerConfig, "grace_ms"), (ControllerConfig, "cooldown_ms")],
)  # fmt: skip
def test_a_number_that_may_be_zero_may_not_be_negative(kind: type[Section], field: str, value: object) -> None:
    assert refusal(kind, {field: value}).startswith(f"{field} = ")
    assert getattr(build(kind, {field: 0}), field) == 0


@pytest.mark.parametrize(
    ("kind", "field", "highest"),
    [
        (TenantConfig, "weight", MAX_WEIGHT),
        (PoolConfig, "slots", MAX_SLOTS),
        (TenantConfig, "cost_ceiling_units", MAX_COST),
        (TenantConfig, "queue_limit", 10**9),
    ],
)
def test_the_highest_value_is_accepted_and_one_more_is_not(kind: type[Section], field: str, highest: int) -> None:
    assert getattr(build(kind, {field: highest}), field) == highest
    assert str(highest) in refusal(kind, {field: highest + 1})


def test_every_tenant_s_queue_has_a_bound() -> None:
    assert TenantConfig().queue_limit == 1_000_000
    assert refusal(TenantConfig, {"queue_limit": None}).startswith("queue_limit = None")


@pytest.mark.parametrize("kind", [TenantConfig, PoolConfig, WorkerConfig, ServerConfig, SchedulerConfig])
def test_an_unknown_field_is_refused_by_name(kind: type[Section]) -> None:
    text = refusal(kind, {"xyzzy": 3})
    assert text == f"unknown field `xyzzy` in {kind.__name__}; it takes {', '.join(kind.model_fields)}"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"tenants": {"acme": {"wieght": 2}}}, "unknown field `wieght` in `[tenants.acme]`; did you mean `weight`?"),
        (
            {"tenants": {"weight": {"budget": {"limit": 1}}}},
            "tenants.weight.budget.limit_units: is required; "
            "unknown field `limit` in `[tenants.weight.budget]`; did you mean `limit_units`?",
        ),
        (
            {"client": {"estimates": {"tennants": 1}}},
            "unknown field `tennants` in `[client.estimates]`; did you mean `tenants`?",
        ),
        ({"pools": {}}, "unknown field `pools` in SchedulerConfig; did you mean `pool`?"),
    ],
    ids=str,
)
def test_the_error_of_an_unknown_field_names_its_place_and_a_similar_field(values: dict[str, Any], text: str) -> None:
    assert refusal(SchedulerConfig, values) == text


def test_the_error_of_an_unknown_policy_lists_the_policies() -> None:
    text = refusal(PoolConfig, {"policy": "lottery"})
    assert text.startswith("policy = 'lottery': ")
    assert all(policy.value in text for policy in QueuePolicy)


@pytest.mark.parametrize("strategy", [*StrategyName, "least-busy", "package.module:factory"])
def test_a_dispatcher_takes_every_strategy_that_each_process_can_find(strategy: str) -> None:
    assert build(DispatcherConfig, {"strategy": strategy}).strategy == strategy


@pytest.mark.parametrize("strategy", ["lottery", "", "Weighted", "module:", "a:b:c", "x" * 1_000, "a\nb"])
def test_the_error_of_an_unknown_strategy_lists_the_strategies(strategy: str) -> None:
    text = refusal(DispatcherConfig, {"strategy": strategy})
    assert text.startswith(f"strategy: {ascii(strategy)[:60]} must be one of ")
    assert all(name in text for name in (*StrategyName, "package.module:attribute"))


@pytest.mark.parametrize("strategy", [None, 3, b"weighted", ["weighted"]])
def test_a_strategy_is_named_by_a_string(strategy: object) -> None:
    assert refusal(DispatcherConfig, {"strategy": strategy}).startswith(f"strategy = {strategy!a}: ")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"workers": {"heartbeat_ms": 600}, "pool": {"lease_ms": 1000}}, "workers.heartbeat_ms = 600: must be at"),
        ({"client": {"heartbeat_ms": 800}, "pool": {"retention_ms": 1500}}, "client.heartbeat_ms = 800: must be at"),
        ({"pool": {"retention_ms": 1}}, "pool.retention_ms = 1: "),
    ],
)  # fmt: skip
def test_a_time_that_another_one_outruns_is_refused(values: dict[str, Any], text: str) -> None:
    assert text in refusal(SchedulerConfig, values)


def test_several_problems_are_named_at_once() -> None:
    text = refusal(SchedulerConfig, {"pool": {"slots": 0}, "tenants": {"a": {"weight": -1}}})
    assert "pool.slots = 0" in text
    assert "tenants.a.weight = -1" in text


@pytest.mark.parametrize("tenant", ["a b", "{x}", "", "a\n", "🦊", "x" * 129])
def test_a_bad_tenant_id_is_refused(tenant: str) -> None:
    text = refusal(SchedulerConfig, {"tenants": {tenant: {}}})
    assert text.startswith("tenants")
    assert text.isascii()


@pytest.mark.parametrize("name", ["a b", "{x}", "", "a:b", "*"])
def test_a_bad_scheduler_name_is_refused(name: str) -> None:
    assert refusal(SchedulerConfig, {"name": name}).startswith("name")


def test_a_minimum_above_the_limit_is_refused() -> None:
    text = refusal(SchedulerConfig, {"pool": {"slots": 2}, "controller": {"minimum_slots": 3}})
    assert "controller.minimum_slots = 3" in text
    assert "pool.slots = 2" in text


def test_a_section_cannot_be_changed() -> None:
    config = TenantConfig()
    with pytest.raises(ValidationError):
        config.weight = 2  # type: ignore[misc]


@pytest.mark.parametrize("weight", [0, -1, float("nan"), 1e308, True, "1"])
def test_a_section_made_in_code_is_refused_with_the_same_message(weight: object) -> None:
    with pytest.raises(ConfigError) as raised:
        TenantConfig(weight=weight)
    assert str(raised.value) == refusal(TenantConfig, {"weight": weight})
    assert f"weight = {weight!r}: must be" in str(raised.value)


def test_a_section_made_in_code_within_another_names_its_place() -> None:
    with pytest.raises(ConfigError, match=r"^pool\.slots = 0: must be at least 1$"):
        SchedulerConfig(pool={"slots": 0})


def test_a_url_is_never_shown() -> None:
    config = SchedulerConfig(server=ServerConfig(url=f"redis://:{SECRET}@host"))
    assert SECRET not in repr(config) + str(config)
    assert SECRET not in refusal(ServerConfig, {"url": [SECRET]})
    assert pickle.loads(pickle.dumps(TenantConfig(weight=3))) == TenantConfig(weight=3)


def test_an_empty_configuration_is_valid() -> None:
    assert load_config(None, {}) == SchedulerConfig()


def test_a_file_is_read_and_the_environment_adds_the_url(tmp_path: Path) -> None:
    path = tmp_path / "fairlane.toml"
    path.write_text('name = "x"\n[pool]\nslots = 3\npolicy = "fifo"\n[tenants.acme]\nweight = 2\n')
    config = load_config(path, {REDIS_URL_VARIABLE: "unix:///s"})
    assert (config.name, config.pool.slots, config.pool.policy) == ("x", 3, QueuePolicy.FIFO)
    assert config.tenants["acme"].weight == 2
    assert config.server.url == "unix:///s"


def test_the_file_may_be_named_by_a_string_and_the_function_is_public(tmp_path: Path) -> None:
    path = tmp_path / "fairlane.toml"
    path.write_text('name = "x"\n')
    assert fairlane.load_config(str(path), {}) == SchedulerConfig(name="x")


def test_a_configuration_made_in_code_does_not_look_at_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REDIS_URL_VARIABLE, "redis://environment")
    assert SchedulerConfig().server.url is None
    assert fairlane.load_config().server.url == "redis://environment"


def test_a_url_in_the_file_wins_over_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "fairlane.toml"
    path.write_text('[server]\nurl = "redis://file"\n')
    assert load_config(path, {REDIS_URL_VARIABLE: "redis://environment"}).server.url == "redis://file"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[pool\n", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        (b"[pool]\nslots = 0\n", "pool.slots = 0"),
        (b"[pool]\nslotz = 1\n", "unknown field `slotz` in `[pool]`; did you mean `slots`?"),
        (b"pools = 1\n", "pools"),
        (b"pool = 3\n", "pool = 3"),
        (b"[server]\nurl = 3\n", "server.url"),
        (b"server = 3\n", "server"),
        (b"[tenants]\nacme = 1\n", "tenants.acme"),
    ],
)
@pytest.mark.parametrize("environment", [{}, {REDIS_URL_VARIABLE: f"redis://:{SECRET}@h"}])
def test_a_bad_file_is_refused_in_one_line(
    tmp_path: Path, content: bytes, problem: str, environment: dict[str, str]
) -> None:
    path = tmp_path / "fairlane.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path, environment)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_the_error_names_a_missing_file_or_a_directory(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigError, match=str(path)):
            load_config(path, {})


def _fields(kind: type[Section], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The path of every field, those of the sections within it included."""
    paths = []
    for name, field in kind.model_fields.items():
        paths.append((*path, name))
        section = section_of(field.annotation)
        if section is not None and issubclass(section, Section):
            paths += _fields(section, (*path, name, "t1") if is_mapping(field.annotation) else (*path, name))
    return paths


LONG_SECRET = SECRET + "x" * 80


@pytest.mark.parametrize("secret", [SECRET, LONG_SECRET, f"p/w:{SECRET}", f"p@w{SECRET}"], ids=len)
@pytest.mark.parametrize("form", ["{}", "['{}']", "{{'{}': 1}}"])
def test_a_password_in_a_wrong_field_is_in_no_error(secret: str, form: str) -> None:
    url = f"redis://user:{secret}@host:6379/0"
    value: Any = {"{}": url, "['{}']": [url], "{{'{}': 1}}": {url: 1}}[form]
    refused = 0
    for path in _fields(SchedulerConfig):
        values: Any = value
        for name in reversed(path):
            values = {name: values}
        try:
            build(SchedulerConfig, values)
        except ConfigError as error:
            refused += 1
            shown = f"{error} {error!r} {error.context} {pickle.loads(pickle.dumps(error))}"
            assert SECRET not in shown, path
            assert secret[:20] not in shown, path
    assert refused > 20


def test_addresses_without_a_password_stay_whole() -> None:
    for text in ("redis://h:6379: no answer", "http://127.0.0.1:8265/x", "at redis://h:1, a@b", "redis://[::1]:6379/0"):
        assert ConfigError(text).message == text
    assert ConfigError("at redis://u:pw@h:1 and redis://:p@h?password=q&x=1").message == (
        "at redis://u:***@h:1 and redis://:***@h?password=***&x=1"
    )


def test_a_password_in_an_error_s_context_is_hidden_however_deep_it_is() -> None:
    url = f"redis://user:{SECRET}@host:6379/0"
    error = ConfigError("a message", listed=[url], paired=(url,), named={"url": url})
    assert SECRET not in repr(error.context)
    assert error.context["paired"] == ("redis://user:***@host:6379/0",)
