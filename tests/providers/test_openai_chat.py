"""Every response, and every failure, ends the call as the provider promises. Real HTTP on loopback."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

pytest.importorskip("httpx2")

from fairlane.config.openai_chat import OpenAIChatConfig
from fairlane.errors import ConfigError, ProviderError, ProviderFailed, ProviderRefused, Throttled
from fairlane.providers import openai_chat
from fairlane.providers.base import Call, load_provider, usage_of
from fairlane.providers.openai_chat import OpenAIChatProvider
from tests.providers.conftest import CANARY
from tests.support.chat_server import TIMEOUT_S, Answer, ChatServer, completion

COST = 400


def _call(payload: object = "hi", deadline_s: float | None = None) -> Call:
    return Call("acme", "t1", payload, COST, 1, deadline_s)


@pytest.fixture
async def provider(endpoint_server: ChatServer) -> AsyncIterator[OpenAIChatProvider]:
    provider = OpenAIChatProvider(OpenAIChatConfig(max_response_bytes=10_000, cached_permille=500))
    await provider.open()
    yield provider
    await provider.close()


async def _failure(provider: OpenAIChatProvider, payload: object = "hi") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await provider.call(_call(payload))
    return caught.value


async def test_a_chat_is_sent_with_key_and_model_and_its_completion_comes_back(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}
    endpoint_server.will(Answer(body=completion("hello", usage)))
    reply = await provider.call(_call({"messages": [{"role": "user", "content": "grüß"}], "temperature": 0}))
    assert reply.result == completion("hello", usage)
    assert reply.actual_units == 4 + 3 + 4
    [request] = endpoint_server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {CANARY}"
    assert request.body == {"messages": [{"role": "user", "content": "grüß"}], "temperature": 0, "model": "tiny"}


async def test_without_usage_the_estimate_is_charged(endpoint_server: ChatServer, provider: OpenAIChatProvider) -> None:
    endpoint_server.will(Answer(body=completion(usage=None)))
    assert (await provider.call(_call())).actual_units is None


@pytest.mark.parametrize(
    ("headers", "pause_ms"),
    [({"Retry-After": "2"}, 2000), ({"Retry-After": "0"}, 0), ({"Retry-After": "1.5"}, 1500),
     ({"Retry-After": "-5"}, None), ({"Retry-After": "soon"}, None), ({"Retry-After": "9" * 30}, 86_400_000),
     ({"Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 10_000)],
)  # fmt: skip
@pytest.mark.parametrize("status", [429, 503])
async def test_an_endpoint_that_wants_a_pause_throttles(
    endpoint_server: ChatServer,
    provider: OpenAIChatProvider,
    status: int,
    headers: dict[str, str],
    pause_ms: int | None,
) -> None:
    endpoint_server.will(Answer(status, {"error": {"message": "slow down"}}, headers))
    throttled = await _failure(provider)
    assert isinstance(throttled, Throttled)
    assert throttled.retry_after_ms == pause_ms
    assert throttled.message == f"HTTP {status}: slow down"


async def test_429_throttles_without_a_pause_and_with_an_incomplete_body(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    endpoint_server.will(Answer(429), Answer(429, headers={"Retry-After": "3"}, cut_after=4))
    assert isinstance(await _failure(provider), Throttled)
    cut = await _failure(provider)
    assert isinstance(cut, Throttled)
    assert cut.retry_after_ms == 3000


async def test_the_status_and_headers_decide_if_the_body_of_an_error_stalls(
    endpoint_server: ChatServer, provider: OpenAIChatProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_chat, "_PROBLEM_BODY_S", 0.1)
    stalls = {"stalls_after": 4}
    endpoint_server.will(Answer(429, headers={"Retry-After": "7"}, **stalls), Answer(500, **stalls), Answer(**stalls))
    throttled = await _failure(provider)
    assert isinstance(throttled, Throttled)
    assert throttled.retry_after_ms == 7000
    assert (await _failure(provider)).message == "HTTP 500"
    monkeypatch.setattr(openai_chat, "_PROBLEM_BODY_S", 1.0)
    hurried = OpenAIChatProvider(OpenAIChatConfig(timeout_ms=300))
    await hurried.open()
    for _ in range(2):  # the timeout comes before the body's own
        endpoint_server.answers.appendleft(Answer(429, headers={"Retry-After": "7"}, **stalls))
        assert isinstance(await _failure(hurried), Throttled)
    late = await _failure(hurried)
    assert (late.message, late.context["actual_units"]) == ("no complete response within 0.3 s", COST)
    await hurried.close()


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408, 409, 425])
async def test_errors_that_may_pass_can_be_retried(
    endpoint_server: ChatServer, provider: OpenAIChatProvider, status: int
) -> None:
    endpoint_server.will(Answer(status, b"<html>Bad Gateway</html>"))
    failed = await _failure(provider)
    assert isinstance(failed, ProviderFailed)
    assert failed.message.startswith(f"HTTP {status}: ")
    assert "actual_units" not in failed.context


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 301, 307])
async def test_other_4xx_and_redirects_are_refused(
    endpoint_server: ChatServer, provider: OpenAIChatProvider, status: int
) -> None:
    endpoint_server.will(Answer(status, {"error": {"message": "no"}}, {"Location": endpoint_server.url}))
    assert isinstance(await _failure(provider), ProviderRefused)
    assert len(endpoint_server.requests) == 1


@pytest.mark.parametrize("body", [b"", b"not json", b"\xff" * 50, b"[]", b'{"choices": []}', b'{"choices": [1]'])
async def test_a_success_that_cannot_be_read_failed_and_costs_the_estimate(
    endpoint_server: ChatServer, provider: OpenAIChatProvider, body: bytes
) -> None:
    endpoint_server.will(Answer(200, body))
    failed = await _failure(provider)
    assert isinstance(failed, ProviderFailed)
    assert failed.context["actual_units"] == COST


async def test_a_success_without_choices_costs_the_usage_it_states(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    endpoint_server.will(Answer(200, {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}))
    failed = await _failure(provider)
    assert isinstance(failed, ProviderFailed)
    assert failed.context["actual_units"] == 7


async def test_a_huge_response_is_not_read_to_its_end(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    endpoint_server.will(Answer(200, b"x" * 50_000_000), Answer(500, b"x" * 50_000_000))
    refused = await _failure(provider)
    assert isinstance(refused, ProviderRefused)
    assert "max_response_bytes = 10000" in refused.message
    assert refused.context["actual_units"] == COST
    failed = await _failure(provider)
    assert isinstance(failed, ProviderFailed)
    assert len(failed.message) <= 300


@pytest.mark.parametrize(("cut_after", "charged"), [(-1, None), (0, COST), (20, COST)])
async def test_a_cut_connection_failed_and_the_next_call_works(
    endpoint_server: ChatServer, provider: OpenAIChatProvider, cut_after: int, charged: int | None
) -> None:
    endpoint_server.will(Answer(cut_after=cut_after))
    failed = await _failure(provider)
    assert isinstance(failed, ProviderFailed)
    assert usage_of(failed) == charged
    assert (await provider.call(_call())).actual_units == 12


async def test_an_answer_with_broken_compression_failed(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    endpoint_server.will(Answer(200, b"not gzip at all", {"Content-Encoding": "gzip"}))
    assert isinstance(await _failure(provider), ProviderFailed)


async def test_the_deadline_ends_a_call_before_its_timeout_and_frees_its_connection(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    endpoint_server.will(Answer(silent=True))
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(ProviderFailed, match=r"no complete response within 0\.2 s") as late:
            await provider.call(_call(deadline_s=0.2))
        await endpoint_server.left.wait()
    assert usage_of(late.value) == COST


async def test_the_timeout_ends_a_call(endpoint_server: ChatServer) -> None:
    provider = OpenAIChatProvider(OpenAIChatConfig(timeout_ms=50))
    await provider.open()
    endpoint_server.will(Answer(silent=True))
    assert isinstance(await _failure(provider), ProviderFailed)
    await provider.close()


async def test_a_cancelled_call_frees_its_connection(endpoint_server: ChatServer, provider: OpenAIChatProvider) -> None:
    endpoint_server.will(Answer(silent=True))
    calling = asyncio.create_task(provider.call(_call()))
    async with asyncio.timeout(TIMEOUT_S):
        await endpoint_server.asked.wait()
        calling.cancel()
        await endpoint_server.left.wait()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await calling
    assert usage_of(cancelled.value) == COST


async def test_a_refused_connection_is_a_failure(endpoint_server: ChatServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    provider = OpenAIChatProvider(OpenAIChatConfig(base_url=url))
    await provider.open()
    failed = await _failure(provider)
    assert "ConnectError" in failed.message
    assert usage_of(failed) is None
    await provider.close()


async def test_connecting_fails_after_its_own_timeout(endpoint_server: ChatServer) -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):  # more than the backlog takes
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        provider = OpenAIChatProvider(OpenAIChatConfig(base_url=url, connect_timeout_ms=50))
        await provider.open()
        assert "ConnectTimeout" in (await _failure(provider)).message
        await provider.close()


async def test_many_calls_at_once_each_get_their_own_answer(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    replies = await asyncio.gather(*(provider.call(_call(f"number {n}")) for n in range(200)))
    assert [reply.actual_units for reply in replies] == [12] * 200
    asked = {request.body["messages"][0]["content"] for request in endpoint_server.requests}
    assert asked == {f"number {n}" for n in range(200)}


async def test_a_payload_that_is_no_chat_is_refused_without_asking(
    endpoint_server: ChatServer, provider: OpenAIChatProvider
) -> None:
    assert isinstance(await _failure(provider, 7), ProviderRefused)
    assert not endpoint_server.requests


async def test_it_is_loaded_by_name_and_configured_by_the_environment(endpoint_server: ChatServer) -> None:
    provider = load_provider("fairlane.providers.openai_chat:OpenAIChatProvider")
    assert isinstance(provider, OpenAIChatProvider)
    with pytest.raises(ConfigError, match="not open"):
        await provider.call(_call())
    await provider.open()
    assert (await provider.call(_call())).actual_units == 12
    await provider.close()


@pytest.mark.parametrize(
    ("variable", "value"),
    [("OPENAI_API_KEY", ""), ("OPENAI_API_KEY", "a b"), ("OPENAI_API_KEY", "ä-CANARY"),
     ("OPENAI_API_KEY", "x\ny-CANARY"),
     ("OPENAI_BASE_URL", "ftp://x"), ("OPENAI_BASE_URL", "https://u:CANARY@host/v1"), ("OPENAI_BASE_URL", "http://"),
     ("OPENAI_BASE_URL", "http://h:99999"), ("OPENAI_BASE_URL", "http://h/?key=CANARY"), ("OPENAI_BASE_URL", "h/ v1")],
)  # fmt: skip
async def test_the_error_names_an_unusable_variable_without_its_value(
    endpoint_server: ChatServer, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=variable) as caught:
        await OpenAIChatProvider().open()
    assert "CANARY" not in str(caught.value)
