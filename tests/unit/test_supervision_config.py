"""The sections for the checks and restarts of a scheduler's workers have their own defaults."""

import pytest

from fairlane import ConfigError, SchedulerConfig, WorkerHealthConfig
from fairlane.config import build


def test_fields_that_are_not_set_keep_the_default_for_workers():
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


def test_the_success_threshold_of_a_scheduler_is_1_since_its_workers_get_tasks_before_any_check():
    assert build(SchedulerConfig, {"health": {"success_threshold": 1}}).health.success_threshold == 1
    with pytest.raises(ConfigError, match=r"health\.success_threshold = 2: must be at most 1"):
        build(SchedulerConfig, {"health": {"success_threshold": 2}})
    with pytest.raises(ConfigError, match=r"success_threshold = 2"):
        WorkerHealthConfig(success_threshold=2)
