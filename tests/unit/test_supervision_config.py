"""How a scheduler's workers are watched: sections of their own, with their own defaults."""

import pytest

from fairlane import ConfigError, SchedulerConfig
from fairlane.config import build


def test_what_is_not_named_keeps_the_default_for_workers():
    config = build(SchedulerConfig, {"health": {"timeout_ms": 700}, "supervisor": {"window_ms": 1_000}})
    assert (config.health.timeout_ms, config.health.interval_ms) == (700, 500)
    assert (config.supervisor.window_ms, config.supervisor.max_restarts) == (1_000, 1_000)


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [("health", "failure_threshold", 0), ("health", "interval_ms", "soon"), ("supervisor", "max_restarts", -1)],
)
def test_a_bad_value_is_named(section, field, value):
    with pytest.raises(ConfigError, match=rf"{section}\.{field} = {value!r}"):
        build(SchedulerConfig, {section: {field: value}})
