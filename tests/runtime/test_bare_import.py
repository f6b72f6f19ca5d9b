"""The cost of importing Fairlane."""

import subprocess
import sys

import pytest

import fairlane

from .conftest import ROOT


@pytest.mark.parametrize("module", ["fairlane", "fairlane.workers"])
def test_importing_loads_neither_ray_nor_redis(module):
    program = f"import sys, {module}; print([m for m in ('ray', 'redis') if m in sys.modules])"
    environment = {"PYTHONPATH": str(ROOT)}
    output = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
    assert output.strip() == "[]"


def test_every_public_name_is_there_and_only_those():
    for name in fairlane.__all__:
        assert getattr(fairlane, name) is not None
    assert set(fairlane.__all__) <= set(dir(fairlane))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fairlane.no_such_name
