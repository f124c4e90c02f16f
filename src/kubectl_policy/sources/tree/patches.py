"""Patches and replacements of Kustomize and Flux: where they are written, and which objects they may change."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model import Origin
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.model.selectors import parse_label_query, selects
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.sources.mentions import mentioned_in
from kubectl_policy.text import Document
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Json

# An alternative of a regular expression of which it is soon found out what it matches; names rarely are more.
_PLAIN: Final = re.compile(r"[\w-]*(?:(?:\.\*|\.|\\\.)[\w-]*){0,8}")

# Where it stands by which name an object is known; an operation without a path changes everything.
_IDENTITY: Final = frozenset({"", "/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"})
_NAMES: Final = frozenset({"metadata.name", "metadata.namespace"})


class Target(Struct, frozen=True, kw_only=True):
    """Objects with something in common, as in the `target` of a patch; an empty field selects all."""

    group: str = ""
    """A regular expression, as are kind, name and namespace, unless it is exact."""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    labels: str = ""
    """A label query."""
    exact: bool = False

    def may_be(self, group_kind: GroupKind, name: str, namespaces: Iterable[str], labels: Mapping[str, str]) -> bool:
        """Whether an object may be meant, which had one of some namespaces when it was patched, or an unknown one."""
        return (
            self._fits(self.kind, group_kind.kind)
            and (self._fits(self.group, group_kind.group) or not group_kind.group)
            and (self._fits(self.name, name) or is_unknown(name))
            and any(self._fits(self.namespace, namespace) or is_unknown(namespace) for namespace in namespaces)
            and _may_select(self.labels, labels)
        )

    def _fits(self, pattern: str, value: str) -> bool:
        if self.exact or not pattern:
            return pattern in {"", value}
        compiled = _compiled(pattern)
        return compiled is None or pattern == value or bool(compiled.fullmatch(value))


class Patch(Struct, frozen=True, kw_only=True, dict=True):
    """Patch, or replacement, of a kustomization."""

    origin: Origin
    file: str = ""
    """The path of its file, empty if it is written inline."""
    targets: tuple[Target, ...] = ()
    """The objects that it names; none if its file names them."""
    moves: bool = False
    """Whether an object may have another name, namespace or kind after it."""
    replaces: bool = False
    """Whether the values come from another object."""
    values: Sequence[Json] | None = ()
    """What is written inline or, once it was read, in its file; None if it cannot be read."""

    @cached_property
    def mentions(self) -> frozenset[str] | None:
        """The names in it; None if it may mean any object."""
        return None if self.values is None else mentioned_in(self.values)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields of the spec that it sets; with an empty one, any of them."""
        fields: set[str] = set() if self.values else {""}
        for document in self.values or ():
            for operation in document if isinstance(document, list) else ():
                steps = text_at(operation, "path").strip("/").split("/")
                fields.add(steps[1] if steps[0] == "spec" and len(steps) > 1 else "")
            if not isinstance(document, list):
                fields.update(mapping_at(document, "spec"))
        return frozenset(fields)

    def patches_in(self) -> Iterator[Target]:
        """List the targets of the patches that this patch gives to a Kustomization of Flux."""
        for document in self.values or ():
            patches: list[Json] = [*items_at(document, "spec.patches")]
            for operation in document if isinstance(document, list) else ():
                if text_at(operation, "path").startswith("/spec/patches"):
                    added = value_at(operation, "value")
                    patches += added if isinstance(added, list) else [added]
            for patch in patches:
                yield from inline_patch(value_at(patch, "patch"), value_at(patch, "target"), self.origin).targets

    def read(self, values: Sequence[Json] | None, source: str) -> Patch:
        """Return the patch with what is in its file; if that cannot be read, any object may be its target."""
        parts = [part for document in values or () for part in (document if isinstance(document, list) else [document])]
        if self.replaces:
            targets = [target for part in parts for target in replacement_targets(part)]
            moves = any(map(replacement_moves, parts))
        else:
            targets, moves = [*targets_in(parts)], any(map(moves_objects, values or ()))
        return replace(
            self,
            origin=Origin(source, 1),
            targets=self.targets or ((Target(),) if values is None else tuple(targets)),
            moves=self.moves or moves,
            values=values,
        )


def target_of(selector: Mapping[str, Json]) -> Target:
    """Read the objects that the `target` of a patch, or the `select` of a replacement, means."""
    return Target(
        group=text_at(selector, "group"),
        kind=text_at(selector, "kind"),
        name=text_at(selector, "name"),
        namespace=text_at(selector, "namespace"),
        labels=text_at(selector, "labelSelector"),
    )


def inline_patch(text: Json, target: Json, origin: Origin) -> Patch:
    """Read a patch in a kustomization; if it cannot be read, any object may be its target."""
    values = [text]
    if isinstance(text, str):
        read = DocumentReader().read(text)
        values = [document.value if isinstance(document, Document) else None for document in read]
    selector = target_of(target) if isinstance(target, dict) else None
    targets = (selector,) if selector else tuple(targets_in(values))
    moves = any(map(moves_objects, values))
    return Patch(origin=origin, targets=targets or (Target(),), moves=moves, values=tuple(values))


def targets_in(values: Iterable[Json]) -> Iterator[Target]:
    """Return the objects that strategic merge patches name: by kind and name, in whatever namespace."""
    for document in values:
        for patch in mappings_at(document, "items") if value_at(document, "items") else [document]:
            name, kind = text_at(patch, "metadata.name"), text_at(patch, "kind")
            if name and kind:
                group = text_at(patch, "apiVersion").rpartition("/")[0]
                yield Target(group=group, kind=kind, name=name, exact=True)


def replacement_targets(replacement: Json) -> tuple[Target, ...]:
    """Return the objects that one replacement may change."""
    return tuple(target_of(mapping_at(target, "select")) for target in mappings_at(replacement, "targets"))


def replacement_moves(replacement: Json) -> bool:
    """Whether a replacement may change by which name an object is known."""
    targets = mappings_at(replacement, "targets")
    return any(path in _NAMES for target in targets for path in strings_at(target, "fieldPaths"))


def moves_objects(patch: Json) -> bool:
    """Whether a JSON patch may change by which name an object is known; a merge patch does so only if allowed to."""
    operations = patch if isinstance(patch, list) else ()
    return any(text_at(operation, "path") in _IDENTITY for operation in operations)


@lru_cache(maxsize=10_000)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a regular expression; None where it might take long to find out what it matches."""
    alternatives = pattern.removeprefix("^").removesuffix("$").split("|")
    return re.compile("|".join(alternatives)) if all(map(_PLAIN.fullmatch, alternatives)) else None


def _may_select(query: str, labels: Mapping[str, str]) -> bool:
    if not query:
        return True
    try:
        return selects(parse_label_query(query), labels) is not False
    except UsageError:
        return True
