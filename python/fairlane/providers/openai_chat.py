"""Chat completions from any endpoint that speaks OpenAI's format. Needs the extra ``fairlane[openai]``.

How the endpoint's answer ends the call:

    2xx with choices                  a Reply: the whole body, and the tokens it says it took
    2xx without, or no JSON           ProviderFailed, charged what it says, else the estimate: the work was done
    2xx that is cut                   ProviderFailed, charged the estimate
    2xx larger than is read           ProviderRefused, charged the estimate
    429, and 503 with a Retry-After   Throttled
    408, 409, 425, other 5xx          ProviderFailed
    other 4xx, redirects              ProviderRefused
    no connection, no answer          ProviderFailed
    time is up, or it is cancelled    ProviderFailed, or cancelled; charged the estimate once the request was sent

One call here is one request there: nothing is retried, since a retry is the scheduler's decision. Once a request has
been sent the endpoint may do the work, and bill it, whether or not somebody still waits.
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
"""4xx that say nothing against the request itself: timeout, lock conflict, too early."""
_LONGEST_MESSAGE: Final = 300
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503
_PROBLEM_BODY_S: Final = 1.0
"""How long the body of an answer may take that is a problem by its status: that and its headers say enough."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came back. ``raw`` has at most one byte more than is accepted."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    raw: bytes = field(repr=False)


class _Request:
    """Whether a request has been sent whole."""

    sent = False

    async def trace(self, event: str, _: object) -> None:
        """Hear what the HTTP client does."""
        if event.endswith(".send_request_body.complete"):
            self.sent = True


class OpenAIChatProvider:
    """Calls ``{base_url}/chat/completions``. Pickles without its key and its connections.

    The worker opens it where it runs: there base URL, model and key are read from the environment.
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
        """Read the environment and make the connection pool; nothing is sent yet.

        Raises:
            ConfigError: naming the variable that is missing or cannot be used.
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
        """Make one request; see the module for how it may end."""
        if self._client is None:
            raise ConfigError("the provider is not open: `await provider.open()` comes before the first call")
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
            raise end  # here, where no frame of the HTTP client with its headers is left to be shown
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
            why = f"no complete answer within {limit_s:g} s" if late else f"{type(error).__name__}: {error}"
            return ProviderFailed(self._told(why), actual_units=cost if charged else None)

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
            return ProviderFailed(self._told(str(error)), actual_units=call.cost if used is None else used)
        return Reply(body, units_used(body, self.config.cached_permille))

    def _problem(self, answer: _Answer) -> ProviderError:
        status = answer.status
        message = self._told(f"HTTP {status}: {error_message(answer.raw)}")
        asked = answer.headers.get("retry-after")
        if status == _TOO_MANY or (status == _UNAVAILABLE and asked is not None):
            pause_ms = retry_after_ms(asked, date=answer.headers.get("date"), clock=self._clock)
            return Throttled(message, retry_after_ms=pause_ms)
        if status >= 500 or status in _REPEATABLE:
            return ProviderFailed(message, status=status)
        return ProviderRefused(message, status=status)

    def _told(self, message: str) -> str:
        """Return a message for the task's record: short, and without the key even if the endpoint echoes it."""
        shown = message if self._key is None else self._key.removed_from(message)
        return shown.removesuffix(": ")[:_LONGEST_MESSAGE]
