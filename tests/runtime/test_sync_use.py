"""What a user without an event loop does with a scheduler."""

import threading

import pytest

import fairlane
from fairlane import SyncScheduler, TaskSpec, TaskState

from .conftest import PROVIDER


@pytest.mark.ray
def test_without_an_event_loop(platform, config):
    with SyncScheduler(config, PROVIDER, platform=platform) as s:
        assert s.submit("acme", {"echo": [1]}, cost=5).result(timeout_s=30) == [1]
        assert s.submit("acme", {"echo": [2], "actual": 7}).result(timeout_s=30) == [2]
        assert s.coverage("acme") == fairlane.Coverage(1, 1)
        *handles, refused = s.submit_many([*(TaskSpec("beta", {"echo": i}, 5) for i in range(20)), TaskSpec("x", 0, 1)])
        assert s.wait_many(handles, timeout_s=30) == list(range(20))
        assert isinstance(refused, fairlane.UnknownTenant)
        assert s.ledger("beta").limit is None
        s.put_tenant("beta", fairlane.TenantConfig(budget=fairlane.BudgetConfig(limit_units=10_000)))
        assert s.top_up("beta", 5, "k") == s.ledger("beta").limit == 10_005
        assert s.get("beta", handles[0].ref.id).state is handles[0].state() is TaskState.COMPLETED
        s.pause(60_000)
        assert s.snapshot().pool.paused_ms > 0
        s.resume()
        assert s.set_capacity(1) == s.snapshot().pool.capacity == 1
        s.close_admission()
        with pytest.raises(fairlane.AdmissionClosed):
            s.submit("acme", {}, cost=1)
        s.open_admission()
        assert s.submit("acme", {"echo": 3}, cost=1).result(timeout_s=30) == 3
        assert {worker.name.partition("@")[0] for worker in s.workers()} == {"worker-1", "worker-2"}
        assert s.add_worker() == "worker-3"
        s.remove_worker("worker-1", grace_s=5.0)
        assert s.actor_pids().keys() == {"controller", "dispatcher", "worker-2", "worker-3"}
    with pytest.raises(fairlane.RuntimeStartError, match="not started"):
        s.get("beta", "x")


def test_a_start_that_fails_leaves_no_thread(config):
    before = {thread.name for thread in threading.enumerate()}
    refused = SyncScheduler(config.model_copy(update={"ray": fairlane.RayConfig(address="10.0.0.1:1")}), PROVIDER)
    with pytest.raises(fairlane.ConfigError, match="embedded server"):
        refused.start()
    assert {thread.name for thread in threading.enumerate()} <= before
