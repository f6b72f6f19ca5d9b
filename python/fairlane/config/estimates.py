"""How a client estimates the cost of tasks that are submitted without one, and how much it holds for them."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from fairlane.config.section import Section, Units

Ratio = Annotated[float, Field(strict=True, ge=0.001, le=1000, allow_inf_nan=False)]


class EstimateConfig(Section):
    """The chat estimator's figures, and how an estimate becomes a hold.

    Without ``overrun_probability`` the hold is the estimate. With it, the hold is the estimate times a ratio
    actual / estimate, chosen so that only this share of the tenant's tasks has cost more.
    """

    bytes_per_token: Annotated[float, Field(strict=True, ge=0.5, le=64, allow_inf_nan=False)] = 4.0
    """UTF-8 bytes of text that make one token, on average."""
    output_tokens: Units = 512
    """The expected output of a payload that does not limit it."""
    attachment_tokens: Units = 1_000
    """The cost of an image, a sound or a file in a message."""
    overrun_probability: Annotated[float, Field(strict=True, ge=0.0001, le=0.5, allow_inf_nan=False)] | None = None
    """The share of tasks that may cost more than is held for them; None: holds are not sized."""
    min_samples: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 50
    """How many tasks of a tenant must have settled before its holds are sized; never fewer than
    1 / overrun_probability - 1."""
    window_samples: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 1_000
    """A hold is sized by the tenant's latest settled tasks: this many, up to twice as many."""
    least_ratio: Ratio = 0.05
    """A hold is never less than the estimate times this."""
    most_ratio: Ratio = 4.0
    """A hold is never more than the estimate times this."""
    tenants: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 1_000
    """How many tenants the client remembers. It forgets the least recently used one first."""

    @property
    def enough_samples(self) -> int:
        """How many tasks must have settled before holds are sized."""
        if self.overrun_probability is None:
            return self.min_samples
        return max(self.min_samples, math.ceil(1 / self.overrun_probability) - 1)

    @model_validator(mode="after")
    def _figures_fit(self) -> Self:
        if self.least_ratio > self.most_ratio:
            raise ValueError(f"least_ratio = {self.least_ratio}: must not exceed most_ratio = {self.most_ratio}")
        if self.enough_samples > self.window_samples:
            raise ValueError(
                f"window_samples = {self.window_samples}: must be at least {self.enough_samples}, "
                "as min_samples and overrun_probability need"
            )
        return self
