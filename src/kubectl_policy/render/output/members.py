"""The members of values that documents show: fields and properties whose types are annotated with `Meta`."""

from __future__ import annotations

from functools import cache, cached_property

_MARK = "Annotated["


@cache
def members(kind: type) -> tuple[tuple[str, str], ...]:
    """Return the members of values of a type that documents show: the name in documents, and the attribute.

    Properties come before fields. A name is the attribute in camel case, without the underscore behind a keyword of
    Python: `class_`, `known_by`.
    """
    attributes: dict[str, None] = {}
    for base in reversed(kind.__mro__):
        for name, attribute in vars(base).items():
            getter = attribute.func if isinstance(attribute, cached_property) else getattr(attribute, "fget", None)
            if str(getattr(getter, "__annotations__", {}).get("return", "")).startswith(_MARK):
                attributes[name] = None
        annotations: dict[str, object] = vars(base).get("__annotations__", {})
        attributes |= {name: None for name, type_ in annotations.items() if str(type_).startswith(_MARK)}
    return tuple((name_of(attribute), attribute) for attribute in attributes)


def name_of(attribute: str) -> str:
    """Return the name that an attribute has in documents."""
    first, *others = attribute.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)
