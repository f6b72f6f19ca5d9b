"""What `fairlane.workers` offers."""

import pytest

import fairlane.workers


def test_every_public_name_is_there_and_only_those() -> None:
    for name in fairlane.workers.__all__:
        assert getattr(fairlane.workers, name) is not None
    assert set(fairlane.workers.__all__) <= set(dir(fairlane.workers))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fairlane.workers.no_such_name
