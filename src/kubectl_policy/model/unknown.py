"""Unknown values: placeholders that are still to be filled in, and namespaces that no manifest states.

A name that the API could not hold is a placeholder, which may equal any name. Two equal placeholders are equal. Values
that are no names (constants of the API, labels, ports) are recognised as placeholders by the same signs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.lazy import pattern
from kubectl_policy.model.fields import Json, value_at
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.model.refs import GroupKind, ObjectRef

# A subdomain of RFC 1123, as the API takes it for names (apimachinery, util/validation); sections and namespaces are
# narrower, but a name that only violates their rules is no placeholder. Nor is one with some capitals or a star: no
# object has such a name, and nothing fills it in.
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_IN_NAMES: Final = frozenset(f"-.*0123456789{_LETTERS}{_LETTERS.upper()}")
_INSIDE_NAMES: Final = ("-", ".")
# Placeholders in brackets, as templates have them; the text around them is known.
_PLACEHOLDER: Final = pattern(r"\$?\{\{.*?\}\}|\$?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|ENC\[[^\]]*(?:\]|\Z)")
_OPENING: Final = frozenset("{(<[")
# A word in capitals with underscores, which no constant of the API is.
_CAPITALS: Final = pattern(r"[A-Z0-9]+(_[A-Z0-9]+)+")
_UNNAMED: Final = pattern(r"[a-z]+\[[0-9]+\]")
# Signs of placeholders in an object as compact JSON, whose own braces stand before a quote or a brace.
_SIGNS: Final = (b"<", b"$(", b"ENC[")
_PERHAPS_UNFILLED: Final = (pattern(rb'\{[^"}]'), pattern(rb"\{\}[^,}\]]"))
_PERHAPS_CAPITALS: Final = pattern(rb'"[A-Z0-9]+(?:_[A-Z0-9]+)+"')
_TEXT_AS_PORT: Final = b'"port":"'
# Names that the API could not hold, and hostnames with other signs.
_PERHAPS_OPEN_NAMES: Final = (
    pattern(
        rb'"(?:name(?:space)?|group|kind|sectionName)":"'
        rb'(?!"|[0-9a-z*](?:[-.*0-9a-z]*[0-9a-z*])?"|[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")'
    ),
    pattern(rb'"hostnames":\[[^\]]*[^-.*0-9A-Za-z",\]]'),
)
# Metadata with braces in texts and in keys, which name nothing.
_WITH_BRACES: Final = pattern(
    rb'"annotations":\{(?:"[^"\\]*(?:\\.[^"\\]*)*":"[^"\\]*(?:\\.[^"\\]*)*",?)*\}|"managedFields":\[[^\]]*\]'
)
# The longest text in which placeholders are looked for; longer texts are no names.
_MAX_LENGTH: Final = 1_000

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
    return has_placeholder(text) or ("_" in text and bool(_CAPITALS.fullmatch(text[:_MAX_LENGTH])))


def is_unknown_hostname(name: str) -> bool:
    """Whether a hostname is none that the API could hold, as a placeholder is."""
    # An asterisk out of its place is only a mistake.
    return not _IN_NAMES.issuperset(name)


def has_placeholder(text: str) -> bool:
    """Whether a text has a placeholder in brackets; unlike names, labels may be words with underscores."""
    return not _OPENING.isdisjoint(text) and bool(_PLACEHOLDER.search(text[:_MAX_LENGTH]))


def may_be_unfilled(text: bytes, _: int = 1) -> bool:
    """Whether anything in objects, as compact JSON, may be `is_unfilled`; annotations do not count."""
    if b"{\\" in text:
        text = _WITH_BRACES.sub(b'"":0', text)
    has_capitals = b"_" in text and _PERHAPS_CAPITALS.search(text)
    has_sign = any(sign in text for sign in _SIGNS)
    return bool(has_capitals) or has_sign or any(unfilled.search(text) for unfilled in _PERHAPS_UNFILLED)


def may_have_open_names(text: bytes, _: int = 1) -> bool:
    """Whether references, sections, ports or hostnames in objects, as compact JSON, may be to be filled in."""
    has_open_name = _TEXT_AS_PORT in text or any(name.search(text) for name in _PERHAPS_OPEN_NAMES)
    return has_open_name or may_be_unfilled(text)


def may_be_label(first: str, second: str) -> bool:
    """Whether two labels, or two values of one, may be the same once they are filled in."""
    return first == second or _may_be_filled_in_alike(first, second, has_placeholder)


def may_equal(first: str, second: str) -> bool:
    """Whether two names may be the same once it is known what they stand for."""
    return first == second or _may_be_filled_in_alike(first, second, is_unknown)


def _may_be_filled_in_alike(first: str, second: str, is_open: Callable[[str], bool]) -> bool:
    unknown, known = (first, second) if is_open(first) else (second, first)
    if not is_open(unknown):
        return False
    return fit_together(unknown, known) if is_open(known) else may_become(unknown, known)


def may_be_section(first: str, second: str) -> bool:
    """Whether two sections of an object may be the same; one without a name is called `rule[0]`, and that is known."""
    unnamed = [bool(_UNNAMED.fullmatch(section)) for section in (first, second)]
    if all(unnamed) or (any(unnamed) and not all(map(is_unknown, (first, second)))):
        return first == second
    return may_equal(first, second)


def may_be(first: ObjectRef, second: ObjectRef) -> bool:
    """Whether two references may name the same object: they are of one kind, and what is known of them agrees."""
    return (
        first.group_kind == second.group_kind
        and may_equal(first.namespace, second.namespace)
        and may_equal(first.name, second.name)
    )


def is_open(ref: ObjectRef) -> bool:
    """Whether something of a reference is to be filled in."""
    return is_unknown(ref.name) or is_unknown(ref.namespace) or is_unknown_kind(ref.group_kind)


@lru_cache(maxsize=10_000)
def is_unknown_kind(kind: GroupKind) -> bool:
    """Whether the name of a kind, or of its group, is to be filled in."""
    return is_unfilled(kind.kind) or is_unfilled(kind.group)


def unknown_namespace(folder: str) -> str:
    """Return the placeholder for the namespace of the objects of one folder of a tree that names none.

    `folder` is a path such as `apps/echo`, "" for the top of the tree.
    """
    return UNKNOWN_NAMESPACE + folder.strip("/").replace("/", ".")


def port_at(value: Json, path: str) -> Port | None:
    """Return the number at a path, or the placeholder for one; None where there is neither."""
    port = value_at(value, path)
    if isinstance(port, str):
        return port if is_unfilled(port) else None
    return port if isinstance(port, int) and not isinstance(port, bool) else None


def may_be_port(first: Port | None, second: Port | None) -> bool:
    """Whether two ports may be the same once they are filled in."""
    return first == second or isinstance(first, str) or isinstance(second, str)


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


def fit_together(first: str, second: str) -> bool:
    """Whether two texts with placeholders may be the same: what is known of their ends agrees.

    Two with the same placeholders, and the same text around them but at one end, differ if that end differs.
    """
    if first == second or same_placeholders(first, second):
        return first == second
    (begin, *_, end), (start, *_, last) = known_parts(first), known_parts(second)
    return (begin.startswith(start) or start.startswith(begin)) and (end.endswith(last) or last.endswith(end))


def same_placeholders(first: str, second: str) -> bool:
    """Whether two texts have the same placeholders, with the same text around them but for that at one end."""
    matches = [_PLACEHOLDER.search(first[:_MAX_LENGTH]), _PLACEHOLDER.search(second[:_MAX_LENGTH])]
    if None in matches:
        return False
    tails = {text[match.start() :] for text, match in zip((first, second), matches, strict=True) if match}
    heads = {text.removesuffix(known_parts(text)[-1]) for text in (first, second)}
    return len(tails) == 1 or len(heads) == 1


def known_parts(unknown: str) -> list[str]:
    """Return the known parts of a text with placeholders: before, between and behind these."""
    parts = _PLACEHOLDER.split(unknown) if len(unknown) <= _MAX_LENGTH else []
    # Without brackets around it, it is not known which part of it is to be filled in.
    return parts if len(parts) > 1 else ["", ""]
