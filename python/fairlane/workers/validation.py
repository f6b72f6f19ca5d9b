"""What is told about a thing, checked where it comes in."""

import sys
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from fairlane.config.problems import config_error
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid


class ValidatedModel(BaseModel):
    """Frozen fields; those that are not known are refused.

    Raises:
        WorkerError: invalid_configuration, naming each bad field, its value and what would be accepted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    if not TYPE_CHECKING:  # pragma: no branch - to a type checker, the fields are those of the subclass

        def __init__(self, **fields: object) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise WorkerError(
                    WorkerErrorCode.INVALID_CONFIGURATION, config_error(error, type(self)).message
                ) from None

    @classmethod
    def of(cls, **fields: object) -> Self:
        """Make one of fields whose types are not known. Raises as the class does."""
        return cls(**fields)


def checked_seconds(name: str, value: object) -> float:
    """Return a length of time that came in as an argument. Raises WorkerError: invalid_configuration."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise invalid(name, value, "a finite number of seconds, 0 or more")
    return float(value)
