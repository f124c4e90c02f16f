"""Texts and values that are not read as objects: the gaps that they leave, and the names that they mention."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lazy import pattern
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import TARGET_KINDS
from kubectl_policy.model.kinds import is_kubernetes_own
from kubectl_policy.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json

# What may spell a word without its letters: escapes of letters, a line that goes on, base64, tags by other names.
_SPELLED: Final = pattern(r"\\(?:x[4-7]|u00[4-7]|U000000[4-7]|\r?\n)|![^\s!]{0,99}binary|^%TAG", re.MULTILINE)
_KEYS: Final = tuple(pattern(rf"(?:^|[\s,{{\"'?]){key}[\"']?\s*:") for key in ("apiVersion", "kind"))
_END: Final = r"[\"']?[ \t]*(?:#.*)?\r?$"
_TOP: Final = pattern(r"^[\"']?(apiVersion|kind|metadata)[\"']?[ \t]*:", re.MULTILINE)
_GROUP: Final = pattern(rf"^apiVersion:[ \t]*[\"']?((?:[a-z0-9.-]+/)?[a-z0-9]+){_END}", re.MULTILINE)
_KIND: Final = pattern(rf"^kind:[ \t]*[\"']?([A-Za-z][A-Za-z0-9-]*){_END}", re.MULTILINE)
_METADATA: Final = pattern(r"^metadata:(.*(?:\n(?:[ \t].*|#.*|\r?$))*)", re.MULTILINE)
_FIELD: Final = pattern(r"(?:^[ \t]+|[{,][ \t]*)[\"']?(name|namespace|<<)[\"']?:[ \t]*([^,}#\n]*)", re.MULTILINE)
_NAME: Final = pattern(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
# Whatever fills these in may name anything, and selectors do without names.
_OPEN: Final = pattern(r"\{\{|\$[{(]|ENC\[|<path:|[Ss]elector|matchLabels|matchExpressions")
_BY_NAME: Final = pattern(r"^[ \t-]*[\"']?targetRefs?[\"']?[ \t]*:", re.MULTILINE)
_WORD: Final = pattern(r"[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?")
# What is larger, or has more words, may mention anything.
_MAX_SIZE: Final = 2**18
_MAX_WORDS: Final = 5_000
_MAX_VALUES: Final = 20_000
# Kinds of Kubernetes itself are none that policies are, nor do they name what policies are about, but for these.
_REFERRING_GROUPS: Final = frozenset({"networking.k8s.io", "extensions", "apiextensions.k8s.io", "events.k8s.io"})
_REFERRING_KINDS: Final = frozenset({"Event", "List"})
# The gap of a text of which nothing is known.
ANYTHING: Final = Gap("", "", "")
_NAME_IN_TEXT: Final = pattern(r"[A-Za-z0-9][-A-Za-z0-9.]*")
# What selects by labels means objects that it does not name.
_SELECTING: Final = frozenset({"matchExpressions", "matchLabels", "selector", "targetSelector", "targetSelectors"})


def may_hold_objects(text: str) -> bool:
    """Whether a text has the words without which nothing in it is an object, or is meant as one."""
    names_kind = ("apiVersion" in text) + ("kind" in text)
    is_meant = names_kind > 1 or (names_kind and "metadata" in text and "spec" in text)
    return bool(is_meant or _SPELLED.search(text))


def looks_like_an_object(text: str) -> bool:
    """Whether a text that cannot be read has the keys of an object."""
    return all(key.search(text) for key in _KEYS) or bool(_SPELLED.search(text))


def gap_of_text(text: str) -> Gap:
    """Return a gap with what can be told of the object in a text, by what stands at the beginning of its lines."""
    keys = [match[1] for match in _TOP.finditer(text)]
    group, kind = _GROUP.search(text), _KIND.search(text)
    known = group and kind and (keys.count("apiVersion"), keys.count("kind")) == (1, 1)
    if not (known and group and kind) or kind[1].endswith("List"):
        return replace(ANYTHING, mentions=_mentions(None, text))
    group_kind = GroupKind(group[1].rpartition("/")[0], kind[1])
    # The same key twice, or one that is merged, may be either.
    fields: dict[str, list[str]] = {"name": [], "namespace": [], "<<": []}
    metadata = _METADATA.search(text) if keys.count("metadata") == 1 else None
    for field in _FIELD.finditer(metadata[1]) if metadata else ():
        fields[field[1]].append(field[2].strip().strip("\"'"))
    certain = not fields["<<"]
    return Gap(
        group_kind.kind,
        _only_name(fields["namespace"]) if certain else "",
        reason="",
        name=_only_name(fields["name"]) if certain else "",
        mentions=_mentions(group_kind, text),
    )


def _only_name(written: list[str]) -> str:
    return written[0] if len(written) == 1 and _NAME.fullmatch(written[0]) else ""


def mentions_of(group_kind: GroupKind | None, value: Json) -> frozenset[str] | None:
    """Return the words in a value that is meant as an object of a kind, if that is known: see `Gap`."""
    unread, texts = [value], list[str]()
    while unread:
        part = unread.pop()
        if len(texts) > _MAX_VALUES:
            return None
        if isinstance(part, (dict, Mapping)):
            texts += [f"{key}:" for key in part]
            unread.extend(part.values())
        elif isinstance(part, list):
            unread.extend(part)
        else:
            texts.append(str(part))
    return _mentions(group_kind, "\n".join(texts))


def _mentions(group_kind: GroupKind | None, text: str) -> frozenset[str] | None:
    """Return the words in a text, if what is written there refers to other objects by their names alone."""
    if group_kind and _refers_to_nothing(group_kind):
        return frozenset()
    if len(text) > _MAX_SIZE or _OPEN.search(text) or _SPELLED.search(text):
        return None
    if group_kind not in TARGET_KINDS and not _BY_NAME.search(text):
        # Something else than a route or a Gateway may be about a whole namespace, without any name.
        return None
    mentions = frozenset(_WORD.findall(text))
    return mentions if len(mentions) <= _MAX_WORDS else None


def _refers_to_nothing(group_kind: GroupKind) -> bool:
    """Whether objects of a kind name nothing that answers are about, so that only what names them depends on them."""
    return (
        is_kubernetes_own(group_kind)
        and group_kind.group not in _REFERRING_GROUPS
        and group_kind.kind not in _REFERRING_KINDS
    )


def words_in(values: Iterable[Json]) -> frozenset[str]:
    """Return the names that may stand in values: words, and the parts of those with dots (`web.shop.svc`)."""
    mentioned: set[str] = set()
    for text in texts_in(values, keys=False):
        for name in _NAME_IN_TEXT.findall(text):
            mentioned.add(name)
            mentioned.update(name.split("."))
    return frozenset(mentioned - {""})


def mentioned_in(values: Iterable[Json]) -> frozenset[str] | None:
    """Return the names in values that become part of an object; None if they may mean others without naming them."""
    values = list(values)
    return None if _SELECTING.intersection(texts_in(values, keys=True)) else words_in(values)


def texts_in(values: Iterable[Json], *, keys: bool) -> list[str]:
    """List the strings in values, or all keys of mappings."""
    unread, texts = list(values), list[str]()
    while unread:
        part = unread.pop()
        if isinstance(part, dict):
            texts += part if keys else ()
            unread.extend(part.values())
        elif isinstance(part, list):
            unread.extend(part)
        elif isinstance(part, str) and not keys:
            texts.append(part)
    return texts
