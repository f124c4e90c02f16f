"""Reasons, each with a rule, why target references, parentRefs and backendRefs fail, and their causal order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.attachment import MEANINGS, Attachment, unattached_phrase
from kubectl_policy.attachment.validity import policy_failure
from kubectl_policy.model import NodeRef, ObjectRef, Origin
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, KINDS, ROUTES, section_noun
from kubectl_policy.model.kinds import listed, names, plural
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.network.subjects import Subjects
    from kubectl_policy.resolution import Source
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.possible_routes import PossibleRoute

_MERGING: Final = frozenset(
    {MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE}
)

# Stable names, in causal order.
RULES: Final = (
    # Of the policy itself.
    *("not-computed", "combination-unknown", "no-fields", "no-rules", "not-enforced"),
    # What it names.
    *("no-reference", "no-filter", "filter-unsupported", "target-missing", "other-group", "group-version"),
    *("other-namespace", "target-unknown", "other-target", "target-below", "section-missing", "other-section"),
    *("not-selected", "selects-nothing", "kind-unsupported"),
    # Whether it may.
    *("namespace-closed", "not-permitted", "need-not-permitted", "policy-invalid", "target-invalid"),
    # Who acts on it.
    *("other-controller", "controller-unknown", "not-enabled", "target-overlaps"),
    # How routes attach.
    *("parent-missing", "parent-unknown", "parent-invalid", "no-parent", "listener-missing", "listener-port"),
    *("listener-set-refused", "listener-kind", "listener-namespace", "listener-hostname", "listener-conflict"),
    # Where requests go.
    *("not-delegated", "backend-not-permitted", "no-weight", "hostname-too-wide", "nothing-below"),
    *("takes-effect-elsewhere", "direct-above", "not-on-path"),
    # How policies meet.
    *("replaced-by-section", "unheeded", "refused", "overridden", "beaten-on-target", "superseded", "not-counted"),
)

# With one of these as the first reason, it is not known whether there is an effect.
UNDECIDED: Final = frozenset(
    {"not-computed", "combination-unknown", "target-unknown", "parent-unknown", "controller-unknown"}
)


class Reason(Struct, frozen=True):
    """A reason why a policy has no effect."""

    rule: Annotated[str, Meta(description="The stable name of the reason.", pattern="^[a-z]+(-[a-z]+)*$")]
    message: Annotated[str, Meta(description="The reason, for people.")]
    object: Annotated[ObjectRef, Meta(description="The responsible object.")]
    field: Annotated[str, Meta(description="The responsible field of the object; empty if there is none.")] = ""
    origin: Annotated[Origin | None, Meta(description="The location of the responsible field; null if unknown.")] = None
    reason: Annotated[str, Meta(description="The reason as the API spells it; empty if the API defines none.")] = ""
    related: Annotated[
        tuple[NodeRef, ...],
        Meta(description="Other objects involved: a route and a listener, or the superseding policy and its target."),
    ] = ()
    positions: tuple[int, ...] = ()
    """The positions of the paths of which it is true; none if it is true of all."""

    @property
    def paths(self) -> Annotated[tuple[int, ...], Meta()]:
        """The numbers of the paths to which the reason applies; empty for all paths."""
        return tuple(position + 1 for position in self.positions)


def in_causal_order(analysis: Analysis, reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons, each once, with what comes first in the chain of causes first, and with the origins of their objects.

    What holds on several paths is one reason.
    """
    paths: dict[Reason, set[int]] = {}
    for reason in reasons:
        anywhere = replace(reason, positions=()) if reason.positions else reason
        paths.setdefault(anywhere, set()).update(reason.positions)
    return tuple(
        replace(
            reason,
            origin=resource.origin if (resource := analysis.index.get(reason.object)) else None,
            field=reason.field or _reference_field(analysis, reason),
            positions=tuple(sorted(paths[reason])),
        )
        for reason in sorted(paths, key=lambda reason: RULES.index(reason.rule))
    )


def _reference_field(analysis: Analysis, reason: Reason) -> str:
    """The reference of a policy to what a reason is about; empty if there is none of its own."""
    attachments = analysis.attachments.get(reason.object, ())
    declared = (attachment for attachment in attachments if not attachment.declared.named_by)
    return next((attachment.declared.field for attachment in declared if attachment.target in reason.related), "")


def node_phrase(node: NodeRef) -> str:
    """A node in words: `listener https of Gateway infra/edge`."""
    kind, section = node.object.group_kind, node.section
    if not section or is_unnamed(section):
        return f"{section} of {node.object}" if section else str(node.object)
    noun = section_noun(kind) if kind in KINDS else "port"
    return f"{noun} {section} of {node.object}"


def failure_phrase(attachments: Iterable[Attachment]) -> str:
    """Return what is wrong with some references of a policy."""
    return listed(list(dict.fromkeys(attachment.message for attachment in attachments if attachment.message)))


def undecided_phrase(policy: ObjectRef, rivals: Collection[ObjectRef]) -> str:
    """Return why it is not known whether a policy is enforced, next to others of its kind."""
    return f"it and {names(rivals)} set different fields, and how {plural(policy.kind)} combine is not known"


def possible_phrase(possible: Sequence[PossibleRoute]) -> str:
    """Return why it is not known whether there is a route below the targets of a policy; empty if none may be."""
    if not possible:
        return ""
    first, others = possible[0], len({route.route for route in possible}) - 1
    many = f" (and {others} more {'route' if others == 1 else 'routes'})" if others else ""
    return f"whether {first.route} is attached to {node_phrase(first.parent)} is not known{many}"


def undecided_subjects_phrase(subjects: Subjects) -> str:
    """Return why it is not known whether a policy about connections applies to any workload."""
    if not subjects.undecided:
        return "no Pod that was read is selected by it"
    first, others = subjects.undecided[0], len(subjects.undecided) - 1
    return f"whether it applies to {first}{f' and {others} more' if others else ''} is not known"


def without_subjects(policy: ObjectRef, subjects: Subjects) -> Reason:
    """Reason why a policy about connections has no effect."""
    if not subjects.has_rules:
        return Reason("no-rules", "it has no rules", policy, field="spec")
    return Reason("selects-nothing", "it selects no Pod", policy, field="spec")


def missing_reference(analysis: Analysis, policy: ObjectRef) -> Reason:
    """Reason why a policy without any reference is attached to nothing, or why that is unknown."""
    profile = analysis.registry.profile(policy.group_kind)
    if profile.is_staged:
        return Reason("not-enforced", "it is only staged, and has no effect on connections", policy, field="spec")
    if profile.attachment == "connections":
        return Reason("not-computed", "what it does is about connections, and is not computed here", policy)
    if not profile.references_alone:
        return Reason("not-computed", f"how {policy.kind} attaches without a target reference is not computed", policy)
    rule = "no-reference" if profile.target_fields else "no-filter"
    return Reason(rule, f"it {unattached_phrase(profile)}", policy, field="spec")


def attachment_reason(analysis: Analysis, attachment: Attachment) -> Reason:
    """Reason why a reference of a policy is not attached."""
    declared, target = attachment.declared, attachment.target
    if target is None and declared.selector is not None:
        rule = "not-selected"
    elif "/" in declared.group:
        rule = "group-version"
    elif attachment.state == "not permitted":
        rule = _not_permitted(analysis, attachment)
    else:
        rule = MEANINGS[attachment.state].why
    return Reason(
        rule,
        attachment.message,
        declared.named_by or attachment.policy,
        field=declared.field,
        reason=MEANINGS[attachment.state].api_reason,
        related=(target,) if target else (),
    )


def _not_permitted(analysis: Analysis, attachment: Attachment) -> str:
    target, profile = attachment.target, analysis.registry.profile(attachment.policy.group_kind)
    inside = target is None or target.object.namespace in {"", attachment.policy.namespace}
    policy = analysis.index.get(attachment.policy)
    lacks = policy and policy_failure(policy, profile, analysis.index)
    if inside or (lacks and lacks.message == attachment.message):
        return "need-not-permitted"
    closed = profile.cross_namespace is False and attachment.declared.selector is None
    return "namespace-closed" if closed else "not-permitted"


def parent_reasons(analysis: Analysis, route: ObjectRef, ancestor: NodeRef | None = None) -> Iterator[Reason]:
    """Reasons why a route is not attached to its parents or, if given, to those that belong to an ancestor."""
    bindings = analysis.topology.all_bindings(route)
    relevant = [binding for binding in bindings if ancestor is None or _belongs(analysis, binding, ancestor)]
    yield from (binding_reason(analysis, binding) for binding in relevant if binding.state != "attached")
    if not relevant:
        where = node_phrase(ancestor) if ancestor else "anything that lets requests in"
        parents = " and ".join(dict.fromkeys(str(binding.parent) for binding in bindings))
        also = f"; it names {parents}" if parents and ancestor else ""
        related = (NodeRef(route), ancestor) if ancestor else (NodeRef(route),)
        message = f"{route} does not name {where} as a parent{also}"
        yield Reason("no-parent", message, route, field="spec.parentRefs", related=related)


def _belongs(analysis: Analysis, binding: Binding, ancestor: NodeRef) -> bool:
    """Whether what a route names as a parent is a node, or belongs to it."""
    parent = binding.parent
    if ancestor.section:
        return binding.listener == ancestor or (binding.listener is None and parent == ancestor.object)
    gateway = analysis.topology.gateways.gateway_of(parent)
    if ancestor.object.group_kind == GATEWAY_CLASS:
        return gateway is not None and analysis.topology.gateways.class_of(gateway) == ancestor.object
    return ancestor.object in {parent, gateway}


def binding_reason(analysis: Analysis, binding: Binding) -> Reason:
    """Reason why a reference of a route to a parent or listener does not attach it, or why that is unknown."""
    route, node = binding.route, binding.listener or NodeRef(binding.parent)
    listener = analysis.topology.gateways.listener(node)
    parent_field, ignored = f"spec.parentRefs[{binding.parent_index}]", analysis.topology.relations.why_ignored(node)
    if binding.parent.group_kind in ROUTES:
        rule, holder, field = "not-delegated", binding.parent, "spec.rules"
    elif binding.state == "unknown":
        rule, holder, field = "parent-unknown", route, parent_field
    elif ignored and ignored.message == binding.message:
        rule, holder, field = "parent-invalid", node.object, listener.field if listener else "spec"
    elif listener is None:
        rule, field = _no_listener(analysis, binding, parent_field)
        holder = route
    elif binding.reason == "NoMatchingListenerHostname":
        rule, holder, field = "listener-hostname", route, "spec.hostnames"
    elif binding.reason == "NotAllowedByListeners":
        rule, holder, field = _not_allowed(analysis, binding, listener)
    else:
        rule, holder, field = "listener-conflict", node.object, listener.field
    related = (NodeRef(route), node)
    return Reason(rule, binding.message, holder, field=field, reason=binding.reason, related=related)


def _no_listener(analysis: Analysis, binding: Binding, parent_field: str) -> tuple[str, str]:
    """The rule by which a parent itself refuses a route, and the field of the parentRef that is to blame."""
    index, route = analysis.index, binding.route
    parents = {parent.position: parent for parent in parent_refs(index, route)}
    parent = parents[binding.parent_index]
    if index.presence(parent.object) != "present":
        return "parent-missing", f"{parent_field}.name"
    if parent.port is not None and parent.section in {"", *analysis.topology.sections(parent.object)}:
        return "listener-port", f"{parent_field}.port"
    return "listener-missing", f"{parent_field}.sectionName" if parent.section else parent_field


def _not_allowed(analysis: Analysis, binding: Binding, listener: Listener) -> tuple[str, ObjectRef, str]:
    """The rule by which a listener does not allow a route, the object that says so, and the field."""
    gateways, owner, gateway = analysis.topology.gateways, listener.node.object, listener.gateway
    if gateway is None or analysis.index.presence(gateway) == "missing":
        return "parent-missing", owner, "spec.parentRef.name"
    if owner != gateway and gateways.admits(gateway, owner) is False:
        return "listener-set-refused", gateway, "spec.allowedListeners"
    if binding.route.group_kind not in gateways.kinds_served(listener):
        return "listener-kind", owner, f"{listener.field}.allowedRoutes.kinds"
    return "listener-namespace", owner, f"{listener.field}.allowedRoutes.namespaces"


def backend_reasons(analysis: Analysis, route: ObjectRef, backend: ObjectRef) -> Iterator[Reason]:
    """Reasons why a route that names a backend may not send requests there."""
    related = (NodeRef(route), NodeRef(backend))
    for backend_ref in analysis.topology.backends(route):
        field = backend_ref.ref.field
        if backend_ref.ref.object != backend or not backend_ref.ref.forwards:
            continue
        if backend_ref.reason == "RefNotPermitted":
            rule, reason = "backend-not-permitted", backend_ref.reason
            yield Reason(rule, backend_ref.message, route, field=field, reason=reason, related=related)
        elif not backend_ref.nodes and backend_ref.routes is None:
            message = f"{route} sends no requests to {backend}: its weight there is 0"
            yield Reason("no-weight", message, route, field=f"{field}.weight", related=related)


def merge_does_not_count(
    replaced: Source, winners: Sequence[Source], strategies: Mapping[Source, MergeStrategy], profile: PolicyKindProfile
) -> str:
    """Explain why a policy replaces another one that asks to be merged; empty if it does not.

    Of two, the one further up, or that came first, decides; so it is what is replaced that does not merge.
    """
    if profile.chooser == "challenger" or strategies.get(replaced) is not MergeStrategy.ATOMIC_DEFAULTS:
        return ""
    if not any(strategies.get(winner) in _MERGING for winner in winners):
        return ""
    distance = "further up " if len(winners) == 1 and winners[0].target != replaced.target else ""
    return f"its merge does not count: {replaced.object} {distance}is atomic and decides"
