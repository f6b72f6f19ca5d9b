"""The base of every configuration section, and the functions that build one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairlane.config.problems import config_error
from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS, MAX_SLOTS

Units = Annotated[int, Field(strict=True, ge=1, le=MAX_COST)]
Slots = Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
Milliseconds = Annotated[int, Field(strict=True, ge=1, le=MAX_DURATION_MS)]
MillisecondsOrZero = Annotated[int, Field(strict=True, ge=0, le=MAX_DURATION_MS)]


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class _PlainErrors(ModelMetaclass):
    """Makes a section that is built in code raise the same ConfigError as one that is read from a file."""

    if not TYPE_CHECKING:  # to a type checker, the fields are those of the section

        def __call__(self, **fields: object) -> object:
            try:
                return super().__call__(**fields)
            except ValidationError as error:
                raise config_error(error, self) from None


class Section(BaseModel, metaclass=_PlainErrors):
    """A frozen section of the configuration. Refuses unknown fields and unusable values with a ConfigError."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, revalidate_instances="always")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed. ``deep`` makes no difference: sections cannot change.

        Raises:
            ConfigError: a value cannot be used, alone or together with the fields that stay.

        """
        return type(self)(**{**dict(self), **(update or {})})


SectionT = TypeVar("SectionT", bound=Section)


def build(kind: type[SectionT], values: Mapping[str, Any]) -> SectionT:
    """Validate ``values`` as a section.

    Raises:
        ConfigError: one line that names each bad field, its value, and what would be accepted.

    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise config_error(error, kind) from None
