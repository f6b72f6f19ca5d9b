"""What every configuration section is made of, and the plain error for one that cannot be used."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS, MAX_SLOTS
from fairlane.errors import ConfigError

Units = Annotated[int, Field(strict=True, ge=1, le=MAX_COST)]
Slots = Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
Milliseconds = Annotated[int, Field(strict=True, ge=1, le=MAX_DURATION_MS)]
MillisecondsOrZero = Annotated[int, Field(strict=True, ge=0, le=MAX_DURATION_MS)]


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class _PlainErrors(ModelMetaclass):
    """Has a section that is made in code refuse values as one that is read from a file does."""

    if not TYPE_CHECKING:  # the fields are those of the section

        def __call__(self, **fields: object) -> object:
            try:
                return super().__call__(**fields)
            except ValidationError as error:
                raise config_error(error) from None


class Section(BaseModel, metaclass=_PlainErrors):
    """A frozen section that refuses what it does not know, with a ConfigError."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, revalidate_instances="always")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a section with some fields changed; ``deep`` makes no difference, since nothing in one can change.

        Raises:
            ConfigError: a value is not accepted, by itself or with the fields that stay.

        """
        return type(self)(**{**dict(self), **(update or {})})


def config_error(error: ValidationError) -> ConfigError:
    """Turn pydantic's report into one plain line. Values of secret fields are not shown."""
    problems = []
    for item in error.errors(include_url=False, include_context=False):
        field = ".".join(str(part) for part in item["loc"]) or "configuration"
        hidden = "url" in field or item["type"] in {"missing", "value_error"}
        shown = "" if hidden else f" = {ascii(item['input'])[:60]}"
        problems.append(f"{field}{shown}: {item['msg'].removeprefix('Value error, ')}")
    return ConfigError("; ".join(problems), fields=[p.split(":")[0] for p in problems])
