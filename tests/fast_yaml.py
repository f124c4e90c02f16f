"""Reads YAML as `yaml.safe_load` does, and ten times as fast where PyYAML was built with its own library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text: str) -> Any:  # noqa: ANN401 - whatever the text says
    """The only document of a text."""
    return yaml.load(text, _LOADER)  # noqa: S506 - both of them are safe


def load_all(text: str) -> Iterator[Any]:
    """The documents of a text."""
    return yaml.load_all(text, _LOADER)
