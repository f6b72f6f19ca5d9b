"""Which members are looked for."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.validation import ValidatedModel


class Criteria(ValidatedModel):
    """All that is named must hold; what is not named does not matter."""

    statuses: frozenset[WorkerStatus] = frozenset()
    """One of these; empty: any."""
    kinds: frozenset[str] = frozenset()
    """One of these transports; empty: any."""
    tags: frozenset[str] = frozenset()
    """All of these."""
    min_free: Annotated[int, Field(strict=True, ge=0)] = 0
    """So many slots that could be filled now; a member that is not ready has none."""
    well: Annotated[bool, Field(strict=True)] | None = None
    """As its last health report says; one that was never checked is well."""
    metadata: Mapping[str, str] = {}
    """All of these, with these values."""

    def match(self, member: Member, *, well: bool) -> bool:
        """Say whether a member, whose health is known to be this, is looked for."""
        info = member.info
        return (
            (not self.statuses or member.status in self.statuses)
            and (not self.kinds or info.kind in self.kinds)
            and self.tags <= info.tags
            and self.min_free <= _free(member)
            and self.well in {None, well}
            and self.metadata.items() <= info.metadata.items()
        )


def _free(member: Member) -> int:
    return member.info.capacity - member.load if member.status is WorkerStatus.READY else 0
