"""Edits of policies: what one names as its targets, and how it gets the better of others that win."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.references import section_names
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.fields import (
    FieldPath,
    integer_at,
    items_at,
    number_in_annotation,
    strings_at,
    text_at,
    value_at,
)
from kubectl_policy.model.kind_roles import PORT_HOLDERS, ROUTES
from kubectl_policy.questions.why_not.edits import Edit, edited
from kubectl_policy.resolution import CARRY_NOTHING
from kubectl_policy.resolution.contributions import stanzas_of

if TYPE_CHECKING:
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.why_not.no_effect import Case

_MOST_NODES: Final = 6
# What a reference says of which objects, or sections, it means.
_SELECTING: Final = (
    *("selector", "matchLabels", "matchExpressions", "namespaces"),
    *("namespace", "sectionName", "sectionNames"),
)
# By which words a stanza says that it merges.
_MERGING: Final = {"patch", "merge"}
_STANZAS: Final = (("defaults", "overrides"), ("default", "override"))
_SPEC: Final = FieldPath(("spec",))


def name_it(case: Case, _: Reason) -> Iterator[Edit]:
    """The policy names the node, or what is near it on its paths and has a kind that the policy can name."""
    for node in _nameable(case):
        section = _name_of_section(case, node)
        if section or not node.section:
            yield from _naming(case, node, section)


def _name_of_section(case: Case, node: NodeRef) -> str:
    """Return the name of a node's section in references; empty if references cannot name it.

    Of listeners and ports these are the names that they have themselves: not all kinds know a port by its number. The
    ports of backends of other kinds have nothing else.
    """
    if node.object.group_kind in ROUTES:
        sections = case.analysis.topology.sections(node.object)
        return section_names(node.object, sections, case.profile).get(node.section, "")
    if (
        case.analysis.topology.relations.has_ports(node.object.group_kind)
        and node.object.group_kind not in PORT_HOLDERS
    ):
        return node.section
    raw = case.analysis.index.defaulted(node.object)
    items = (*items_at(raw, "spec.listeners"), *items_at(raw, "spec.ports"))
    return node.section if node.section in {text_at(item, "name") for item in items} else ""


def _nameable(case: Case) -> list[NodeRef]:
    """The node, the whole of its object, its sections, then what is nearest on its paths."""
    target, topology = case.target, case.analysis.topology
    sections = [] if target.section else [NodeRef(target.object, name) for name in topology.sections(target.object)]
    distances: dict[NodeRef, int] = {}
    for path in case.effect.paths:
        deepest = max((position for position, node in enumerate(path) if node.object == target.object), default=0)
        for position, node in enumerate(path):
            distances[node] = min(distances.get(node, len(path)), abs(position - deepest))
    nodes = [target, NodeRef(target.object), *sections, *sorted(distances, key=lambda node: distances[node])]
    kinds = nameable_kinds(case)
    return list(dict.fromkeys(node for node in nodes if node.object.group_kind in kinds))[:_MOST_NODES]


def nameable_kinds(case: Case) -> Collection[GroupKind]:
    """The kinds that the policy can name; where that is not known, that of the node, and those it names already.

    A direct kind that is known to take effect somewhere can name nothing else, and none changes a Namespace.
    """
    profile = case.profile
    named = {attachment.target.object.group_kind for attachment in case.failing if attachment.target}
    kinds = profile.declared_targets or {case.target.object.group_kind, *named}
    if profile.policy_class == "inherited":
        return kinds
    levels = {level.group_kind for level in profile.effective_targets}
    return (kinds & levels if levels else kinds) - CARRY_NOTHING


def _naming(case: Case, node: NodeRef, section: str) -> Iterator[Edit]:
    """The policy with one more reference, or with another one in place of one that fails."""
    raw = case.policy.raw
    named = (field for field in case.profile.target_fields if "Selector" not in field)
    # Where both spellings are possible and neither is used, lists are what newer kinds have.
    fields = sorted(named, key=lambda field: not field.endswith("s"))
    failing = {attachment.declared.field for attachment in case.failing}
    for field in [field for field in fields if value_at(raw, field) is not None] or fields:
        value, path = value_at(raw, field), FieldPath.parse(field)
        if isinstance(value, list):
            for position, entry in enumerate(value):
                if f"{field}[{position}]" in failing:
                    yield from _pointed(case, path / position, entry, node, section)
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
    yield from edited(case.policy, (path, {**kept, **fields}))


def name_overlapping(case: Case, reason: Reason) -> Iterator[Edit]:
    """The policy names the routes, too, that take the same requests as one that it names."""
    shared = case.analysis.topology.shared_requests
    for node in reason.related:
        requests = shared.requests_of(node.object)
        for route in dict.fromkeys(route for request in requests for route in shared.routes_taking(request)):
            yield from _naming(case, NodeRef(route), "")


def remove_annotations(case: Case, _: Reason) -> Iterator[Edit]:
    """The policy lacks the annotations for which controllers ignore it."""
    annotations = FieldPath(("metadata", "annotations"))
    names = {name for part in case.profile.ignored for name in part.annotations}
    yield from edited(case.policy, without=[annotations / name for name in sorted(names)])


def override(case: Case, _: Reason) -> Iterator[Edit]:
    """The policy overrides where it has set defaults, or has no stanzas although its kind is defined to have some."""
    policy = case.policy
    for defaults, overrides in _STANZAS:
        yield from _renamed(case, policy, defaults, overrides)
        if not _stanzas(case, policy) and case.schema_at(policy.ref.group_kind, _SPEC / overrides):
            bare = dict(stanzas_of(policy.raw, case.profile)[0].spec)
            yield from edited(policy, (_SPEC / overrides, bare), without=[_SPEC / key for key in bare])


def yield_to_policy(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy sets defaults where it has overridden."""
    for winner in _winners(case, reason):
        for defaults, overrides in _STANZAS:
            yield from _renamed(case, winner, overrides, defaults)


def _renamed(case: Case, policy: Resource, old: str, new: str) -> Iterator[Edit]:
    stanzas = _stanzas(case, policy)
    if old in stanzas and new not in stanzas:
        yield from edited(policy, (_SPEC / new, (_SPEC / old).get(policy.raw)), without=[_SPEC / old])


def _stanzas(case: Case, policy: Resource) -> list[str]:
    """The names of a policy's stanzas; a kind may have a field of such a name that is none."""
    return [part.field.rpartition(".")[2] for part in stanzas_of(policy.raw, case.profile) if part.field != "spec"]


def merge_differently(case: Case, reason: Reason) -> Iterator[Edit]:
    """One of the two policies chooses another strategy, in its stanza or in the field for it."""
    field = case.profile.strategy_field
    for policy in (case.policy, *_winners(case, reason)):
        for stanza in _stanzas(case, policy):
            path = _SPEC / stanza / "strategy"
            listed = strings_at(case.schema_at(policy.ref.group_kind, path), "enum")
            merging = (strategy for strategy in listed if strategy.lower() in _MERGING)
            yield from edited(policy, (path, next(merging, case.profile.stanza_merge or "patch")))
        for value in sorted(case.profile.strategy_values) if field else ():
            yield from edited(policy, (FieldPath.parse(field), value))


def come_first(case: Case, reason: Reason) -> Iterator[Edit]:
    """The policy has a number that puts it before the other one, where the kind has such numbers."""
    annotation, field = case.profile.weight_annotation, case.profile.order_field
    for winner in _winners(case, reason):
        if annotation:
            weight = (number_in_annotation(winner.raw, annotation) or 0) + 1
            yield from edited(case.policy, (FieldPath(("metadata", "annotations", annotation)), str(weight)))
        if field:
            number = integer_at(case.analysis.index.defaulted(winner.ref), field) or 0
            yield from edited(case.policy, (FieldPath.parse(field), number - 1))


def leave_target(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy does not name the target on which they meet, if it names more than one."""
    for winner in _winners(case, reason):
        for attachment in case.analysis.attachments[winner.ref]:
            path = FieldPath.parse(attachment.declared.field)
            references = path.parent.get(winner.raw)
            if attachment.target in reason.related and isinstance(references, list) and len(references) > 1:
                yield from edited(winner, without=[path])


def remove_other(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy is deleted."""
    yield from (Edit(winner, None) for winner in _winners(case, reason))


def _winners(case: Case, reason: Reason) -> list[Resource]:
    """The other policy that a reason is about, if that is one of its kind."""
    rivals = case.read(reason.related[0].object)
    kind = case.policy.ref.group_kind
    return [rival for rival in rivals if rival.ref.group_kind == kind and rival is not case.policy]
