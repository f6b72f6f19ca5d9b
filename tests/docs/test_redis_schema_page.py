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
    for fields in (keys.POOL_HASH, keys.TENANT_HASH, keys.TASK_HASH):
        for field, parts in fields.items():
            assert f"- `{field}`" in page
            assert ", ".join(f"`{part}`" for part in parts) in page
