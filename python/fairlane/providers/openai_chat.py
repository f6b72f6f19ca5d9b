"""Chat completions from any OpenAI-compatible endpoint. Needs the extra ``fairlane[openai]``.

How the endpoint's response ends the call:

    2xx with choices                  a Reply: the whole body, and the tokens that it says it used
    2xx without choices, or no JSON   ProviderFailed, charged what it says, or else the estimate: the work was done
    2xx with an incomplete body       ProviderFailed, charged the estimate
    2xx above max_response_bytes      ProviderRefused, charged the estimate
    429, and 503 with a Retry-After   Throttled
    408, 409, 425, other 5xx          ProviderFailed
    other 4xx, redirects              ProviderRefused
    no connection, no response        ProviderFailed
    timeout, or cancelled             ProviderFailed, or cancelled; charged the estimate if the request had been sent

One call makes one request. The provider does not retry: that is the scheduler's decision. Once a request has been sent,
the endpoint may do the work, and bill it, even if nobody waits for it any more.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.config.openai_chat import (
    OPENAI_BASE_URL,
    OPENAI_BASE_URL_VARIABLE,
    OPENAI_MODEL_VARIABLE,
    OpenAIChatConfig,
    base_url_problem,
)
from fairlane.errors import ConfigError, ProviderError, ProviderFailed, ProviderRefused, Throttled
from fairlane.providers.api_key import ApiKey
from fairlane.providers.base import Call, Reply, tell_usage
from fairlane.providers.chat_completion import (
    UnreadableCompletion,
    error_message,
    read_completion,
    request_body,
    units_used,
)
from fairlane.providers.retry_after import retry_after_ms

try:
    import httpx2
except ImportError as error:
    raise ImportError(f"{error}; install fairlane[openai]", name=error.name) from None

__all__ = ["OpenAIChatConfig", "OpenAIChatProvider"]

_REPEATABLE: Final = frozenset({408, 409, 425})
"""4xx after which the same request may succeed: timeout, lock conflict, too early."""
_LONGEST_MESSAGE: Final = 300
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503
_PROBLEM_BODY_S: Final = 1.0
"""How long to wait for the body of an error response. If it is incomplete by then, the status and headers decide."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response. ``raw`` has at most one byte more than ``max_response_bytes``."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    raw: bytes = field(repr=False)


class _Request:
    """Whether the whole request has been sent."""

    sent = False

    async def trace(self, event: str, _: object) -> None:
        """Receive the HTTP client's trace events."""
        if event.endswith(".send_request_body.complete"):
            self.sent = True


class OpenAIChatProvider:
    """Calls ``{base_url}/chat/completions``. Pickles without its key and its connections.

    The worker opens it on its own machine, and reads base URL, model and key from the environment there.
    """

    def __init__(self, config: OpenAIChatConfig | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        self.config = config or OpenAIChatConfig()
        self._clock = clock
        self._client: httpx2.AsyncClient | None = None
        self._key: ApiKey | None = None
        self._model: str | None = None

    def __repr__(self) -> str:
        return f"OpenAIChatProvider({self.config!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.config, self._clock))

    async def open(self) -> None:
        """Read the environment and make the connection pool. Sends nothing yet.

        Raises:
            ConfigError: a variable is missing or cannot be used; names it.
        """
        config = self.config
        base_url = config.base_url or os.environ.get(OPENAI_BASE_URL_VARIABLE) or OPENAI_BASE_URL
        problem = base_url_problem(base_url)
        if problem is not None:
            raise ConfigError(f"{OPENAI_BASE_URL_VARIABLE}: {problem}")
        key = ApiKey.from_environment(config.key_variable, os.environ)
        self._model = config.model or os.environ.get(OPENAI_MODEL_VARIABLE) or None
        await self.close()
        self._key = key
        self._client = httpx2.AsyncClient(
            base_url=base_url,
            headers=key.bearer(),
            timeout=httpx2.Timeout(None, connect=config.connect_timeout_ms / 1000),
            limits=httpx2.Limits(max_connections=None),  # the worker's slots are the limit
        )

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def call(self, call: Call) -> Reply:
        """Make one request. The module's docstring says how it may end."""
        if self._client is None:
            raise ConfigError("the provider is not open: await provider.open() before the first call")
        body = request_body(call.payload, self._model)
        limit_s = self.config.timeout_ms / 1000
        if call.deadline_s is not None:
            limit_s = min(limit_s, call.deadline_s)
        request = _Request()
        try:
            answer = await self._exchange(self._client, body, limit_s, request, call.cost)
        except asyncio.CancelledError as cancelled:
            if request.sent:
                tell_usage(cancelled, call.cost)
            raise
        end = answer if isinstance(answer, ProviderError) else self._read(answer, call)
        if isinstance(end, ProviderError):
            raise end  # here, so that its traceback has no frame of the HTTP client, whose locals hold the key
        return end

    async def _exchange(
        self, client: httpx2.AsyncClient, body: dict[str, object], limit_s: float, request: _Request, cost: int
    ) -> _Answer | ProviderFailed:
        head: httpx2.Response | None = None
        sending = client.stream("POST", "chat/completions", json=body, extensions={"trace": request.trace})
        try:
            async with asyncio.timeout(limit_s), sending as head:
                async with asyncio.timeout(None if head.is_success else _PROBLEM_BODY_S):
                    return _Answer(head.status_code, head.headers, await self._content(head))
        except (TimeoutError, httpx2.HTTPError) as error:
            if head is not None and not head.is_success:
                return _Answer(head.status_code, head.headers, b"")
            late = isinstance(error, TimeoutError)
            charged = head is not None or (late and request.sent)
            why = f"no complete response within {limit_s:g} s" if late else f"{type(error).__name__}: {error}"
            return ProviderFailed(self._message(why), actual_units=cost if charged else None)

    async def _content(self, response: httpx2.Response) -> bytes:
        most = self.config.max_response_bytes
        raw = bytearray()
        async for chunk in response.aiter_bytes():
            raw += chunk[: most + 1 - len(raw)]
            if len(raw) > most:
                break
        return bytes(raw)

    def _read(self, answer: _Answer, call: Call) -> Reply | ProviderError:
        status, raw = answer.status, answer.raw
        if not 200 <= status < 300:
            return self._problem(answer)
        most = self.config.max_response_bytes
        if len(raw) > most:
            return ProviderRefused(f"the response is larger than max_response_bytes = {most}", actual_units=call.cost)
        try:
            body = read_completion(raw)
        except UnreadableCompletion as error:
            used = units_used(error.body, self.config.cached_permille)
            return ProviderFailed(self._message(str(error)), actual_units=call.cost if used is None else used)
        return Reply(body, units_used(body, self.config.cached_permille))

    def _problem(self, answer: _Answer) -> ProviderError:
        status = answer.status
        message = self._message(f"HTTP {status}: {error_message(answer.raw)}")
        retry_after = answer.headers.get("retry-after")
        if status == _TOO_MANY or (status == _UNAVAILABLE and retry_after is not None):
            pause_ms = retry_after_ms(retry_after, date=answer.headers.get("date"), clock=self._clock)
            return Throttled(message, retry_after_ms=pause_ms)
        if status >= 500 or status in _REPEATABLE:
            return ProviderFailed(message, status=status)
        return ProviderRefused(message, status=status)

    def _message(self, message: str) -> str:
        """Return a short message for the task's record, without the key even if the endpoint echoes it."""
        shown = message if self._key is None else self._key.removed_from(message)
        return shown.removesuffix(": ")[:_LONGEST_MESSAGE]
