"""A deterministic provider without a network. Each payload says how its call goes."""

import asyncio
from typing import cast

from fairlane.errors import ProviderFailed, ProviderRefused, Throttled
from fairlane.providers.base import Call, Reply

_INTEGERS = frozenset({"ms", "fail", "throttle", "retry_after_ms", "partial"})


class SimulatedProvider:
    """Does what the payload says. Every field of a payload is optional:

    ``ms`` how long the call takes (default: ``default_ms``; 0 returns at once), ``actual`` its actual units, ``echo``
    its result, ``fail`` how many first attempts fail, ``refuse`` true: the call is refused, ``throttle`` how many first
    calls *at this instance* are throttled, with ``retry_after_ms``, ``partial`` the units it has used if it is
    cancelled. A payload that is not an object counts as an empty one.
    """  # noqa: D400, D415 - the list is the summary

    def __init__(self, *, default_ms: int = 0) -> None:
        self._default_ms = default_ms
        self._throttled: dict[tuple[str, str], int] = {}

    async def call(self, call: Call) -> Reply:
        """Simulate one call."""
        script = call.payload if isinstance(call.payload, dict) else {}
        if script:
            self._check(script)
            self._end_early(call, script)
        duration_ms = script.get("ms", self._default_ms)
        if duration_ms:
            try:
                await asyncio.sleep(duration_ms / 1000)
            except asyncio.CancelledError:
                if "partial" in script:
                    raise ProviderFailed("stopped halfway", actual_units=script["partial"]) from None
                raise
        if call.attempt <= script.get("fail", 0):
            raise ProviderFailed(f"simulated failure of attempt {call.attempt}")
        return Reply(script.get("echo"), script.get("actual"))

    def _check(self, script: dict[str, object]) -> None:
        for name, value in script.items():
            if name in _INTEGERS and (type(value) is not int or value < 0):
                raise ProviderRefused(f"payload {name} = {ascii(value)[:60]}: must be a whole number from 0")

    def _end_early(self, call: Call, script: dict[str, object]) -> None:
        if script.get("refuse"):
            raise ProviderRefused("simulated refusal")
        if "throttle" in script:
            throttles = cast("int", script["throttle"])
            key = (call.tenant, call.task_id)
            seen = self._throttled.pop(key, 0)
            if seen < throttles:
                self._throttled[key] = seen + 1
                raise Throttled(retry_after_ms=cast("int | None", script.get("retry_after_ms")))
