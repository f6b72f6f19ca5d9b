"""What every configuration section is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS, MAX_SLOTS

Units = Annotated[int, Field(strict=True, ge=1, le=MAX_COST)]
Slots = Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
Milliseconds = Annotated[int, Field(strict=True, ge=1, le=MAX_DURATION_MS)]
MillisecondsOrZero = Annotated[int, Field(strict=True, ge=0, le=MAX_DURATION_MS)]


class Section(BaseModel):
    """A frozen section that refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
