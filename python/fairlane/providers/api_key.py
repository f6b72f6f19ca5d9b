"""A provider's key. It is read on the machine that uses it, and never shown."""

from collections.abc import Mapping
from typing import NoReturn, Self

from fairlane.errors import ConfigError


class ApiKey:
    """A key that can be neither printed nor pickled."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_environment(cls, variable: str, environment: Mapping[str, str]) -> Self:
        """Read the key.

        Raises:
            ConfigError: the variable is not set, or a header cannot hold its value, which is not shown.
        """
        value = environment.get(variable, "").strip()
        if not value:
            raise ConfigError(
                f"{variable} is not set on this machine; set it to the key, or to any text if none is needed"
            )
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ConfigError(f"{variable}: must be printable ASCII without spaces")
        return cls(value)

    def bearer(self) -> dict[str, str]:
        """Return the header with the key. It must not be stored or shown."""
        return {"Authorization": f"Bearer {self._value}"}

    def removed_from(self, text: str) -> str:
        """Return ``text`` with ``***`` in place of the key."""
        return text.replace(self._value, "***")

    def __repr__(self) -> str:
        return "<ApiKey>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled: read it on the machine that uses it")
