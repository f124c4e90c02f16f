"""The line of a field of an object, found when a message needs it by reading the file again, from git if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from kubectl_policy.errors import SourceError
from kubectl_policy.model import FieldPath
from kubectl_policy.sources.files import STDIN, read_text
from kubectl_policy.text import DocumentError
from kubectl_policy.text.places import line_in

if TYPE_CHECKING:
    from kubectl_policy.model import Origin


def locate(origin: Origin, path: str) -> int | None:
    """The line (from 1) of a field, `spec.listeners[0].port`, of the object that starts at an origin.

    None where it cannot be told: from standard input, if the file has changed, or if the field is not written there.
    """
    if origin.source == STDIN or not origin.line:
        return None
    try:
        return line_in(_text_at(origin.source), origin.line, FieldPath.parse(path))
    except (OSError, ValueError, OverflowError, DocumentError, SourceError, yaml.YAMLError):
        return None


def _text_at(source: str) -> str:
    """The text of a file or, if there is none, of the one that `REV:PATH` names."""
    try:
        return read_text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.revisions import read_revision  # noqa: PLC0415 (most input is files)

        return read_revision(source)
