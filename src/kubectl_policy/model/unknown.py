"""Values that nobody can know yet: placeholders that something else fills in, and namespaces that nothing names.

Whatever the API could not hold as a name stands for a name that is not known: it may equal any other. Two equal
placeholders are equal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubectl_policy.model.refs import ObjectRef

# A subdomain of RFC 1123, as the API takes it for names (apimachinery, util/validation); sections and namespaces are
# narrower, and what is wrong with them alone is no placeholder. Nor are capitals in a word, if they are not all there
# is, or a star: no object has such a name, and nothing fills it in.
_NAME: Final = r"[a-zA-Z0-9*]([-a-zA-Z0-9.*]*[a-zA-Z0-9*])?"
# What fills something in writes its places in brackets; what stands around them is known.
_PLACE: Final = r"\$?\{\{.*?\}\}|\$?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|ENC\[[^\]]*\]"
_UNKNOWN_NAMESPACE: Final = "?"


def is_unknown(name: str) -> bool:
    """Whether a name, a namespace or the name of a section is none that the API could hold; an empty one is none."""
    return bool(name) and (name.isupper() or not re.fullmatch(_NAME, name))


def may_equal(one: str, other: str) -> bool:
    """Whether two names may be the same once it is known what they stand for."""
    if one == other:
        return True
    unknown, known = (one, other) if is_unknown(one) else (other, one)
    if not is_unknown(unknown):
        return False
    return is_unknown(known) or bool(re.fullmatch(_pattern(unknown), known))


def may_be(one: ObjectRef, other: ObjectRef) -> bool:
    """Whether two references may name the same object: they are of one kind, and what is known of them agrees."""
    return (
        one.group_kind == other.group_kind
        and may_equal(one.namespace, other.namespace)
        and may_equal(one.name, other.name)
    )


def unknown_namespace(place: str) -> str:
    """The namespace of the objects of one place in a tree, of which nothing says it: the same for all of them.

    `place` is a folder (`apps/echo`), empty for the top of the tree.
    """
    return _UNKNOWN_NAMESPACE + place.strip("/").replace("/", ".")


def _pattern(unknown: str) -> str:
    """The regular expression of the names that one with placeholders may stand for."""
    parts = re.split(_PLACE, unknown)
    # Without brackets around it, it is not known which part of it is to be filled in.
    return ".*".join(map(re.escape, parts)) if len(parts) > 1 else ".*"
