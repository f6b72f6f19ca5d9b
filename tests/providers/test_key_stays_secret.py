"""The provider's key goes to the provider and nowhere else: a test key is searched for in everything that is stored."""

import base64
import logging
import pickle
import traceback

import pytest
from ray import cloudpickle

pytest.importorskip("httpx2")

from fairlane.config.openai_chat import OpenAIChatConfig
from fairlane.errors import ConfigError, ProviderError
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.api_key import ApiKey
from fairlane.providers.base import Call
from fairlane.providers.openai_chat import OpenAIChatProvider
from tests.lifecycle.harness import Harness
from tests.providers.conftest import CANARY
from tests.support.chat_server import Answer, ChatServer
from tests.support.store_dump import dump

ECHO = {"error": {"message": "x" * 290 + f"Incorrect API key provided: {CANARY}"}}
TROUBLE = [
    Answer(401, ECHO),
    Answer(429, ECHO, {"Retry-After": "0"}),
    Answer(500, f"Authorization: Bearer {CANARY}".encode()),
    Answer(200, ECHO),
    Answer(200, f"{CANARY}".encode()),
    Answer(200, b"gzip?", {"Content-Encoding": "gzip"}),
    Answer(cut_after=-1),
    Answer(cut_after=5),
    Answer(silent=True),
]


async def test_no_message_traceback_or_log_line_shows_the_key(
    endpoint_server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    provider = OpenAIChatProvider(OpenAIChatConfig(timeout_ms=1_000))
    left_behind = []
    await provider.open()
    for answer in TROUBLE:
        endpoint_server.will(answer)
        with pytest.raises(ProviderError) as caught:
            await provider.call(Call("acme", "t1", "hi", 10, 1, None))
        error = caught.value
        assert error.__traceback__ is not None
        own_frames = error.__traceback__.tb_next  # without this test's
        shown = traceback.TracebackException(type(error), error, own_frames, capture_locals=True)
        left_behind += [str(error), repr(error), repr(error.context), repr(pickle.dumps(error)), *shown.format()]
        assert error.__context__ is None
        assert error.__cause__ is None
    left_behind += [repr(provider), repr(provider.config), repr(vars(provider)), *map(str, caplog.records)]
    await provider.close()
    left_behind.append(caplog.text)
    text = "\n".join(left_behind)
    assert CANARY not in text
    assert CANARY[:-4] not in text
    assert base64.b64encode(CANARY.encode()).decode() not in text
    assert all(request.headers["authorization"] == f"Bearer {CANARY}" for request in endpoint_server.requests)


async def test_a_provider_pickles_without_its_key_and_reads_it_on_the_worker(
    endpoint_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = OpenAIChatProvider(OpenAIChatConfig(key_variable="MY_KEY"))
    monkeypatch.setenv("MY_KEY", CANARY)
    await provider.open()
    sent = [pickle.dumps(provider), cloudpickle.dumps(provider)]
    await provider.close()
    assert all(CANARY.encode() not in parcel for parcel in sent)
    arrived = pickle.loads(sent[0])
    assert arrived.config == provider.config
    monkeypatch.setenv("MY_KEY", "sk-another")
    await arrived.open()
    await arrived.call(Call("acme", "t1", "hi", 10, 1, None))
    await arrived.close()
    assert endpoint_server.requests[-1].headers["authorization"] == "Bearer sk-another"
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ConfigError, match="MY_KEY is not set"):
        await arrived.open()


def test_a_key_neither_prints_nor_pickles() -> None:
    key = ApiKey(CANARY)
    assert CANARY not in f"{key} {key!r}"
    with pytest.raises(TypeError):
        pickle.dumps(key)


async def test_no_task_record_event_or_result_holds_the_key(
    endpoint_server: ChatServer, pool: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await pool.put()
    await pool.dispatcher()
    await pool.worker(OpenAIChatProvider(OpenAIChatConfig(timeout_ms=1_000)))
    client = await pool.client()
    endpoint_server.will(*TROUBLE)
    answers = await client.submit_many(TaskSpec("acme", f"chat {n}", 10) for n in range(8))
    handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
    outcomes = await client.wait_many(handles, timeout_s=20)
    stored = await dump(pool.store)
    assert "HTTP 401" in repr(outcomes)
    assert CANARY not in repr(outcomes) + repr(stored) + caplog.text
    assert CANARY[:-4] not in repr(outcomes) + repr(stored) + caplog.text
