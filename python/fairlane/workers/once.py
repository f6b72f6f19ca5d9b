"""Contexts that are entered once."""

from fairlane.workers.errors import WorkerError, WorkerErrorCode


class Once:
    """Whether something has begun, which it does once, also if it ended at once or did not succeed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = False

    def begin(self) -> None:
        """Raises WorkerError: illegal_transition, if it was called before."""
        if self._begun:
            text = f"a {self._name} is entered once, and this one has been: make another"
            raise WorkerError(WorkerErrorCode.ILLEGAL_TRANSITION, text, name=self._name)
        self._begun = True
