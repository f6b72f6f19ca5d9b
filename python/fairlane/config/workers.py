"""How a pool of workers is managed, checked and kept alive."""

from typing import Annotated

from pydantic import Field

from fairlane.config.section import Milliseconds, MillisecondsOrZero, Section

Count = Annotated[int, Field(strict=True, ge=1, le=1_000)]


class HealthConfig(Section):
    """When a worker counts as unwell."""

    interval_ms: Milliseconds = 1_000
    """Between the end of one check and the beginning of the next."""
    jitter: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.1
    """Each interval is longer or shorter by up to this part of it, so that checks do not come together."""
    timeout_ms: Milliseconds = 2_000
    """A check that takes longer has failed."""
    failure_threshold: Count = 3
    """So many failed checks in a row, and the worker is taken out."""
    success_threshold: Count = 1
    """So many good checks in a row, and it is given tasks again."""


class SupervisorConfig(Section):
    """How failed workers are restarted."""

    backoff_base_ms: MillisecondsOrZero = 100
    """The wait before the first restart, at most."""
    backoff_cap_ms: Milliseconds = 10_000
    """Before a restart: a random time up to min(cap, base * 2^restarts within the window)."""
    max_restarts: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 10
    """Within the window; a worker that needs more is given up."""
    window_ms: Milliseconds = 60_000
    """The time within which restarts are counted."""
    start_timeout_ms: Milliseconds = 30_000
    """A restart, or the first start that a manager makes, has failed if it takes longer."""


class ManagerConfig(Section):
    """How tasks find workers, and what happens when one fails."""

    strategy: Annotated[str, Field(min_length=1, max_length=200)] = "least-busy"
    """Which worker gets the next task: a name that is registered, or ``package.module:attribute``."""
    retries: Annotated[int, Field(strict=True, ge=0, le=100)] = 2
    """Further attempts after the first, on other workers where there are any."""
    backoff_base_ms: MillisecondsOrZero = 50
    """The wait before the first further attempt, at most."""
    backoff_cap_ms: Milliseconds = 2_000
    """Before a further attempt: a random time up to min(cap, base * 2^retries before)."""
    queue_limit: Annotated[int, Field(strict=True, ge=0, le=10**7)] = 1_000
    """Tasks that wait for a free slot; more are refused with ``queue_full``."""
    attempt_timeout_ms: Milliseconds | None = None
    """An attempt that takes longer counts as lost with its worker's slot, and is made elsewhere; None: no limit."""
    stop_grace_ms: MillisecondsOrZero = 10_000
    """How long running tasks may go on when the manager stops."""
    health: HealthConfig | None = HealthConfig()
    """None: workers are not checked."""
    supervisor: SupervisorConfig | None = SupervisorConfig()
    """None: failed workers stay failed."""
