"""docs/configuration.md is the generated page, has a row for every field, and its file is a valid configuration."""

import re
import tomllib
from pathlib import Path

import pytest

from fairlane import BudgetConfig, EstimateConfig, SchedulerConfig, TenantConfig, WindowConfig, load_config
from fairlane.config import Section
from fairlane.config.openai_chat import OpenAIChatConfig
from fairlane.config.workers import HealthConfig, ManagerConfig, SupervisorConfig
from fairlane.domain.policy import BudgetPolicy
from tools.docs.configuration import meanings, render

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
OTHER_SECTIONS = (OpenAIChatConfig, ManagerConfig, HealthConfig, SupervisorConfig)


def _scheduler_sections() -> list[type[Section]]:
    """Every section that a `SchedulerConfig` can hold, found in pydantic's own schema."""
    names = {"SchedulerConfig", *SchedulerConfig.model_json_schema()["$defs"]}
    kinds: list[type[Section]] = [Section]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return [kind for kind in kinds if kind.__name__ in names]


SECTIONS = [*_scheduler_sections(), *OTHER_SECTIONS]


def _chapter(kind: type[Section]) -> str:
    """The chapter of the page about one section."""
    [found] = [
        part
        for part in re.split(r"^##+ ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        if f"\n`{kind.__name__}`. " in part or part.partition("\n")[0].endswith(f".{kind.__name__}`")
    ]
    return found


def _rows(kind: type[Section]) -> dict[str, list[str]]:
    lines = [line for line in _chapter(kind).splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run make docs"


def test_its_chapters_have_the_order_of_the_fields() -> None:
    headings = re.findall(r"^## `\[(\w+)(?:\.<tenant>)?\]`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [name for name in SchedulerConfig.model_fields if name != "name"]


def test_nested_sections_are_found() -> None:
    assert {TenantConfig, BudgetConfig, WindowConfig, EstimateConfig} <= set(SECTIONS)


@pytest.mark.parametrize("kind", SECTIONS, ids=lambda kind: kind.__name__)
def test_every_field_has_a_row_with_its_meaning(kind: type[Section]) -> None:
    assert list(_rows(kind)) == list(kind.model_fields)
    assert all(row[2].endswith(".") for row in _rows(kind).values())
    assert set(meanings(kind)) == set(kind.model_fields)


@pytest.mark.parametrize(
    ("kind", "field", "takes", "default"),
    [
        (SchedulerConfig, "pool", "a section", ""),
        (SchedulerConfig, "tenants", "a section for each tenant's id", "*none*"),
        (TenantConfig, "slots", "`1` to `1_000_000`; or none", "*none*"),
        (TenantConfig, "weight", "`1` to `1_000_000`", "`1`"),
        (BudgetConfig, "limit_units", "`0` to 2^50", "required"),
        (BudgetConfig, "period_ms", "`1_000` (1 s) to 10 years; or none", "*none*"),
        (BudgetConfig, "when_exhausted", "`wait` or `reject`", '`"wait"`'),
        (EstimateConfig, "least_ratio", "any number, `0.001` to `1_000`", "`0.05`"),
        (ManagerConfig, "strategy", "text, at most 200 characters", '`"least-busy"`'),
        (OpenAIChatConfig, "max_response_bytes", "`1` to `268_435_456` (256 MiB)", "`8_388_608` (8 MiB)"),
        (ManagerConfig, "health", "a section; or none", ""),
    ],
)
def test_types_bounds_and_defaults_are_in_words(kind: type[Section], field: str, takes: str, default: str) -> None:
    assert _rows(kind)[field][:2] == [takes, default]


def test_a_field_without_its_own_docstring_inherits_one() -> None:
    kinds = {kind.__name__: kind for kind in SECTIONS}
    inherited, own = meanings(kinds["WorkerHealthConfig"]), meanings(HealthConfig)
    assert inherited["timeout_ms"] == own["timeout_ms"]
    assert inherited["interval_ms"] != own["interval_ms"]


def test_its_file_is_a_valid_configuration_with_every_section(tmp_path: Path) -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert list(tomllib.loads(text)) == list(SchedulerConfig.model_fields)
    path = tmp_path / "fairlane.toml"
    path.write_text(text)
    config = load_config(path, {})
    assert (config.name, config.pool.slots, config.workers.count) == ("default", 32, 2)
    assert config.pool.starts == WindowConfig(limit=600, interval_ms=60_000)
    assert config.tenants == {
        "acme": TenantConfig(
            weight=2,
            budget=BudgetConfig(limit_units=5_000_000, period_ms=86_400_000, when_exhausted=BudgetPolicy.WAIT),
            starts=WindowConfig(limit=120, interval_ms=60_000),
        ),
        "globex": TenantConfig(slots=4, cost_ceiling_units=20_000, queue_limit=10_000),
    }
    assert config.client.estimates == EstimateConfig(output_tokens=512, overrun_probability=0.05)
    assert config.server.url == "redis://127.0.0.1:6379"
