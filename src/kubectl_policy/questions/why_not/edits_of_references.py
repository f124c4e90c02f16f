"""Edits of what a policy names, and of what lets it: references, sections, labels, grants and filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Origin
from kubectl_policy.model.fields import (
    FieldPath,
    every_mapping,
    items_at,
    labels_of,
    mapping_at,
    mappings_at,
    strings_at,
    text_at,
    value_at,
)
from kubectl_policy.model.selectors import selects
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.questions.why_not.edit import GONE, Edit, altered
from kubectl_policy.resolution import CARRY_NOTHING
from kubectl_policy.topology.grants import REFERENCE_GRANT
from kubectl_policy.topology.references import unnamed_rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json
    from kubectl_policy.questions.why_not.edit import Case, Gone
    from kubectl_policy.questions.why_not.reasons import Reason

_LABELS: Final = FieldPath.parse("metadata.labels")
_MOST_NODES: Final = 6
# What a reference says of which objects, or sections, it means.
_SELECTING: Final = (
    *("selector", "matchLabels", "matchExpressions", "namespaces"),
    *("namespace", "sectionName", "sectionNames"),
)
_LONGEST_NAME: Final = 253


def name_it(case: Case, _: Reason) -> Iterator[Edit]:
    """The policy names the node, or what is near it on its paths and has a kind that the policy can name."""
    for node in _nameable(case):
        section = _called(case, node)
        if section is not None:
            yield from _naming(case, node, section)


def _nameable(case: Case) -> list[NodeRef]:
    """The node, the whole of its object, its sections, then what is nearest on its paths."""
    target, topology = case.target, case.analysis.topology
    sections = [] if target.section else [NodeRef(target.object, name) for name in topology.sections(target.object)]
    near = [node for node, _ in sorted(_distances(case).items(), key=lambda found: found[1])]
    nodes = [target, NodeRef(target.object), *sections, *near]
    kinds = nameable_kinds(case)
    return list(dict.fromkeys(node for node in nodes if node.object.group_kind in kinds))[:_MOST_NODES]


def nameable_kinds(case: Case) -> Collection[GroupKind]:
    """The kinds that the policy can name; where nobody has said which, that of the node, and those it names already.

    A direct kind that is known to take effect somewhere can name nothing else, and none changes a Namespace.
    """
    profile, kind = case.profile, case.target.object.group_kind
    named = {attachment.target.object.group_kind for attachment in _failing(case) if attachment.target}
    kinds = profile.declared_targets or {kind, *named}
    if profile.policy_class == "inherited":
        return kinds
    levels = {level.group_kind for level in profile.effective_targets}
    return (kinds & levels if levels else kinds) - CARRY_NOTHING


def _distances(case: Case) -> dict[NodeRef, int]:
    """How many steps away from the node other nodes on its paths are, at least."""
    found: dict[NodeRef, int] = {}
    for path in case.paths:
        here = max((place for place, node in enumerate(path) if node.object == case.target.object), default=0)
        for place, node in enumerate(path):
            found[node] = min(found.get(node, len(path)), abs(place - here))
    return found


def _called(case: Case, node: NodeRef) -> str | None:
    """What a reference calls the section of a node; None if it has no name that a reference can have."""
    topology, raw = case.analysis.topology, case.analysis.index.raw(node.object)
    sections = topology.sections(node.object)
    if not node.section or node.section in {*_names(raw, "spec.listeners"), *_names(raw, "spec.rules")}:
        return node.section
    if node.section == unnamed_rule(sections.index(node.section)):
        return case.profile.unnamed_rules.replace("{n}", str(sections.index(node.section) + 1)) or None
    return node.section if node.section in _names(raw, "spec.ports") else None


def _names(raw: Json, field: str) -> list[str]:
    return [text_at(item, "name") for item in items_at(raw, field)]


def _failing(case: Case) -> list[Attachment]:
    attachments = case.analysis.attachments[case.policy.ref]
    return [one for one in attachments if one.state != "attached" and not one.declared.named_by]


def _naming(case: Case, node: NodeRef, section: str) -> Iterator[Edit]:
    raw = case.policy.raw
    named = (field for field in case.profile.target_fields if "Selector" not in field)
    # Where both spellings are possible and neither is used, lists are what newer kinds have.
    fields = sorted(named, key=lambda field: not field.endswith("s"))
    present = [field for field in fields if value_at(raw, field) is not None]
    failing = {attachment.declared.field for attachment in _failing(case)}
    for field in present or fields:
        value, path = value_at(raw, field), FieldPath.parse(field)
        if isinstance(value, list):
            for place, entry in enumerate(items_at(raw, field)):
                if f"{field}[{place}]" in failing:
                    yield from _pointed(case, path / place, entry, node, section)
            yield from _pointed(case, path / len(value), None, node, section)
        else:
            in_list = value is None and field.endswith("s")
            yield from _pointed(case, path / 0 if in_list else path, value, node, section)


def _pointed(case: Case, path: FieldPath, entry: Json, node: NodeRef, section: str) -> Iterator[Edit]:
    """The policy with a reference that names a node; what else the reference says stays, but for selectors."""
    obj, home = node.object, case.policy.ref.namespace
    known: Mapping[str, Json] = entry if isinstance(entry, Mapping) else {}
    away = obj.namespace not in {"", home}
    if away and case.profile.cross_namespace is False:
        return
    fields: dict[str, Json] = {"group": obj.group_kind.group, "kind": obj.kind, "name": obj.name}
    if away or (obj.namespace and "namespace" in known):
        fields["namespace"] = obj.namespace
    if section and "sectionNames" in known:
        same = all(known.get(key) == value for key, value in fields.items())
        fields["sectionNames"] = [*(items_at(known, "sectionNames") if same else ()), section]
    elif section:
        fields["sectionName"] = section
    kept = {key: value for key, value in known.items() if key in fields or key not in _SELECTING}
    yield from case.change(altered(case.policy, (path, {**kept, **fields})))


def name_overlapping(case: Case, reason: Reason) -> Iterator[Edit]:
    """The policy names the routes, too, that take the same requests as one that it names."""
    relations = case.analysis.topology.relations
    for node in reason.related:
        requests = relations.requests_of(node.object)
        for route in dict.fromkeys(route for one in requests for route in relations.routes_taking(one)):
            yield from _naming(case, NodeRef(route), "")


def label_it(case: Case, reason: Reason) -> Iterator[Edit]:
    """The node's object gets the labels that a selector of the policy asks for."""
    found = case.analysis.attachments[case.policy.ref]
    selectors = [one.declared.selector for one in found if one.declared.field == reason.field]
    for resource in case.read(case.target.object):
        yield from relabelled(case, resource, selectors[0] or {})


def relabelled(case: Case, resource: Resource, selector: Mapping[str, Json]) -> Iterator[Edit]:
    """An object with the labels that a selector asks for."""
    labels = labels_of(resource.raw)
    wanted = dict(_asked_for(selector, labels))
    if selects(selector, {key: value for key, value in {**labels, **wanted}.items() if isinstance(value, str)}):
        alterations = [(_LABELS / key, value) for key, value in wanted.items()]
        yield from case.change(altered(resource, *alterations))


def _asked_for(selector: Mapping[str, Json], labels: Mapping[str, str]) -> Iterator[tuple[str, str | Gone]]:
    for key, value in mapping_at(selector, "matchLabels").items():
        if isinstance(value, str) and labels.get(key) != value:
            yield key, value
    for requirement in mappings_at(selector, "matchExpressions"):
        key, values = text_at(requirement, "key"), strings_at(requirement, "values")
        match text_at(requirement, "operator"):
            case "In" if values and labels.get(key) not in values:
                yield key, values[0]
            case "Exists" if key not in labels:
                yield key, "true"
            case "NotIn" | "DoesNotExist" if key in labels:
                yield key, GONE
            case _:
                pass


def grant_target(case: Case, reason: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the policy name its target in another namespace."""
    for node in reason.related:
        yield granted(case, case.policy.ref, node.object)


def grant_need(case: Case, _: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the policy name what it needs in another namespace."""
    home = case.policy.ref.namespace
    for need in case.profile.needs:
        for holder in every_mapping(case.policy.raw, need.field):
            kind = GroupKind(need.group, text_at(holder, "kind") or need.kinds[0])
            namespace = text_at(holder, "namespace")
            if namespace not in {"", home}:
                yield granted(case, case.policy.ref, ObjectRef(kind, namespace, text_at(holder, "name")))


def granted(case: Case, source: ObjectRef, target: ObjectRef) -> Edit:
    """A new ReferenceGrant that lets objects of a kind and namespace refer to one object."""
    index = case.analysis.index
    known = next(iter(index.of_kind(REFERENCE_GRANT)), None)
    version = text_at(known.raw, "apiVersion") if known else f"{REFERENCE_GRANT.group}/v1beta1"
    stem = f"{target.name}-for-{source.namespace}"[: _LONGEST_NAME - 4]
    names = (
        stem if number == 1 else f"{stem}-{number}" for number in range(1, len(index.of_kind(REFERENCE_GRANT)) + 2)
    )
    refs = (ObjectRef(REFERENCE_GRANT, target.namespace, name) for name in names)
    ref = next(ref for ref in refs if index.get(ref) is None)
    raw: dict[str, Json] = {
        "apiVersion": version,
        "kind": REFERENCE_GRANT.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {
            "from": [{**_kind(source.group_kind), "namespace": source.namespace}],
            "to": [{**_kind(target.group_kind), "name": target.name}],
        },
    }
    return Edit(None, Resource(ref, Origin(""), raw))


def _kind(kind: GroupKind) -> dict[str, Json]:
    return {"group": kind.group, "kind": kind.kind}


def name_in_filter(case: Case, _: Reason) -> Iterator[Edit]:
    """A rule on the paths through the node names the policy in a filter."""
    ref = case.policy.ref
    reference: Json = {**_kind(ref.group_kind), "name": ref.name}
    named: Json = {"type": "ExtensionRef", "extensionRef": reference}
    kinds, home = case.profile.filter_routes, ref.namespace
    on_paths = dict.fromkeys(node for path in case.paths for node in path if node.section)
    for node in (one for one in on_paths if one.object.group_kind in kinds and one.object.namespace == home):
        for route in case.read(node.object):
            place = case.analysis.topology.sections(node.object).index(node.section)
            filters = FieldPath(("spec", "rules", place, "filters"))
            end = len(items_at({"filters": filters.get(route.raw)}, "filters"))
            yield from case.change(altered(route, (filters / end, named)))
