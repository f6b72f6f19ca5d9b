"""What `fairlane.pool` offers."""

import pytest

import fairlane.pool


def test_every_public_name_is_there_and_only_those() -> None:
    for name in fairlane.pool.__all__:
        assert getattr(fairlane.pool, name) is not None
    assert set(fairlane.pool.__all__) <= set(dir(fairlane.pool))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fairlane.pool.no_such_name
