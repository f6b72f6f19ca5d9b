"""An OpenAI-compatible endpoint: its address, and how to call it."""

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from fairlane.config.section import Milliseconds, Section

OPENAI_BASE_URL_VARIABLE: Final = "OPENAI_BASE_URL"
OPENAI_MODEL_VARIABLE: Final = "OPENAI_MODEL"
OPENAI_BASE_URL: Final = "https://api.openai.com/v1"


class OpenAIChatConfig(Section):
    """One endpoint. Holds no key: the provider reads it from the environment of the machine that calls."""

    base_url: str | None = None
    """None: OPENAI_BASE_URL on the machine that calls, or else OpenAI's own."""
    model: str | None = None
    """The model for payloads that name none; None: OPENAI_MODEL on the machine that calls."""
    key_variable: str = "OPENAI_API_KEY"
    """The name of the environment variable that holds the key: capitals, digits and underscores."""
    connect_timeout_ms: Milliseconds = 5_000
    """How long connecting may take."""
    timeout_ms: Milliseconds = 600_000
    """How long the whole call may take, connecting included. The task's deadline may end it earlier."""
    cached_permille: Annotated[int, Field(strict=True, ge=0, le=1000)] = 1000
    """The cost of a prompt token from the provider's cache, in thousandths of a unit; rounded up per call."""
    max_response_bytes: Annotated[int, Field(strict=True, ge=1, le=256 * 2**20)] = 8 * 2**20
    """The provider stops reading a larger response, and refuses it."""

    @field_validator("key_variable")
    @classmethod
    def _key_variable_is_a_name(cls, value: str) -> str:
        if re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", value) is None:
            raise ValueError("must be a variable's name in capitals, such as OPENAI_API_KEY; not the key itself")
        return value

    @field_validator("base_url")
    @classmethod
    def _base_url_is_plain(cls, value: str | None) -> str | None:
        problem = None if value is None else base_url_problem(value)
        if problem is not None:
            raise ValueError(problem)
        return value


def base_url_problem(url: str) -> str | None:
    """Say why ``url`` cannot be a base URL, without showing it; None if it can."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        return "must look like https://host/v1"
    if "@" in parts.netloc:
        return "must not hold a user name or password; the key comes from the environment"
    if "?" in url or "#" in url:
        return "must end with its path: no ? and no #"
    return None
