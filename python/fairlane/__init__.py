"""Fairlane: fair, budget-aware dispatch for LLM work.

Names are loaded on first use, so that ``import fairlane`` costs neither Ray nor Redis.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlane.config import (
        ControllerConfig as ControllerConfig,
    )
    from fairlane.config import (
        DispatcherConfig as DispatcherConfig,
    )
    from fairlane.config import (
        PoolConfig as PoolConfig,
    )
    from fairlane.config import (
        SchedulerConfig as SchedulerConfig,
    )
    from fairlane.config import (
        TenantConfig as TenantConfig,
    )
    from fairlane.config import (
        WorkerConfig as WorkerConfig,
    )
    from fairlane.domain.policy import QueuePolicy as QueuePolicy
    from fairlane.domain.policy import ThrottleScope as ThrottleScope
    from fairlane.domain.task import TaskRef as TaskRef
    from fairlane.domain.task import TaskState as TaskState
    from fairlane.domain.task import TaskView as TaskView

_HOMES = {
    "fairlane.config": (
        "ControllerConfig",
        "DispatcherConfig",
        "PoolConfig",
        "SchedulerConfig",
        "TenantConfig",
        "WorkerConfig",
    ),
    "fairlane.domain.policy": ("QueuePolicy", "ThrottleScope"),
    "fairlane.domain.task": ("TaskRef", "TaskState", "TaskView"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - derived, so that it cannot disagree


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'fairlane' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
