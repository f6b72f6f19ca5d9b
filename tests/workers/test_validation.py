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
        ({"capacity": 0}, "capacity = 0: Input should be greater than or equal to 1"),
        ({"capacity": True}, "capacity = True: Input should be a valid integer"),
        ({"capacity": 10**7}, "capacity = 10000000: Input should be less than or equal to 1000000"),
        ({"weight": 0}, "weight = 0: Input should be greater than or equal to 1"),
        ({"tags": "gpu"}, "tags = 'gpu': Input should be a valid frozenset"),
        ({"metadata": {"zone": 1}}, "metadata.zone = 1: Input should be a valid string"),
        ({"size": 1}, "size = 1: Extra inputs are not permitted"),
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
