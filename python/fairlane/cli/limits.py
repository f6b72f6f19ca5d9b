"""A tenant's limits on the command line: how options change them, and how they are shown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import typer

from fairlane.config import BudgetConfig, TenantConfig, WindowConfig, build
from fairlane.domain.policy import BudgetPolicy
from fairlane.errors import ConfigError

T = TypeVar("T")
NONE: Final = "none"
"""The word that removes a limit."""
_NUMBER: Final = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_WINDOW: Final = re.compile(r"(\d{1,40})/(\d{1,40})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Named(Generic[T]):
    """The value of an option; None: the limit is removed."""

    value: T | None


def whole(text: str) -> int:
    """Read a whole number."""
    return _whole(text, "must be a whole number")


def number(text: str) -> Named[int]:
    """Read a whole number or `none`."""
    return Named(None if text == NONE else _whole(text, f"must be a whole number, or {NONE}"))


def _whole(text: str, accepted: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise typer.BadParameter(f"{ascii(text)[:60]}: {accepted}")
    return int(text)


def window(text: str) -> Named[tuple[int, int]]:
    """Read LIMIT/INTERVAL_MS or `none`."""
    if text == NONE:
        return Named(None)
    found = _WINDOW.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"{ascii(text)[:60]}: must be LIMIT/INTERVAL_MS, such as 60/60000, or {NONE}")
    return Named((int(found[1]), int(found[2])))


@dataclass(frozen=True, slots=True)
class Change:
    """The options' changes to a tenant's limits; None: unchanged.

    Raises ConfigError, naming the option, for a value that is invalid whatever the tenant's other limits are.
    """

    weight: int | None = None
    slots: Named[int] | None = None
    cost_ceiling_units: Named[int] | None = None
    queue_limit: int | None = None
    budget_units: Named[int] | None = None
    budget_period_ms: Named[int] | None = None
    budget_anchor_ms: int | None = None
    when_exhausted: BudgetPolicy | None = None
    starts: Named[tuple[int, int]] | None = None
    spend: Named[tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        self.applied_to(TenantConfig(budget=BudgetConfig(**_ANY_BUDGET)))

    def applied_to(self, before: TenantConfig | None) -> TenantConfig:
        """Return the limits after the change. A new tenant (None) has the default where an option is not given.

        Raises:
            ConfigError: an option sets a budget's period, anchor or policy, and there is no budget.
        """
        limits = before or TenantConfig()
        given: dict[str, object] = {
            "weight": self.weight,
            "slots": self.slots,
            "cost_ceiling_units": self.cost_ceiling_units,
            "queue_limit": self.queue_limit,
        }
        changed = {field: _checked(TenantConfig, field, value) for field, value in given.items() if value is not None}
        for field, named in (("starts", self.starts), ("spend", self.spend)):
            if named is not None:
                changed[field] = None if named.value is None else _checked_window(field, *named.value)
        return limits.model_copy(update=changed | {"budget": self._budget(limits.budget)})

    def _budget(self, before: BudgetConfig | None) -> BudgetConfig | None:
        details = {
            "period_ms": self.budget_period_ms,
            "anchor_ms": self.budget_anchor_ms,
            "when_exhausted": self.when_exhausted,
        }
        given = {field: value for field, value in details.items() if value is not None}
        if self.budget_units is None and not given:
            return before
        units = self.budget_units or Named(None if before is None else before.limit_units)
        if units.value is None and not given:
            return None
        if units.value is None:
            option = _BUDGET_OPTIONS[next(iter(given))]
            missing = "the tenant has no budget" if self.budget_units is None else f"--budget-units is {NONE}"
            raise ConfigError(f"{option}: {missing}; give --budget-units a number, or leave {option} out", field=option)
        values = {} if before is None else dict(before)
        for field, value in ({"limit_units": units} | given).items():
            values[field] = _checked(BudgetConfig, field, value, _BUDGET_OPTIONS[field])
        if values.get("period_ms") is None and self.budget_anchor_ms is None:
            values["anchor_ms"] = 0  # an anchor needs a period
        try:
            return BudgetConfig(**values)
        except ConfigError as error:
            option = _BUDGET_OPTIONS["anchor_ms"]
            raise ConfigError(f"{option}{error.message.removeprefix('anchor_ms')}", field=option) from None


_ANY_BUDGET: Final = {"limit_units": 0, "period_ms": 1000}
_BUDGET_OPTIONS: Final = {
    "limit_units": "--budget-units",
    "period_ms": "--budget-period-ms",
    "anchor_ms": "--budget-anchor-ms",
    "when_exhausted": "--when-exhausted",
}


def _checked(section: type[TenantConfig | BudgetConfig], field: str, value: object, option: str = "") -> object:
    """Validate one value as the section does. Raises ConfigError, naming the option."""
    if isinstance(value, Named):
        value = value.value
    option = option or _option(field)
    required = _ANY_BUDGET if section is BudgetConfig else {}
    try:
        return getattr(build(section, required | {field: value}), field)
    except ConfigError as error:
        raise ConfigError(f"{option}{error.message.removeprefix(field)}", field=option) from None


def _checked_window(field: str, limit: int, interval_ms: int) -> WindowConfig:
    try:
        return WindowConfig(limit=limit, interval_ms=interval_ms)
    except ConfigError as error:
        option = _option(field)
        raise ConfigError(f"{option} = {limit}/{interval_ms}: {error.message}", field=option) from None


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def shown(limits: TenantConfig) -> dict[str, str]:
    """Return the limits by the names of their options, written as the options take them."""
    budget = limits.budget
    values: Mapping[str, object] = {
        "weight": limits.weight,
        "slots": limits.slots,
        "cost-ceiling-units": limits.cost_ceiling_units,
        "queue-limit": limits.queue_limit,
        "budget-units": None if budget is None else budget.limit_units,
        "budget-period-ms": None if budget is None else budget.period_ms,
        "budget-anchor-ms": None if budget is None else budget.anchor_ms,
        "when-exhausted": None if budget is None else budget.when_exhausted.value,
        "starts": shown_window(limits.starts),
        "spend": shown_window(limits.spend),
    }
    return {name: NONE if value is None else str(value) for name, value in values.items()}


def shown_window(window: WindowConfig | None) -> str:
    """Return a window as LIMIT/INTERVAL_MS."""
    return NONE if window is None else f"{window.limit}/{window.interval_ms}"


def begins_period(before: TenantConfig, after: TenantConfig) -> bool:
    """Say whether the change begins a new budget period at once."""
    return after.budget is not None and _period(before.budget) != _period(after.budget)


def _period(budget: BudgetConfig | None) -> tuple[int | None, int]:
    return (None, 0) if budget is None else (budget.period_ms, budget.anchor_ms)
