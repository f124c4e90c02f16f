"""Values that nobody can know yet: placeholders that something else fills in, and namespaces that nothing names.

Whatever the API could not hold as a name stands for a name that is not known: it may equal any other. Two equal
placeholders are equal. What is no name (a word of the API, a label, a port) is unknown by the same signs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.fields import value_at
from kubectl_policy.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.refs import GroupKind, ObjectRef

# A subdomain of RFC 1123, as the API takes it for names (apimachinery, util/validation); sections and namespaces are
# narrower, and what is wrong with them alone is no placeholder. Nor are capitals in a word, if they are not all there
# is, or a star: no object has such a name, and nothing fills it in.
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_IN_NAMES: Final = frozenset(f"-.*0123456789{_LETTERS}{_LETTERS.upper()}")
_INSIDE_NAMES: Final = ("-", ".")
# What fills something in writes its places in brackets; what stands around them is known.
_PLACE: Final = pattern(r"\$?\{\{.*?\}\}|\$?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|ENC\[[^\]]*(?:\]|\Z)")
_OPENING: Final = frozenset("{(<[")
# Or it is a word that cries out to be replaced; no word of the API is written like that.
_CRY: Final = pattern(r"[A-Z0-9]+(_[A-Z0-9]+)+")
_UNNAMED: Final = pattern(r"[a-z]+\[[0-9]+\]")
# Signs of that in an object as compact JSON, whose own braces stand before a quote or a brace.
_SIGNS: Final = (b"<", b"$(", b"ENC[")
_PERHAPS_UNFILLED: Final = (pattern(rb'\{[^"}]'), pattern(rb"\{\}[^,}\]]"))
_PERHAPS_CRY: Final = pattern(rb'"[A-Z0-9]+(?:_[A-Z0-9]+)+"')
_TEXT_AS_PORT: Final = b'"port":"'
# Names that the API could not hold, and hostnames with other signs.
_PERHAPS_OPEN_NAMES: Final = (
    pattern(
        rb'"(?:name(?:space)?|group|kind|sectionName)":"'
        rb'(?!"|[0-9a-z*](?:[-.*0-9a-z]*[0-9a-z*])?"|[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")'
    ),
    pattern(rb'"hostnames":\[[^\]]*[^-.*0-9A-Za-z",\]]'),
)
_ANY_UNKNOWN_NAME: Final = pattern(r"[^-.*0-9A-Za-z\n]|^[-.]|[-.]$|^[^a-z\n]*[A-Z][^a-z\n]*$", re.MULTILINE)
# Metadata with braces in texts and in keys, which name nothing.
_WITH_BRACES: Final = pattern(
    rb'"annotations":\{(?:"[^"\\]*(?:\\.[^"\\]*)*":"[^"\\]*(?:\\.[^"\\]*)*",?)*\}|"managedFields":\[[^\]]*\]'
)
# Longer ones are no names; nothing is known of what is around their places.
_LONGEST: Final = 1_000
_UNKNOWN_NAMESPACE: Final = "?"

# A number, or the text that stands for one.
Port: TypeAlias = int | str


@lru_cache(maxsize=100_000)
def is_unknown(name: str) -> bool:
    """Whether a name, a namespace or the name of a section is none that the API could hold; an empty one is none."""
    return bool(name) and (
        name.isupper()
        or name.startswith(_INSIDE_NAMES)
        or name.endswith(_INSIDE_NAMES)
        or not _IN_NAMES.issuperset(name)
    )


@lru_cache(maxsize=100_000)
def is_unfilled(text: str) -> bool:
    """Whether a text that is no name, as a protocol or a label, holds something that is to be filled in."""
    return has_place(text) or ("_" in text and bool(_CRY.fullmatch(text[:_LONGEST])))


@lru_cache(maxsize=100_000)
def is_unknown_hostname(name: str) -> bool:
    """Whether a hostname is none that the API could hold, as a placeholder is."""
    # An asterisk out of its place is only a mistake.
    return not _IN_NAMES.issuperset(name)


@lru_cache(maxsize=100_000)
def has_place(text: str) -> bool:
    """Whether something in a text is to be filled in; unlike names, labels may be words with underscores."""
    return is_withheld(text)


def is_withheld(text: str) -> bool:
    """The same of what may be secret: the text is not kept."""
    return not _OPENING.isdisjoint(text) and bool(_PLACE.search(text[:_LONGEST]))


def unknown_among(names: Iterable[str]) -> frozenset[str]:
    """Return the names of which `is_unknown` is true; most often there are none."""
    distinct = {*names}
    return frozenset(filter(is_unknown, distinct)) if _ANY_UNKNOWN_NAME.search("\n".join(distinct)) else frozenset()


def may_be_unfilled(text: bytes, _: int = 1) -> bool:
    """Whether anything in objects, as compact JSON, may be `is_unfilled`; annotations do not count."""
    if b"{\\" in text:
        text = _WITH_BRACES.sub(b'"":0', text)
    is_cry = b"_" in text and _PERHAPS_CRY.search(text)
    has_sign = any(sign in text for sign in _SIGNS)
    return bool(is_cry) or has_sign or any(unfilled.search(text) for unfilled in _PERHAPS_UNFILLED)


def may_have_open_names(text: bytes, _: int = 1) -> bool:
    """Whether references, sections, ports or hostnames in objects, as compact JSON, may be to be filled in."""
    has_open_name = _TEXT_AS_PORT in text or any(name.search(text) for name in _PERHAPS_OPEN_NAMES)
    return has_open_name or may_be_unfilled(text)


def may_be_label(one: str, other: str) -> bool:
    """Whether two labels, or two values of one, may be the same once they are filled in."""
    if one == other:
        return True
    unknown, known = (one, other) if has_place(one) else (other, one)
    if not has_place(unknown):
        return False
    return fit_together(unknown, known) if has_place(known) else may_become(unknown, known)


def may_equal(one: str, other: str) -> bool:
    """Whether two names may be the same once it is known what they stand for."""
    if one == other:
        return True
    unknown, known = (one, other) if is_unknown(one) else (other, one)
    if not is_unknown(unknown):
        return False
    return fit_together(unknown, known) if is_unknown(known) else may_become(unknown, known)


def may_be_section(one: str, other: str) -> bool:
    """Whether two sections of an object may be the same; one without a name is called `rule[0]`, and that is known."""
    unnamed = [bool(_UNNAMED.fullmatch(section)) for section in (one, other)]
    if all(unnamed) or (any(unnamed) and not all(map(is_unknown, (one, other)))):
        return one == other
    return may_equal(one, other)


def may_be(one: ObjectRef, other: ObjectRef) -> bool:
    """Whether two references may name the same object: they are of one kind, and what is known of them agrees."""
    return (
        one.group_kind == other.group_kind
        and may_equal(one.namespace, other.namespace)
        and may_equal(one.name, other.name)
    )


def is_open(ref: ObjectRef) -> bool:
    """Whether something of a reference is to be filled in."""
    return is_unknown(ref.name) or is_unknown(ref.namespace) or is_unknown_kind(ref.group_kind)


@lru_cache(maxsize=10_000)
def is_unknown_kind(kind: GroupKind) -> bool:
    """Whether the name of a kind, or of its group, is to be filled in."""
    return is_unfilled(kind.kind) or is_unfilled(kind.group)


def unknown_namespace(place: str) -> str:
    """The namespace of the objects of one place in a tree, of which nothing says it: the same for all of them.

    `place` is a folder (`apps/echo`), empty for the top of the tree.
    """
    return _UNKNOWN_NAMESPACE + place.strip("/").replace("/", ".")


def port_at(value: Json, path: str) -> Port | None:
    """The number at a path, or the text there that is to become one; None where there is none of both."""
    found = value_at(value, path)
    if isinstance(found, str):
        return found if is_unfilled(found) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def may_be_port(one: Port | None, other: Port | None) -> bool:
    """Whether two ports may be the same once they are filled in."""
    return one == other or isinstance(one, str) or isinstance(other, str)


def may_become(unknown: str, known: str) -> bool:
    """Whether a text with placeholders may be another one once they are filled in."""
    first, *parts = known_parts(unknown)
    if not known.startswith(first):
        return False
    at = len(first)
    for part in parts[:-1]:
        at = known.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not parts or (len(known) - at >= len(parts[-1]) and known.endswith(parts[-1]))


def fit_together(one: str, other: str) -> bool:
    """Whether two texts with placeholders may be the same: what is known of their ends agrees.

    Two that have all their places in common at one end, with what is around these, differ if the rest does.
    """
    if one == other or same_places(one, other):
        return one == other
    (begin, *_, end), (start, *_, last) = known_parts(one), known_parts(other)
    return (begin.startswith(start) or start.startswith(begin)) and (end.endswith(last) or last.endswith(end))


def same_places(one: str, other: str) -> bool:
    """Whether two texts have the same placeholders, with the same text around them but for that at one end."""
    places = [_PLACE.search(one[:_LONGEST]), _PLACE.search(other[:_LONGEST])]
    if None in places:
        return False
    tails = {text[place.start() :] for text, place in zip((one, other), places, strict=True) if place}
    heads = {text.removesuffix(known_parts(text)[-1]) for text in (one, other)}
    return len(tails) == 1 or len(heads) == 1


def known_parts(unknown: str) -> list[str]:
    """What is known of a text with placeholders: what stands before, between and behind their places."""
    parts = _PLACE.split(unknown) if len(unknown) <= _LONGEST else []
    # Without brackets around it, it is not known which part of it is to be filled in.
    return parts if len(parts) > 1 else ["", ""]
