"""What a task will probably cost, from its payload alone: no network, no tokenizer."""

import math
from typing import Final, Protocol

from fairlane.config import EstimateConfig
from fairlane.domain.limits import MAX_COST

_ATTACHMENTS: Final = frozenset({"image_url", "input_image", "input_audio", "image", "audio", "file", "video_url"})
_OTHER_BYTES: Final = 4
"""A number, true, false or null: about a token."""


class Estimator(Protocol):
    """Says what a task will cost."""

    def estimate(self, payload: object) -> int:
        """Return units, from 1; the same for the same payload, which is as it was submitted."""
        ...


class ChatEstimator:
    """Tokens of a chat: its text, at so many UTF-8 bytes per token, and all the output it allows.

    The text is every string in the payload, names included: in a message those stand for the few tokens that frame
    it. Bytes rather than characters, so that scripts with fewer letters per token count more. Output is
    ``max_completion_tokens``, else ``max_tokens``, else the configured default, for each of ``n`` choices.
    A payload that is no object is a prompt with default output.
    """

    def __init__(self, config: EstimateConfig | None = None) -> None:
        self._config = config or EstimateConfig()

    def estimate(self, payload: object) -> int:
        """Return the tokens of prompt and output, 1 to the largest cost there is."""
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
