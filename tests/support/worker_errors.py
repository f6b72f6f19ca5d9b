"""Expected errors of the worker layer."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode


@contextmanager
def fails(code: WorkerErrorCode, match: str | None = None) -> Iterator[pytest.ExceptionInfo[WorkerError]]:
    """Expect the block to raise a WorkerError with this code, and a message that matches."""
    with pytest.raises(WorkerError, match=match) as raised:
        yield raised
    assert raised.value.code is code
