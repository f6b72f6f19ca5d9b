"""The provider contract, and the simulated provider."""

import math
import pickle
from typing import Any

import pytest

from fairlane.clock import system_rng
from fairlane.config import WorkerConfig
from fairlane.domain.limits import MAX_DURATION_MS
from fairlane.domain.task import TaskRef
from fairlane.errors import ConfigError, ProviderFailed, ProviderRefused, Throttled
from fairlane.lifecycle.ending import Endings, presentable
from fairlane.providers.base import Call, Reply, load_provider, usage_of
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.messages import Settlement, StartedTask, Throttle


def _call(payload: object, attempt: int = 1) -> Call:
    return Call("acme", "t1", payload, 100, attempt, None)


class NotAsync:
    """An object that looks like a provider."""

    def call(self, call: Call) -> Reply:
        return Reply()


instance = SimulatedProvider()


@pytest.mark.parametrize("name", ["fairlane.providers.simulated:SimulatedProvider", f"{__name__}:instance"])
def test_a_provider_is_loaded_by_name_from_a_class_or_an_instance(name: str) -> None:
    assert isinstance(load_provider(name), SimulatedProvider)


def test_an_instance_is_returned_unchanged() -> None:
    assert load_provider(instance) is instance


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "no_colon",
        "no.such.module:x",
        "fairlane.providers.simulated:Nothing",
        "fairlane.providers.base:usage_of",
        "fairlane.providers.base:Call",
        f"{__name__}:NotAsync",
        object(),
    ],
)
def test_an_object_that_is_not_a_provider_is_refused_in_one_line(spec: object) -> None:
    with pytest.raises(ConfigError, match="provider"):
        load_provider(spec)


async def test_the_simulated_provider_does_what_its_payload_says() -> None:
    provider = SimulatedProvider()
    assert await provider.call(_call({"echo": [1], "actual": 7, "ms": 1})) == Reply([1], 7)
    assert await provider.call(_call(b"anything")) == Reply(None, None)
    with pytest.raises(ProviderFailed, match="attempt 2"):
        await provider.call(_call({"fail": 2}, attempt=2))
    assert await provider.call(_call({"fail": 2}, attempt=3)) == Reply(None, None)
    with pytest.raises(ProviderRefused):
        await provider.call(_call({"refuse": True}))
    with pytest.raises(ProviderRefused, match="ms"):
        await provider.call(_call({"ms": -1}))


async def test_the_simulated_provider_throttles_the_first_calls_as_asked() -> None:
    provider = SimulatedProvider()
    payload = {"throttle": 2, "retry_after_ms": 40, "echo": "now"}
    for _ in range(2):
        with pytest.raises(Throttled) as caught:
            await provider.call(_call(payload))
        assert caught.value.retry_after_ms == 40
    assert await provider.call(_call(payload)) == Reply("now", None)


def test_usage_is_read_from_the_context_or_the_attribute_if_it_is_a_number() -> None:
    attribute = RuntimeError("x")
    attribute.actual_units = 5  # type: ignore[attr-defined] - the convention
    assert usage_of(attribute) == 5
    assert usage_of(ProviderFailed("x", actual_units=6)) == 6
    assert usage_of(ProviderFailed("x", actual_units=-6)) is None
    assert usage_of(ProviderFailed("x", actual_units=True)) is None
    assert usage_of(RuntimeError("x")) is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, None),
        ({"retry_after_ms": 0}, 0),
        ({"retry_after_ms": 20}, 20),
        ({"retry_after_ms": 3000.0}, 3000),
        ({"retry_after_ms": 1.5}, 2),
        ({"retry_after_ms": 10**400}, MAX_DURATION_MS),
        ({"retry_after_ms": math.inf}, MAX_DURATION_MS),
        ({"retry_after_ms": -1}, None),
        ({"retry_after_ms": math.nan}, None),
        ({"retry_after_ms": "20"}, None),
        ({"retry_after_ms": True}, None),
        ({"retry_after": 3}, 3000),
        ({"retry_after": 0.25}, 250),
        ({"retry_after": "3"}, 3000),
        ({"retry_after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": -1}, None),
        ({"retry_after": "3", "retry_after_ms": 20}, 20),
    ],
)
def test_a_valid_pause_reaches_the_store_in_every_form(given: dict[str, Any], kept: int | None) -> None:
    task = StartedTask(TaskRef("acme", "t1"), 3, 100, b"jnull", 0, None)
    throttled = pickle.loads(pickle.dumps(Throttled(**given)))
    ending = Endings(WorkerConfig(), system_rng(1)).raised(task, throttled)
    assert ending == Throttle(task.ref, 3, kept)


def test_seconds_given_as_the_message_are_an_error() -> None:
    with pytest.raises(TypeError, match="retry_after="):
        Throttled(3)  # type: ignore[arg-type] - the point


@pytest.mark.parametrize(("failures", "bound"), [(0, 200), (2, 800), (1_000, 1_000)])
def test_the_wait_after_a_failed_attempt_has_a_bound(failures: int, bound: int) -> None:
    config = WorkerConfig(backoff_base_ms=200, backoff_cap_ms=1_000)
    endings = Endings(config, system_rng(1))
    task = StartedTask(TaskRef("acme", "t1"), 3, 100, b"jnull", failures, None)
    waits = []
    for _ in range(200):
        ending = endings.raised(task, RuntimeError("x"))
        assert isinstance(ending, Settlement)
        waits.append(ending.backoff_ms)
    assert bound * 0.9 < max(waits) <= bound
    assert min(waits) < bound * 0.1


@pytest.mark.parametrize(
    "secret_text",
    [
        "Authorization: Bearer CANARY",
        "bearer CANARY",
        "{'api_key': 'CANARY'}",
        "x-api-key: CANARY",
        "password=CANARY&x=1",
        "redis://user:CANARY@host:1",
        "https://:CANARY@host",
        "key sk-CANARY1234567",
        "token = CANARY",
        "authorization: Basic CANARY",
        "Authorization: Token CANARY",
        "Proxy-Authorization: Digest username=u, response=CANARY",
        "{'Authorization': 'Basic CANARY', 'X-Other': 'shown'}",
        '{"authorization": "Basic CANARY"}',
        '"{\\"authorization\\": \\"Basic CANARY\\"}"',
        "Cookie: theme=dark; session=CANARY",
        "set-cookie: session=CANARY",
        "{'password': 'CANARY and CANARY'}",
        "client_secret=CANARY&x=1",
        "access_token: CANARY",
        "aws_secret_access_key = CANARY",
        "GET /v1/models?key=CANARY&alt=json",
        "https://host/?a=1&sig=CANARY",
    ],
)
def test_error_texts_are_kept_without_secrets(secret_text: str) -> None:
    shown = presentable(f"before {secret_text} after")
    assert "CANARY" not in shown
    assert shown.startswith("before ")


def test_error_texts_are_short_and_valid() -> None:
    assert len(presentable("x" * 100_000)) == 500
    assert presentable("a\ud800b") == "a?b"
    for harmless in ("token count 12 exceeds the limit", "max_tokens: 4096 is too large, prompt_tokens=12", "key: no"):
        assert presentable(harmless) == harmless
