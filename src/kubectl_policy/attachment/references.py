"""Target references of policies, in every spelling, and the attachments that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.attachment.attachment import Attachment, NotAttached, State, TargetReference
from kubectl_policy.attachment.restrictions import field_restriction, target_restriction
from kubectl_policy.attachment.target_validity import target_failure, why_not_managed
from kubectl_policy.attachment.validity import policy_failure
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import mapping_at, strings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY, ROUTES
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.refs import is_unnamed, shown_namespace
from kubectl_policy.model.unknown import is_open, is_unfilled, is_unknown_kind, may_be_section, may_equal
from kubectl_policy.topology.controllers import is_managed
from kubectl_policy.topology.gateway.listeners import admits_namespace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology


# What a reference may say, in any spelling.
_MEMBERS: Final = frozenset(
    {
        *("group", "kind", "name", "namespace", "sectionName", "sectionNames"),
        *("selector", "matchLabels", "matchExpressions", "namespaces"),
    }
)


def target_references(policy: Resource, profile: PolicyKindProfile) -> tuple[TargetReference, ...]:
    """Return the references of a policy, in the order of its kind's target fields; only mappings are references."""
    references: list[TargetReference] = []
    for path in profile.target_fields:
        declared = value_at(policy.raw, path)
        if isinstance(declared, list):
            for position, entry in enumerate(declared):
                references += _references(f"{path}[{position}]", entry, profile.target_group)
        elif declared is not None:
            references += _references(path, declared, profile.target_group)
    return tuple(references)


def named_object(index: Index, policy: ObjectRef, declared: TargetReference) -> ObjectRef:
    """Return the object that a reference of a policy names, whether or not it exists."""
    kind = declared.group_kind
    namespace = (declared.namespace or policy.namespace) if index.namespaced(kind) else ""
    return ObjectRef(kind, namespace, declared.name)


def section_names(obj: ObjectRef, sections: Sequence[str], profile: PolicyKindProfile) -> dict[str, str]:
    """Return the names by which references of a policy kind call the sections of an object; "" for unnamed rules.

    Some kinds have names for such rules, by their position.
    """
    return {
        section: profile.unnamed_rules.replace("{n}", str(position + 1))
        if obj.group_kind in ROUTES and is_unnamed(section)
        else section
        for position, section in enumerate(sections)
    }


def unattached_phrase(profile: PolicyKindProfile) -> str:
    """Describe what an unattached policy lacks: `has no target reference`."""
    lacks = ["has no target reference"] if profile.target_fields else []
    lacks += ["is named by no filter of any route"] if profile.filter_routes else []
    lacks += ["is not the parameters of any Gateway or GatewayClass"] if profile.attachment == "parameters" else []
    return " and ".join(lacks)


def _references(field: str, entry: Json, default_group: str) -> Iterator[TargetReference]:
    """Yield the reference in an entry, or one for each section where it names several (`sectionNames`)."""
    if not isinstance(entry, dict):
        return
    by_labels = {key: entry[key] for key in ("matchLabels", "matchExpressions") if key in entry}
    selector = _selector(entry["selector"]) if "selector" in entry else by_labels
    name, unknown_keys = text_at(entry, "name"), entry.keys() - _MEMBERS
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
            unknown=tuple(sorted(key for key in unknown_keys if entry[key] is not None)) if unknown_keys else (),
        )


def _selector(written: Json) -> Mapping[str, Json]:
    """Return a selector; one that is to be filled in asks for labels that are not known yet."""
    if isinstance(written, str) and is_unfilled(written):
        return {"matchLabels": written}
    return mapping_at({"selector": written}, "selector")


class FollowedReference(Struct, frozen=True):
    """One reference being followed: `attachments` is the result."""

    policy: Resource
    profile: PolicyKindProfile
    topology: Topology
    declared: TargetReference

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the result: one attachment, or one for each object that it selects."""
        declared, profile, kind = self.declared, self.profile, self.declared.group_kind
        target: NodeRef | None = None
        takes = profile.declared_targets | profile.virtual_targets
        if not declared.kind:
            failure = NotAttached("target missing", f"{declared.field} names no kind")
        elif is_unknown_kind(kind):
            message = f"which kind {declared.field} names cannot be known yet: {kind} is a placeholder"
            failure = NotAttached("target unknown", message)
        elif "/" in declared.group:
            message = f"{declared.field}.group {declared.group} has a version; a target reference names only a group"
            failure = NotAttached("kind unsupported", message)
        elif profile.declared_targets and kind not in takes:
            kinds = ", ".join(sorted(map(str, takes)))
            failure = NotAttached(
                "kind unsupported",
                f"{profile.group_kind.kind} cannot target {with_article(str(kind))}; it takes {kinds}",
            )
            if declared.name:
                target = NodeRef(named_object(self.topology.index, self.policy.ref, declared), declared.section)
        elif self._merging_failure:
            failure = NotAttached("kind unsupported", self._merging_failure)
            target = NodeRef(named_object(self.topology.index, self.policy.ref, declared), declared.section)
        elif declared.selector is not None:
            return self._selected(declared.selector)
        elif not declared.name:
            failure = NotAttached("target missing", f"{declared.field} names no object and selects none")
        else:
            return (self._attach_to(named_object(self.topology.index, self.policy.ref, declared)),)
        return (self._failed_attachment(failure, target),)

    @property
    def _merging_failure(self) -> str:
        """Describe why a target has the wrong kind for Gateways that are merged, or are not; else return ""."""
        merged_kinds, kind = self.profile.merged_targets, self.declared.group_kind
        merged = self.topology.gateways.are_merged(self.profile.controllers) if merged_kinds else None
        if merged is None or merged == (kind in merged_kinds):
            return ""
        state = "are merged" if merged else "are not merged"
        return (
            f"{self.profile.group_kind.kind} cannot target {with_article(kind.kind)} where Gateways of a class {state}"
        )

    @property
    def _namespace(self) -> str:
        return named_object(self.topology.index, self.policy.ref, self.declared).namespace

    def _failed_attachment(self, failure: NotAttached, target: NodeRef | None) -> Attachment:
        return failure.attachment(self.policy.ref, self.declared, target)

    def _selected(self, selector: Mapping[str, Json]) -> tuple[Attachment, ...]:
        index, kind, home = self.topology.index, self.declared.group_kind, self._namespace
        reached = () if self._selects_nothing else self._namespaces()
        selected = [resource.ref for namespace in reached for resource in index.selected(kind, namespace, selector)]
        perhaps = [
            resource.ref for namespace in reached for resource in index.perhaps_selected(kind, namespace, selector)
        ]
        if selected or perhaps:
            doubt = f"whether {self.declared.field} selects it cannot be known yet: a label contains a placeholder"
            failure = NotAttached("target unknown", doubt)
            return (
                *(self._attach_to(ref) for ref in selected),
                *(self._failed_attachment(failure, NodeRef(ref, self.declared.section)) for ref in perhaps),
            )
        where = (
            f" in namespace {shown_namespace(home)}"
            if home and self.declared.namespaces is None and not self._is_global
            else ""
        )
        state: State = "target unknown" if self._may_select_unread else "target missing"
        return (
            self._failed_attachment(NotAttached(state, f"{self.declared.field} selects no {kind.kind}{where}"), None),
        )

    @property
    def _selects_nothing(self) -> bool:
        """Whether the selector asks for nothing, and the kind takes it by its word."""
        selector = self.declared.selector or {}
        is_empty = not selector.get("matchLabels") and not selector.get("matchExpressions")
        return is_empty and self.profile.empty_selector == "nothing"

    @property
    def _may_select_unread(self) -> bool:
        """Whether there may be objects in the selector's reach that were not read."""
        index, kind = self.topology.index, self.declared.group_kind
        if self._selects_nothing:
            return False
        if text_at(self.declared.namespaces or {}, "from", "Same") == "Same" and not self._is_global:
            return index.presence(ObjectRef(kind, self._namespace, "")) == "unknown"
        return may_have_unread(index, [kind])

    def _namespaces(self) -> list[str]:
        """Return the namespaces in which a selector selects: its own first, then those that it lets in, by name."""
        home, index, admitted = self._namespace, self.topology.index, self.declared.namespaces
        if not home or (admitted is None and not self._is_global):
            return [home]
        every = list(index.namespaces_of(self.declared.group_kind))
        if self._is_global or admitted is None:
            return every
        wanted = [name for name in every if admits_namespace(index, admitted, "Same", home, name) is not False]
        return sorted(wanted, key=lambda namespace: namespace != home)

    @property
    def _is_global(self) -> bool:
        """Whether this selects objects of every namespace, whatever they say of it."""
        selects_objects = self.declared.selector is not None
        return selects_objects and self.policy.ref.namespace == self.profile.global_namespace != ""

    def _attach_to(self, ref: ObjectRef) -> Attachment:
        # A rule without a name has a number of its own in some kinds; the topology has its own name for it.
        called = {name: section for section, name in self._names_of_sections(ref).items()}
        target = self._listener_of_set(NodeRef(ref, called.get(self.declared.section, self.declared.section)))
        failure = self._selector_failure(ref) or self._namespace_failure(ref)
        is_virtual = failure is None and self._is_virtual(ref)
        if not is_virtual:
            failure = failure or why_absent(ref, self.profile, self.topology) or self._existing_target_failure(target)
        if failure:
            return self._failed_attachment(failure, target)
        doubt = "" if is_virtual else self._doubt
        return Attachment(
            policy=self.policy.ref,
            target=target,
            declared=self.declared,
            state="attached",
            message=f"{ref.group_kind} is a virtual kind: no API serves it" if is_virtual else doubt,
            virtual=is_virtual,
            doubtful=bool(doubt),
        )

    def _listener_of_set(self, target: NodeRef) -> NodeRef:
        """Return the listener of a ListenerSet that a reference to its Gateway names, else the target itself."""
        gateways, section = self.topology.gateways, target.section
        if not section or target.object.group_kind != GATEWAY or self.profile.gateway_sections == "own":
            return target
        owners = (target.object, *gateways.admitted(target.object))
        named = (NodeRef(owner, section) for owner in owners)
        return next((node for node in named if gateways.listener(node)), target)

    @property
    def _doubt(self) -> str:
        """The members of the reference that are not understood, as a phrase; "" if there are none."""
        if not (self.declared.unknown or self.declared.namespace):
            return ""
        field, kind = self.declared.field, self.declared.group_kind
        parts = [f"what {field}.{name} means is not known" for name in self.declared.unknown]
        if self.declared.namespace and not self.topology.index.namespaced(kind):
            parts.append(f"{field}.namespace is {self.declared.namespace}, and a {kind.kind} has no namespace")
        return "; ".join(parts)

    def _selector_failure(self, ref: ObjectRef) -> NotAttached | None:
        """Return the failure of a selector that may not reach the namespace of an object; None if it does."""
        field, namespaces = self.declared.field, self.declared.namespaces
        if self.declared.selector is None or namespaces is None or not ref.namespace or self._is_global:
            return None
        if admits_namespace(self.topology.index, namespaces, "Same", self._namespace, ref.namespace):
            return None
        where, index = f"namespace {shown_namespace(ref.namespace)}", self.topology.index
        message = f"whether {field} selects in {where} is unknown: {index.absence.of_namespace(ref.namespace)}"
        return NotAttached("target unknown", message)

    def _existing_target_failure(self, target: NodeRef) -> NotAttached | None:
        """Return the failure of a reference to an existing object; None if it is attached."""
        ref = target.object
        elsewhere = why_not_managed(self.topology, ref, self.policy.ref.kind, self.profile.controllers)
        if elsewhere:
            return NotAttached("not managed", elsewhere)
        sections = self.topology.sections(ref)
        if target.section and target.section not in sections:
            if any(may_be_section(target.section, section) for section in sections):
                return NotAttached("target unknown", f"which section of {ref} {target.section} is cannot be known yet")
            return self._section_failure(target)
        restricted = target_restriction(self.policy, self.profile, ref)
        if restricted:
            return restricted
        invalid = field_restriction(self.policy, self.profile, ref) or policy_failure(
            self.policy, self.profile, self.topology.index, ref.group_kind
        )
        return invalid or self._listener_failure(target) or target_failure(ref, self.profile, self.topology)

    def _listener_failure(self, target: NodeRef) -> NotAttached | None:
        profile = self.profile
        if profile.ports == "divided" and not profile.default_host_field:
            return None
        from kubectl_policy.attachment.listeners import listener_failure  # noqa: PLC0415 (few kinds have such rules)

        return listener_failure(self.policy, profile, target, self.topology)

    def _section_failure(self, target: NodeRef) -> NotAttached:
        ref, names = target.object, self._names_of_sections(target.object)
        sections = [names.get(section, section) for section in self.topology.sections(ref)]
        index = self.topology.index
        if index.is_content_unknown(ref):
            message = f"whether {ref} has a section {target.section} is unknown: it {index.absence.reason(ref)}"
            return NotAttached("target unknown", message)
        if not sections and not self.topology.relations.has_known_sections(ref.group_kind):
            why = self.topology.sections_phrase(ref)
            message = f"whether {ref} has a section {target.section} is unknown: {why}"
            return NotAttached("target unknown", message)
        known = f"it has {', '.join(sections)}" if sections else "it has no sections"
        known = known if index.presence(ref) == "present" else "it does not exist"
        return NotAttached("section missing", f"{ref} has no section {target.section}; {known}")

    def _names_of_sections(self, ref: ObjectRef) -> dict[str, str]:
        """Return the names of sections in references, where the topology has other ones."""
        if not self.declared.section or not self.profile.unnamed_rules:
            return {}
        return section_names(ref, self.topology.sections(ref), self.profile)

    def _is_virtual(self, ref: ObjectRef) -> bool:
        """Whether no API serves the target's kind: the profile says so, or a complete snapshot knows of none."""
        index, kind = self.topology.index, ref.group_kind
        if kind in self.profile.virtual_targets:
            return True
        if not index.snapshot.complete or index.presence(ref) != "missing":
            return False
        return kind.group not in {known.group for known in (*index.kinds, *index.group_kinds)}

    def _namespace_failure(self, ref: ObjectRef) -> NotAttached | None:
        """Return the failure of a reference that may not leave its namespace; None if it may.

        GEP-713, "Cross namespace references": targeting another namespace "MUST be paired with a handshake".
        """
        home, index = self.policy.ref.namespace, self.topology.index
        if not home or not ref.namespace or ref.namespace == home or self._is_global:
            return None
        kind = self.policy.ref.group_kind
        if self.profile.cross_namespace is False and self.declared.selector is None:
            there = shown_namespace(ref.namespace)
            message = f"{kind.kind} can only target its own namespace {shown_namespace(home)}, not {there}"
            if may_equal(home, ref.namespace):
                return NotAttached("target unknown", f"{message}, if these are not the same")
            return NotAttached("not permitted", message)
        permitted = index.grants.permit(kind, home, ref) if self.profile.grant_required else True
        if permitted:
            return None
        if permitted is None:
            message = f"whether {kind.kind} of {home} may target {ref} is unknown: {index.grants.unknown_reason}"
            return NotAttached("target unknown", message)
        message = f"no ReferenceGrant in namespace {ref.namespace} lets {kind.kind} of {home} target {ref}"
        return NotAttached("not permitted", message)


def why_absent(ref: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> NotAttached | None:
    """Return the failure of a missing or unread target; None if it exists. See `PolicyKindProfile.targets_exist`."""
    if profile.targets_exist == "whenReferred":
        routes = topology.relations.routes_forwarding_to(ref)
        if any(is_managed(topology, route, profile.controllers) is not False for route in routes):
            return None
        theirs = f" that {' or '.join(sorted(profile.controllers))} acts on" if profile.controllers else ""
        doubtful = is_open(ref) or topology.index.candidates.of(ref) or topology.possible.may_be_backend(ref)
        if doubtful or may_have_unread(topology.index, ROUTES):
            return NotAttached("target unknown", f"no route in {topology.index.source}{theirs} sends requests to {ref}")
        return NotAttached("target missing", f"no route{theirs} sends requests to {ref}")
    presence = topology.index.presence(ref)
    if presence == "missing":
        return NotAttached("target missing", f"{ref} does not exist")
    return NotAttached("target unknown", topology.index.absence.message(ref)) if presence == "unknown" else None


def may_have_unread(index: Index, kinds: Collection[GroupKind]) -> bool:
    """Whether there may be objects of some kinds, in any namespace, that were not read."""
    names = {"", *(kind.kind for kind in kinds)}
    is_hidden = any(gap.kind in names for gap in index.snapshot.gaps)
    return not index.snapshot.complete or is_hidden or any(map(index.is_any_assumed, kinds))
