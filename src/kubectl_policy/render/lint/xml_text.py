"""XML that names from the input leave well-formed, and that is no command to a CI in whose log it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kubectl_policy.render.output.escape import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


def element(parent: Element | None, tag: str, /, **attributes: object) -> Element:
    """An element, in another one if it has a parent; what XML cannot hold in an attribute is written out."""
    given = {key: visible(str(value)) for key, value in attributes.items()}
    return Element(tag, given) if parent is None else SubElement(parent, tag, given)


def lines(texts: Iterable[str]) -> str:
    """Lines of text, of which nothing is what XML cannot hold."""
    return "\n".join(map(visible, texts))


def as_xml(root: Element) -> str:
    """The text of a document."""
    indent(root)
    text = tostring(root, encoding="unicode")
    # Characters that are written as numbers mean the same.
    return f"{_HEAD}{text}\n".replace("::", ":&#58;").replace("##", "#&#35;")
