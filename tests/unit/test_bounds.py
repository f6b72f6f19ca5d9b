"""The scripts and the configuration accept exactly the same limits."""

import pytest

from fairlane.config import PoolConfig, TenantConfig
from fairlane.errors import ConfigError
from fairlane.store.bounds import POOL_BOUNDS, TENANT_BOUNDS
from fairlane.store.keys import POOL_SETTINGS, TENANT_SETTINGS
from fairlane.store.settings import pool_settings, tenant_settings

WORDS = {"schema", "policy", "throttle_scope"}


def test_every_stored_number_has_bounds():
    assert set(TENANT_BOUNDS) == set(TENANT_SETTINGS)
    assert set(POOL_BOUNDS) == set(POOL_SETTINGS) - WORDS


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ("hard_limit", "slots"),
        ("quantum", "quantum_units"),
        ("max_attempts", "max_attempts"),
        ("lease", "lease_ms"),
        ("retention", "retention_ms"),
        ("event_limit", "event_limit"),
        ("event_bytes", "event_bytes"),
        ("resume_ramp", "resume_ramp_ms"),
    ],
)
def test_a_pool_s_bounds_are_the_configuration_s(setting, field):
    lowest, highest = POOL_BOUNDS[setting]
    for value in (lowest, highest):
        assert pool_settings(PoolConfig(**{field: value}))[setting] == value
    for value in (lowest - 1, highest + 1):
        with pytest.raises(ConfigError, match=field):
            PoolConfig(**{field: value})


@pytest.mark.parametrize(
    ("setting", "field"), [("weight", "weight"), ("slot_ceiling", "slots"), ("queue_limit", "queue_limit")]
)
def test_a_tenant_s_bounds_are_the_configuration_s(setting, field):
    highest = TENANT_BOUNDS[setting][1]
    assert tenant_settings(TenantConfig(**{field: highest}))[TENANT_SETTINGS.index(setting)] == highest
    with pytest.raises(ConfigError, match=field):
        TenantConfig(**{field: highest + 1})


def test_a_limit_that_may_be_absent_is_stored_as_0():
    assert TENANT_BOUNDS["slot_ceiling"][0] == TENANT_BOUNDS["budget_period"][0] == POOL_BOUNDS["cost_ceiling"][0] == 0
    assert TENANT_BOUNDS["budget"][0] == -1
