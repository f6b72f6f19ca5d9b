"""What is wrong with a configuration, in one line: the field, its value, and what would be accepted."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fairlane.errors import ConfigError

_ACCEPTED: Final[Mapping[str, str]] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le}",
    "missing": "is required",
    "model_type": "must be a section",
    "string_type": "must be text",
}
"""By pydantic's names of errors. Those that are missing have pydantic's words."""
_UNKNOWN: Final = "extra_forbidden"
_LONGEST: Final = 60


def config_error(error: ValidationError, kind: type[BaseModel]) -> ConfigError:
    """Turn pydantic's report on a ``kind`` into one plain line. The values of secret fields are not shown."""
    items = error.errors(include_url=False)
    fields = [".".join(str(part) for part in item["loc"]) or "configuration" for item in items]
    problems = [
        _unknown(item["loc"], kind) if item["type"] == _UNKNOWN else _problem(field, item)
        for field, item in zip(fields, items, strict=True)
    ]
    return ConfigError("; ".join(problems), fields=fields)


def section_of(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 - a type as it was annotated
    """Return the section that a field of this type holds, or may hold; None if it holds none."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation if issubclass(annotation, BaseModel) else None
    return next((found for each in get_args(annotation) if (found := section_of(each)) is not None), None)


def is_mapping(annotation: Any) -> bool:  # noqa: ANN401 - a type as it was annotated
    """Say whether a field of this type holds one section for each of several names."""
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _problem(field: str, item: Any) -> str:  # noqa: ANN401 - pydantic's details
    kind = item["type"]
    hidden = "url" in field or kind in {"missing", "value_error"}
    shown = "" if hidden else f" = {ascii(item['input'])[:_LONGEST]}"
    if kind in _ACCEPTED:
        return f"{field}{shown}: {_ACCEPTED[kind].format_map(item.get('ctx', {}))}"
    said = item["msg"].removeprefix("Value error, ").replace("Input should be a valid", "must be a")
    return f"{field}{shown}: {said.replace('Input should', 'must')}"


def _unknown(place: tuple[int | str, ...], kind: type[BaseModel]) -> str:
    *path, name = place
    steps = iter(path)
    section = kind
    for step in steps:
        annotation = section.model_fields[str(step)].annotation
        if is_mapping(annotation):
            next(steps, None)  # a tenant's id
        section = section_of(annotation) or section
    where = f"`[{'.'.join(map(str, path))}]`" if path else kind.__name__
    similar = get_close_matches(str(name), section.model_fields, n=1)
    advice = f"did you mean `{similar[0]}`?" if similar else f"it takes {', '.join(section.model_fields)}"
    return f"unknown field `{ascii(name)[1:-1][:_LONGEST]}` in {where}; {advice}"
