"""The target references that a policy declares, decoded from whichever of their spellings it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model.fields import mapping_at, strings_at, text_at, value_at
from kubectl_policy.topology.references import ROUTES, unnamed_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile


class TargetReference(NamedTuple):
    """One reference as it is declared; `field` is its place in the policy (`spec.targetRefs[0]`).

    `namespace` is empty where the reference names none. `selector` is None for a reference by name; with it the
    reference names every object of the kind whose labels it selects, in its own namespace or in those that `namespaces`
    lets in (`from: Same | All | Selector`).

    Where it is a filter of a route that names the policy, `named_by` is that route and `field` the place in it; `place`
    is that of the filter among those of its rule, from 1 (0: it is not the rule's own). Without `field`, nothing is
    known to be declared, but routes of that kind and namespace were not read.
    """

    field: str
    group: str
    kind: str
    name: str = ""
    namespace: str = ""
    section: str = ""
    selector: Mapping[str, Json] | None = None
    namespaces: Mapping[str, Json] | None = None
    named_by: ObjectRef | None = None
    place: int = 0


def target_references(policy: Resource, profile: PolicyKindProfile) -> tuple[TargetReference, ...]:
    """Every reference of a policy, in the order of its kind's target fields; what is not a mapping is left out."""
    return tuple(
        reference
        for path in profile.target_fields
        for field, entry in _entries(path, value_at(policy.raw, path))
        for reference in _references(field, entry, profile.target_group)
    )


def section_names(obj: ObjectRef, sections: Sequence[str], profile: PolicyKindProfile) -> dict[str, str]:
    """What references of a kind call each of the sections of an object; empty for a rule without a name.

    Some kinds have names for such rules, by their position.
    """
    return {
        section: profile.unnamed_rules.replace("{n}", str(position + 1))
        if obj.group_kind in ROUTES and section == unnamed_rule(position)
        else section
        for position, section in enumerate(sections)
    }


def without_references(profile: PolicyKindProfile) -> str:
    """What a policy lacks that nothing attaches, in words: `has no target reference`."""
    lacks = ["has no target reference"] if profile.target_fields else []
    lacks += ["is named by no filter of a route"] if profile.filter_routes else []
    return " and ".join(lacks)


def _entries(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, list):
        for position, entry in enumerate(value):
            yield f"{path}[{position}]", entry
    else:
        yield path, value


def _references(field: str, entry: Json, default_group: str) -> Iterator[TargetReference]:
    """The reference in an entry, or one for each section where it names several (`sectionNames`)."""
    if not isinstance(entry, dict):
        return
    nested = mapping_at(entry, "selector")
    by_labels = {key: entry[key] for key in ("matchLabels", "matchExpressions") if key in entry}
    selector = nested if "selector" in entry else by_labels
    name = text_at(entry, "name")
    for section in strings_at(entry, "sectionNames") or [text_at(entry, "sectionName")]:
        yield TargetReference(
            field,
            text_at(entry, "group", default_group),
            text_at(entry, "kind"),
            name,
            text_at(entry, "namespace"),
            section,
            selector if not name and (selector or "selector" in entry or "Selector" in field) else None,
            mapping_at(entry, "namespaces") if "namespaces" in entry else None,
        )
