"""Fixtures of the tests of all kinds of scenario."""

import pytest

from tests.bench.in_process import InProcessPlatform


@pytest.fixture
def platform(endpoint) -> InProcessPlatform:
    return InProcessPlatform(endpoint)
