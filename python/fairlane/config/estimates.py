"""How a client estimates tasks that are submitted without a cost, and sizes what is held for them."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from fairlane.config.section import Section, Units

Ratio = Annotated[float, Field(strict=True, ge=0.001, le=1000, allow_inf_nan=False)]


class EstimateConfig(Section):
    """The chat estimator's figures, and how an estimate becomes a hold.

    Without ``overrun_probability`` the hold is the estimate. With it, the hold is the estimate times the ratio
    actual / estimate that the tenant's tasks have kept to, except for that share of them.
    """

    bytes_per_token: Annotated[float, Field(strict=True, ge=0.5, le=64, allow_inf_nan=False)] = 4.0
    """UTF-8 bytes of text that make one token, on average."""
    output_tokens: Units = 512
    """Expected of a payload that sets no limit to its output."""
    attachment_tokens: Units = 1_000
    """What an image, a sound or a file in a message counts for."""
    overrun_probability: Annotated[float, Field(strict=True, ge=0.0001, le=0.5, allow_inf_nan=False)] | None = None
    """The share of tasks that may cost more than is held for them; None: holds are not sized."""
    min_samples: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 50
    """Settled tasks of a tenant before its holds are sized; never fewer than 1 / overrun_probability - 1."""
    window_samples: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 1_000
    """A hold is sized by the latest one to two times so many settled tasks of the tenant."""
    least_ratio: Ratio = 0.05
    """A hold is never below the estimate times this."""
    most_ratio: Ratio = 4.0
    """A hold is never above the estimate times this."""
    tenants: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 1_000
    """Tenants remembered; the one heard of longest ago is forgotten first."""

    @property
    def enough_samples(self) -> int:
        """Settled tasks from which on holds are sized."""
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
