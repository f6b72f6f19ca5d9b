"""Validation of arguments and of models made from them."""

import sys
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from fairlane.config.problems import config_error
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid


class ValidatedModel(BaseModel):
    """A frozen model that refuses unknown fields.

    Raises:
        WorkerError: invalid_configuration, naming each bad field, its value and the accepted values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    if not TYPE_CHECKING:  # pragma: no branch - type checkers must see the fields of the subclass

        def __init__(self, **fields: object) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise WorkerError(
                    WorkerErrorCode.INVALID_CONFIGURATION, config_error(error, type(self)).message
                ) from None

    @classmethod
    def of(cls, **fields: object) -> Self:
        """Create one from fields of unknown types. Raises as the class does."""
        return cls(**fields)


def checked_seconds(name: str, value: object) -> float:
    """Return a duration in seconds, validated. Raises WorkerError: invalid_configuration."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise invalid(name, value, "a finite number of seconds, 0 or more")
    return float(value)
