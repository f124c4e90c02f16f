"""Patches and replacements of Kustomize and Flux: where they are written, and which objects they may change."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model import Origin
from kubectl_policy.model.fields import mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.model.selectors import parse_label_query, selects
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.sources.mentions import mentioned_in
from kubectl_policy.sources.tree import DELIVERING
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
            if self.replaces:
                paths = [
                    path for target in mappings_at(document, "targets") for path in strings_at(target, "fieldPaths")
                ]
                fields.update(path.split(".")[1] if path.startswith("spec.") else "" for path in paths)
                continue
            for operation in document if isinstance(document, list) else ():
                steps = text_at(operation, "path").strip("/").split("/")
                fields.add(steps[1] if steps[0] == "spec" and len(steps) > 1 else "")
            if not isinstance(document, list):
                fields.update(mapping_at(document, "spec"))
        return frozenset(fields)

    @property
    def is_for_deliveries(self) -> bool:
        """Whether it is plain data for objects that deliver others, to which it is applied."""
        kinds = {kind.kind for kind in DELIVERING}
        return not self.replaces and bool(self.targets) and all(target.kind in kinds for target in self.targets)

    def applied_to(self, raw: Mapping[str, Json]) -> Mapping[str, Json] | None:
        """Return an object of a kind without a schema of lists after this patch; None if it is not plain data."""
        if self.replaces or not self.values:
            return None
        patched: Json = dict(raw)
        for document in self.values:
            if isinstance(document, list):
                for operation in document:
                    patched = _with_operation(patched, operation)
            elif isinstance(document, dict) and "$patch" not in document:
                patched = merged(patched, {**document, "metadata": _without_name(document)})
            else:
                return None
        return patched if isinstance(patched, dict) else None

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


def _without_name(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return the metadata of a patch without the name of the object, which may stand for any."""
    metadata = mapping_at(document, "metadata")
    return {key: part for key, part in metadata.items() if key not in {"name", "namespace"}}


def merged(before: Json, patch: Json) -> Json:
    """Return a value after a merge patch (RFC 7386), as Kustomize merges kinds that it has no schema of."""
    if not isinstance(patch, dict):
        return patch
    changed: dict[str, Json] = dict(before) if isinstance(before, dict) else {}
    for key, part in patch.items():
        if part is None:
            changed.pop(key, None)
        else:
            changed[key] = merged(changed.get(key), part)
    return changed


def _with_operation(raw: Json, operation: Json) -> Json:
    """Return a value after one operation of a JSON patch (RFC 6902) on keys; None for anything else."""
    kind, path = text_at(operation, "op"), text_at(operation, "path")
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    return _put(raw, steps, kind, value_at(operation, "value")) if kind in {"add", "replace", "remove"} else None


def _put(raw: Json, steps: Sequence[str], kind: str, value: Json) -> Json:
    if isinstance(raw, list) and list(steps) == ["-"] and kind == "add":
        return [*raw, value]
    if not isinstance(raw, dict) or not steps:
        return None
    key, *inner = steps
    if not inner:
        rest = {name: part for name, part in raw.items() if name != key}
        return rest if kind == "remove" else {**raw, key: value}
    changed = _put(raw.get(key), inner, kind, value)
    return None if changed is None else {**raw, key: changed}


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
