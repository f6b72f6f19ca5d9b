"""A provider's key: read on the machine that uses it, and shown nowhere."""

from collections.abc import Mapping
from typing import NoReturn, Self

from fairlane.errors import ConfigError


class ApiKey:
    """A key that does not print and does not pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_environment(cls, variable: str, environment: Mapping[str, str]) -> Self:
        """Read the key.

        Raises:
            ConfigError: the variable is not set, or holds what no header can; its value is not told.
        """
        value = environment.get(variable, "").strip()
        if not value:
            raise ConfigError(f"{variable} is not set on this machine; an endpoint that wants no key takes any text")
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ConfigError(f"{variable}: must be printable ASCII without spaces")
        return cls(value)

    def bearer(self) -> dict[str, str]:
        """Return the header that shows the key to the provider, and must not be kept or shown elsewhere."""
        return {"Authorization": f"Bearer {self._value}"}

    def removed_from(self, text: str) -> str:
        """Return ``text`` with the key blotted out, should somebody have put it there."""
        return text.replace(self._value, "***")

    def __repr__(self) -> str:
        return "<ApiKey>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: it is read on the machine that uses it")
