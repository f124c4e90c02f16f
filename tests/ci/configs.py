"""The config files of CI systems: read as those systems read them, and held to their schemas."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import yaml
from jsonschema import Draft7Validator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Copies of those that SchemaStore and GitLab publish.
_SCHEMAS: Final = "check_jsonschema.builtin_schemas.vendor"
ROOT: Final = Path(__file__).parents[2]
ACTION: Final = ROOT / "action.yml"
TEMPLATE: Final = ROOT / "ci" / "gitlab.yml"
HOOKS: Final = ROOT / ".pre-commit-hooks.yaml"
# `${{ inputs.path }}` of GitHub.
EXPRESSION: Final = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# `$[[ inputs.path ]]` of GitLab.
INPUT: Final = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]")

System: TypeAlias = Literal["github-actions", "github-workflows", "gitlab-ci"]


def documents(text: str) -> list[Any]:
    """The documents of a YAML text; the key `on` is no boolean to those who read it."""
    return [_read(each) for each in yaml.safe_load_all(text)]


def _read(value: Any) -> Any:  # noqa: ANN401 (a part of a document)
    if isinstance(value, dict):
        return {"on" if key is True else key: _read(each) for key, each in value.items()}
    return [_read(each) for each in value] if isinstance(value, list) else value


@cache
def _validator(system: System) -> Draft7Validator:
    schema = json.loads(resources.files(_SCHEMAS).joinpath(f"{system}.json").read_text("utf-8"))
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


def mistakes(system: System, document: Any) -> list[str]:  # noqa: ANN401 (a document)
    """What a document has wrong by the schema of a system."""
    return [f"{error.json_path}: {error.message}" for error in _validator(system).iter_errors(document)]


def interpolated(value: Any, pattern: re.Pattern[str], known: Mapping[str, str]) -> Any:  # noqa: ANN401 (a part of a document)
    """A part of a document with what a system puts in the place of its expressions, in keys as well."""
    put: Callable[[str], str] = lambda text: pattern.sub(lambda found: known[found[1]], text)  # noqa: E731 (used thrice)
    if isinstance(value, dict):
        return {put(key): interpolated(each, pattern, known) for key, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, pattern, known) for each in value]
    return put(value) if isinstance(value, str) else value
