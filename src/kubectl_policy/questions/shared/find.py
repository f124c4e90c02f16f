"""Which object is meant: by type and name, as kubectl reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import GroupKind, ObjectRef

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubectl_policy.model.index import Index
    from kubectl_policy.model.kinds import KindNames


def find(index: Index, type_name: str, name: str, namespace: str) -> ObjectRef:
    """The object of a type (`httproute`, `httproutes`, a short name, `type.group`, `type.version.group`) and name.

    Of two kinds with one name the one that has such an object is meant. A Namespace is there if anything is that lives
    in it. Raises `UsageError` for an unknown or ambiguous
    type and `NotFoundError`, with the nearest names as a hint, where there is no such object.
    """
    kinds = kinds_meant(index, type_name)
    refs = [ObjectRef(kind, namespace if index.namespaced(kind) else "", name) for kind in kinds]
    found = [ref for ref in refs if index.presence(ref) == "present"]
    if len(found) > 1:
        options = ", ".join(f"{ref.group_kind.kind.lower()}.{ref.group_kind.group}/{name}" for ref in found)
        raise UsageError(f'"{type_name}" names several kinds', f"say which one: {options}")
    if found:
        return found[0]
    where = namespace if any(ref.namespace for ref in refs) else ""
    objects = [resource.ref for kind in kinds for resource in index.of_kind(kind)]
    raise not_found(objects, type_name, name, where)


def kinds_meant(index: Index, type_name: str, *others: str) -> tuple[GroupKind, ...]:
    """`kinds_named`, at least one. Raises `UsageError` if there is none; `others` are further words that would do."""
    kinds = kinds_named(index, type_name)
    if not kinds:
        known = {name for names in _all_kinds(index) for name in (names.singular, names.plural)}
        read = ", ".join(str(kind).lower() for kind in index.group_kinds)
        hint = did_you_mean(type_name.lower(), known.union(others)) or f"the input has: {read}"
        raise UsageError(f'there is no resource type "{type_name}" in the input', hint)
    return kinds


def kinds_named(index: Index, type_name: str) -> tuple[GroupKind, ...]:
    """The kinds that a type name can mean, those with objects in the snapshot first, then by group and kind."""
    found = {names.group_kind for names in _all_kinds(index) if is_called(names, type_name)}
    return tuple(sorted(found, key=lambda kind: (not index.of_kind(kind), kind)))


def is_called(names: KindNames, type_name: str) -> bool:
    """Whether a type name can mean a kind: a name of it, alone or with its group, or with a version and its group."""
    wanted, _, rest = type_name.lower().partition(".")
    return wanted in {names.singular, names.plural, *names.short_names} and _in_group(names.group_kind.group, rest)


def _in_group(group: str, rest: str) -> bool:
    """Whether `rest`, what follows the type's first dot, is the group, or a version and the group."""
    return not rest or rest == group or rest.partition(".")[2] == group


def _all_kinds(index: Index) -> Iterable[KindNames]:
    """Every kind with a name: built in, defined in the snapshot, or guessed from an object's kind."""
    yield from index.kinds.values()
    for kind in index.group_kinds:
        if kind not in index.kinds:
            yield index.names_of(kind)


def not_found(objects: Iterable[ObjectRef], type_name: str, name: str, namespace: str = "") -> NotFoundError:
    """The error that there is no object of a name, with a hint at those that there are."""
    where = f" in namespace {namespace}" if namespace else ""
    return NotFoundError(f'{type_name} "{name}" not found{where}', _hint(tuple(objects), name, type_name))


def _hint(objects: Collection[ObjectRef], name: str, type_name: str) -> str:
    elsewhere = sorted({ref.namespace for ref in objects if ref.name == name and ref.namespace})
    if elsewhere:
        return f"it exists in namespace {', '.join(elsewhere)}: add -n {elsewhere[0]}"
    if not objects:
        return f"the input has no {type_name} at all"
    return did_you_mean(name, {ref.name for ref in objects}) or "there are: " + ", ".join(
        sorted({ref.qualified_name for ref in objects})[:5]
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean gateway?`; empty if nothing that is known is near."""
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    near = difflib.get_close_matches(word, sorted(known), n=3, cutoff=0.6)
    return f"did you mean {', '.join(near)}?" if near else ""
