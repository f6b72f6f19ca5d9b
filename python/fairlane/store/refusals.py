"""Errors for the configuration that scripts refuse."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlane.errors import ConfigError
from fairlane.store.bounds import POOL_BOUNDS, TENANT_BOUNDS, Bounds
from fairlane.store.keys import SCHEMA_VERSION, TENANT_SETTINGS, Keys


def pool_refused(keys: Keys, answer: Sequence[Any], settings: Mapping[str, object]) -> ConfigError:
    """Return the error for a refusal of `put_pool`."""
    reason, about = answer[0].decode(), answer[1]
    if reason == "schema":
        return other_version(keys, about)
    name = about.decode()
    field = f"pool.{name}"
    if reason == "busy":
        return ConfigError(
            f"{field} = {settings[name]}: cannot change while tasks are waiting or running; cancel or await them first",
            field=field,
        )
    return _out_of_bounds(field, settings[name], POOL_BOUNDS[name])


def tenant_refused(answer: Sequence[bytes], settings: Mapping[str, Sequence[object]]) -> ConfigError:
    """Return the error for a refusal of `put_tenants` or `change_tenant`."""
    tenant, name = (part.decode() for part in answer)
    value = settings[tenant][TENANT_SETTINGS.index(name)]
    return _out_of_bounds(f"tenants.{tenant}.{name}", value, TENANT_BOUNDS[name])


def other_version(keys: Keys, found: object) -> ConfigError:
    """Return the error for a scheduler whose state has another schema."""
    return ConfigError(
        f"scheduler {keys.name}: another version of Fairlane wrote its state (schema {found}; this one has"
        f" {SCHEMA_VERSION}). End its tasks with that version and delete the keys that begin with {keys.prefix},"
        " or give this scheduler another name",
        field="name",
    )


def _out_of_bounds(field: str, value: object, bounds: Bounds) -> ConfigError:
    lowest, highest = bounds
    return ConfigError(f"{field} = {ascii(value)[:60]}: must be a whole number from {lowest} to {highest}", field=field)
