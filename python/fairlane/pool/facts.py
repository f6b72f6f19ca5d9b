"""What is told about a thing, checked where it comes in."""

from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

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
            problems = [
                f"{'.'.join(map(str, each['loc']))} = {ascii(each['input'])[:60]}: {each['msg']}"
                for each in error.errors(include_url=False, include_context=False)
            ]
            raise PoolError(PoolErrorCode.INVALID_CONFIGURATION, "; ".join(problems)) from None
