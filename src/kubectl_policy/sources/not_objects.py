"""Documents that are no objects: whether one is meant as an object, and what keeps kubectl from taking it for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.sources.mentions import looks_like_an_object
from kubectl_policy.text import Document, Unread

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_NOUNS: Final[Mapping[type, str]] = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
}
IN_TEXT: Final = (
    "an object inside of a text, which kubectl refuses: remove what stands before it (JSON has no comments), or the "
    "quotes around it"
)
_IN_LIST: Final = (
    "a list of objects, which kubectl refuses: write each as a document of its own, or all of them as the items of a "
    "List"
)


def is_meant_as_an_object(document: Document | Unread) -> bool:
    """Whether a document is an object, or would be one if it were written correctly."""
    if isinstance(document, Unread):
        return looks_like_an_object(document.text)
    content = document.content
    if isinstance(content, str):
        return looks_like_an_object(content)
    return document.is_item or _has_kind(content) or _lacks_half_of_its_kind(content) or _holds_objects(content)


def what_is_no_object(content: Json) -> str:
    """Return what is wrong with a value in the place of an object."""
    if _holds_objects(content):
        return _IN_LIST
    return f"{_NOUNS.get(type(content), 'a value')}, where kubectl expects an object: remove it"


def _has_kind(content: Json) -> bool:
    return isinstance(content, Mapping) and "apiVersion" in content and "kind" in content


def _lacks_half_of_its_kind(content: Json) -> bool:
    """Whether a mapping has either `apiVersion` or `kind`, and all else that objects have: values files have not."""
    if not isinstance(content, Mapping) or ("apiVersion" in content) == ("kind" in content) or "spec" not in content:
        return False
    metadata = content.get("metadata")
    return isinstance(metadata, Mapping) and ("name" in metadata or "generateName" in metadata)


def _holds_objects(content: Json) -> bool:
    return isinstance(content, list) and any(map(_has_kind, content))
