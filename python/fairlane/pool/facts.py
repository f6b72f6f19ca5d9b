"""What is told about a thing, checked where it comes in."""

from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from fairlane.config.section import config_error
from fairlane.pool.errors import PoolError, PoolErrorCode


class Facts(BaseModel):
    """Frozen fields; those that are not known are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, **fields: object) -> Self:
        """Validate.

        Raises:
            PoolError: invalid_configuration, naming each bad field, its value and what would be accepted.
        """
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise PoolError(PoolErrorCode.INVALID_CONFIGURATION, config_error(error).message) from None
