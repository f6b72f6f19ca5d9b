"""compose.yaml starts a server that Fairlane supports and that only this machine can reach."""

from pathlib import Path

import pytest


def test_the_container_is_durable_does_not_evict_and_is_local():
    yaml = pytest.importorskip("yaml")
    document = yaml.safe_load((Path(__file__).parents[2] / "compose.yaml").read_text())
    (service,) = document["services"].values()
    assert service["ports"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "--maxmemory-policy noeviction" in service["command"]
    assert "--appendonly yes --appendfsync always" in service["command"]
    assert "--zset-max-listpack-entries 16" in service["command"]
    assert service["healthcheck"]["test"]
    (volume,) = service["volumes"]
    assert volume.split(":")[0] in document["volumes"]
