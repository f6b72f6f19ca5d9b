"""What members say of themselves is checked where it comes in."""

import pytest
from pydantic import ValidationError

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.member import WorkerHealth, WorkerInfo

GOOD = {"id": "w", "kind": "local", "capacity": 1}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"id": "-w"}, "id = '-w': String should match"),
        ({"capacity": 0}, "capacity = 0: must be at least 1"),
        ({"capacity": True}, "capacity = True: must be a whole number"),
        ({"capacity": 10**7}, "capacity = 10000000: must be at most 1000000"),
        ({"weight": 0}, "weight = 0: must be at least 1"),
        ({"tags": "gpu"}, "tags = 'gpu': must be a frozenset"),
        ({"metadata": {"zone": 1}}, "metadata.zone = 1: must be text"),
        ({"size": 1}, "unknown field `size` in WorkerInfo; it takes "),
        ({"kind": "", "weight": 0.5}, "; weight = 0.5: "),
    ],
)
def test_bad_fields_are_named_with_value_and_what_is_accepted(changed: dict[str, object], says: str) -> None:
    with pytest.raises(WorkerError) as error:
        WorkerInfo.of(**GOOD | changed)
    assert says in str(error.value)
    assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    with pytest.raises(WorkerError) as told:
        WorkerInfo(**GOOD | changed)  # type: ignore[arg-type]
    assert str(told.value) == str(error.value)


def test_facts_do_not_change() -> None:
    info = WorkerInfo.of(**GOOD)
    with pytest.raises(ValidationError):
        info.capacity = 2  # type: ignore[misc]


def test_health_is_a_plain_answer() -> None:
    assert WorkerHealth.of(healthy=True) == WorkerHealth(healthy=True, detail="")
    with pytest.raises(WorkerError, match="healthy = 1"):
        WorkerHealth.of(healthy=1)
    with pytest.raises(WorkerError, match="detail"):
        WorkerHealth(healthy=True, detail="x" * 1_001)
