"""Estimates the cost of a task from its payload alone: no network, no tokenizer."""

import math
from typing import Final, Protocol

from fairlane.config import EstimateConfig
from fairlane.domain.limits import MAX_COST

_ATTACHMENTS: Final = frozenset({"image_url", "input_image", "input_audio", "image", "audio", "file", "video_url"})
_OTHER_BYTES: Final = 4
"""The size of a number, true, false or null: about one token."""


class Estimator(Protocol):
    """Estimates what a task will cost."""

    def estimate(self, payload: object) -> int:
        """Return the cost in units, at least 1. The same payload must get the same estimate."""
        ...


class ChatEstimator:
    """Estimates the tokens of a chat: its text, at ``bytes_per_token`` UTF-8 bytes, plus all the output it allows.

    The text is every string in the payload, field names included, which stand for the few tokens that frame a
    message. Bytes instead of characters, because scripts with fewer letters per token have more bytes per letter. The
    output is ``max_completion_tokens``, else ``max_tokens``, else the configured default, for each of ``n`` choices.
    A payload that is not an object counts as a prompt with the default output.
    """

    def __init__(self, config: EstimateConfig | None = None) -> None:
        self._config = config or EstimateConfig()

    def estimate(self, payload: object) -> int:
        """Return the tokens of prompt and output, from 1 to the largest cost, 2^40."""
        config = self._config
        text_bytes, attachments = _measure(payload)
        prompt = math.ceil(text_bytes / config.bytes_per_token) + attachments * config.attachment_tokens
        return min(prompt + self._output(payload), MAX_COST)

    def _output(self, payload: object) -> int:
        default = self._config.output_tokens
        if not isinstance(payload, dict):
            return default
        limits = (_positive(payload.get(name)) for name in ("max_completion_tokens", "max_tokens"))
        limit = next((limit for limit in limits if limit is not None), default)
        return limit * (_positive(payload.get("n")) or 1)


def _measure(payload: object) -> tuple[int, int]:
    """Count the bytes of text and the attachments."""
    text_bytes = attachments = 0
    left = [payload]
    while left:
        value = left.pop()
        if isinstance(value, str):
            text_bytes += len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
        elif isinstance(value, bytes | bytearray | memoryview):
            text_bytes += len(value)
        elif isinstance(value, list | tuple):
            left.extend(value)
        elif not isinstance(value, dict):
            text_bytes += _OTHER_BYTES
        elif isinstance(kind := value.get("type"), str) and kind in _ATTACHMENTS:
            attachments += 1
        else:
            left.extend(value)
            left.extend(value.values())
    return text_bytes, attachments


def _positive(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None
