"""Search criteria for the members of a group."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.validation import ValidatedModel


class Criteria(ValidatedModel):
    """All given conditions must hold; a field that is left out matches every member."""

    statuses: frozenset[WorkerStatus] = frozenset()
    """One of these; empty: any."""
    kinds: frozenset[str] = frozenset()
    """One of these transports; empty: any."""
    tags: frozenset[str] = frozenset()
    """All of these."""
    min_free: Annotated[int, Field(strict=True, ge=0)] = 0
    """The least number of free slots; a member that is not ready has none."""
    healthy: Annotated[bool, Field(strict=True)] | None = None
    """By its last health report; a member without one counts as healthy."""
    metadata: Mapping[str, str] = {}
    """All of these keys, with these values."""

    def match(self, member: Member, *, healthy: bool) -> bool:
        """Return whether a member meets the criteria, given its health."""
        info = member.info
        return (
            (not self.statuses or member.status in self.statuses)
            and (not self.kinds or info.kind in self.kinds)
            and self.tags <= info.tags
            and self.min_free <= _free(member)
            and self.healthy in {None, healthy}
            and self.metadata.items() <= info.metadata.items()
        )


def _free(member: Member) -> int:
    return member.info.capacity - member.load if member.status is WorkerStatus.READY else 0
