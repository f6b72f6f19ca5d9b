"""Errors of the group: their codes, and what they carry."""

import pickle

import pytest

from fairlane.errors import FairlaneError
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from tests.support.worker_work import Unspeakable

RETRYABLE = {"worker_not_ready", "worker_at_capacity", "worker_lost"}


def test_the_codes_are_stable() -> None:
    assert [str(code) for code in WorkerErrorCode] == [
        "no_workers_available",
        "worker_not_found",
        "worker_already_exists",
        "worker_not_ready",
        "worker_at_capacity",
        "worker_start_failed",
        "worker_stop_failed",
        "worker_lost",
        "task_failed",
        "task_timeout",
        "task_cancelled",
        "retries_exhausted",
        "queue_full",
        "illegal_transition",
        "invalid_configuration",
    ]


@pytest.mark.parametrize("code", WorkerErrorCode)
def test_it_is_an_error_of_fairlane_with_code_context_and_cause(code: WorkerErrorCode) -> None:
    cause = ValueError("inner")
    with pytest.raises(FairlaneError, match="what happened") as raised:
        raise WorkerError(code, "what happened", worker="w", attempts=3) from cause
    error = raised.value
    assert isinstance(error, WorkerError)
    assert (error.code, error.message) == (code, "what happened")
    assert error.context == {"worker": "w", "attempts": 3}
    assert error.cause is cause
    assert error.retryable is (code in RETRYABLE)


def test_it_pickles_without_its_cause() -> None:
    error = WorkerError(WorkerErrorCode.WORKER_LOST, "gone", worker="w")
    error.__cause__ = ValueError("inner")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.code, str(copy), copy.context) == (WorkerError, error.code, "gone", {"worker": "w"})
    assert copy.cause is None
    assert copy.retryable


class NoText(Exception):
    """One whose text is none."""

    def __str__(self) -> str:
        return None  # type: ignore[return-value]  # noqa: PLE0307


def test_any_error_can_be_shown() -> None:
    assert shown(ValueError("bad")) == "bad"
    assert shown(ValueError("bad"), repr) == "ValueError('bad')"
    assert shown(ValueError()) == "ValueError"
    assert shown(NoText()) == "NoText"
    assert (shown(Unspeakable()), shown(Unspeakable(), repr)) == ("Unspeakable", "Unspeakable")


def test_an_argument_that_cannot_be_used_is_named_with_what_is_accepted() -> None:
    error = invalid("grace_s", "5", "a number of seconds")
    assert error.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert str(error) == "grace_s = '5': must be a number of seconds"
    assert str(invalid("grace_s", "x" * 100, "short")) == f"grace_s = '{'x' * 59}: must be short"
    assert str(invalid("work", Unspeakable(), "callable")) == "work = Unspeakable: must be callable"
