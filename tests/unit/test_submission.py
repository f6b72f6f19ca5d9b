"""How a valid task is prepared for the store."""

import pytest

from fairlane.clock import RANDOM_IDS
from fairlane.domain.limits import MAX_COST
from fairlane.domain.task import OnUnknown
from fairlane.lifecycle.payload import encode
from fairlane.lifecycle.submission import TaskSpec, Validator

validator = Validator(RANDOM_IDS.new_id, max_payload_bytes=1_000)


def test_a_task_without_an_id_gets_a_new_one() -> None:
    first, second = (validator.submission(TaskSpec("acme", {}, 1)) for _ in range(2))
    assert first.ref.id != second.ref.id
    assert not first.named_by_caller


def test_a_named_task_keeps_its_name() -> None:
    submission = validator.submission(TaskSpec("acme", {}, 1, task_id="order-7"))
    assert (submission.ref.id, submission.named_by_caller) == ("order-7", True)


@pytest.mark.parametrize("cost", [1, MAX_COST])
@pytest.mark.parametrize("priority", [0, 255])
def test_the_bounds_themselves_are_accepted(cost: int, priority: int) -> None:
    submission = validator.submission(TaskSpec("a" * 128, None, cost, "b" * 200, priority, None, OnUnknown.FAIL))
    assert (submission.cost, submission.priority, submission.on_unknown) == (cost, priority, OnUnknown.FAIL)


@pytest.mark.parametrize(("deadline_s", "deadline_ms"), [(None, 0), (1, 1000), (0.0001, 1), (2.5, 2500)])
def test_deadlines_are_whole_milliseconds_and_never_none_by_rounding(
    deadline_s: float | None, deadline_ms: int
) -> None:
    assert validator.submission(TaskSpec("acme", {}, 1, deadline_s=deadline_s)).deadline_ms == deadline_ms


def test_a_task_without_a_cost_keeps_its_fingerprint_when_its_hold_changes() -> None:
    holds = iter([(100, 100), (100, 30)])
    estimating = Validator(RANDOM_IDS.new_id, max_payload_bytes=1_000, price=lambda tenant, payload: next(holds))
    first, second = (estimating.submission(TaskSpec("acme", {})) for _ in range(2))
    assert (first.cost, second.cost) == (100, 30)
    assert first.fingerprint == second.fingerprint
    named = {estimating.submission(TaskSpec("acme", {}, cost)).fingerprint for cost in (30, 100)}
    assert len(named | {first.fingerprint}) == 3


def test_the_payload_is_sent_as_encoded() -> None:
    assert validator.submission(TaskSpec("acme", {"b": 1, "a": 2}, 1)).payload == encode({"a": 2, "b": 1})
