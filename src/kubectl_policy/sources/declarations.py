"""Kinds that the templates of a chart declare, as far as their texts tell without being rendered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_policy.lazy import pattern
from kubectl_policy.model import GroupKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json

_DECLARED: Final = pattern(r"(?<![\w.-])(?P<key>apiVersion|kind)[\"']?\s*:\s*[\"']?(?P<value>[^\s\"',}#]*)")
_PLAIN: Final = pattern(r"[A-Za-z0-9][A-Za-z0-9./-]*")
# Keys that a template makes of words; further charts and files; keys that are spelled in other ways.
_HIDDEN: Final = pattern(
    r"[\"'](?:apiVersion|kind|metadata|namespace)[\"'](?!\s*:)|^dependencies\s*:|\.Files\b"
    r"|\\(?:x|u|U)[0-9a-fA-F]|!!binary|^%TAG|^\s*\?",
    re.MULTILINE,
)
# A namespace in the metadata of an object: one within a reference stands behind other keys of its line.
_NAMESPACE: Final = pattern(
    r"(?:^|\}\})[ \t]*[\"']?namespace[\"']?\s*:"
    r"(?!\s*[\"']?\{\{-?\s*\.Release\.Namespace\s*(?:\|\s*quote\s*)?-?\}\})"
    r"|metadata[\"']?\s*:\s*\{.*namespace",
    re.MULTILINE,
)


def declared_kinds(texts: Iterable[str], values: Json) -> frozenset[GroupKind] | None:
    """Return the kinds in the texts of a chart and its values, each with each API group; None if they are not known.

    They are not known either if an object may be in another namespace than the one into which all is installed.
    """
    encoded = msgspec.json.encode(values).decode()
    if "\\" in encoded or '"namespace"' in encoded:
        return None
    groups, kinds = {""}, set[str]()
    for text in (*texts, encoded):
        # A file that cannot be read has no text, such as a chart in an archive.
        if not text or _HIDDEN.search(text) or _NAMESPACE.search(text):
            return None
        for match in _DECLARED.finditer(text):
            key, value = match["key"], match["value"]
            if not _PLAIN.fullmatch(value) or (key == "kind" and value.endswith("List")):
                return None
            if key == "kind":
                kinds.add(value)
            else:
                groups.add(value.rpartition("/")[0])
    return frozenset(GroupKind(group, kind) for group in groups for kind in kinds)
