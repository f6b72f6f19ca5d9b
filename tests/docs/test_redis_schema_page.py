"""docs/redis-schema.md is the generated page, and names every key and field."""

from pathlib import Path

from fairlane.store import keys
from tools.docs.redis_schema import render

PAGE = Path(__file__).parents[2] / "docs" / "redis-schema.md"


def test_the_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run make docs"


def test_it_names_every_key_and_every_stored_field() -> None:
    page = render()
    for spec in keys.KEYS:
        assert f"| `{spec.pattern}`" in page
    for names in (
        keys.POOL_SETTINGS,
        keys.POOL_STATE,
        keys.TENANT_NUMBERS,
        keys.TENANT_TEXTS,
        keys.LIMIT_NUMBERS,
        keys.TASK_NUMBERS,
        keys.TASK_TEXTS,
        keys.ATTEMPT_NUMBERS,
        keys.WORKER_NUMBERS,
        keys.WORKER_TEXTS,
    ):
        assert ", ".join(f"`{name}`" for name in names) in page
