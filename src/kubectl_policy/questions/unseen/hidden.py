"""What a cluster did not give out of a kind, everywhere or in some namespaces: on what that may have an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kinds import NAMESPACE, TARGETS, is_kubernetes_own
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS, ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Gap, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile

_REFERENCES: Final = tuple(
    f"properties.spec.properties.{field}.properties"
    for field in ("targetRef", "targetRefs.items", "targetSelectors.items")
)


def may_hold_policies_on(analysis: Analysis, gap: Gap, objects: Iterable[ObjectRef]) -> bool:
    """Whether what could not be read may hold a policy with an effect on one of some objects; true if in doubt.

    It holds none if policies of its kind are known to be for other kinds, or to stay in other namespaces.
    """
    if gap.group is None or not gap.kind:
        return True
    profile = analysis.registry.profile_of(GroupKind(gap.group, gap.kind))
    if profile is None:
        return may_be_policies(analysis, gap)
    objects, targets = tuple(objects), _targets(profile)
    if targets and not any(obj.group_kind in targets for obj in objects):
        return False
    near = {obj.name if obj.group_kind == NAMESPACE else obj.namespace for obj in objects} - {""}
    if not near or _leaves_namespace(analysis, profile):
        return True
    return gap.namespace in {"", *near} and not is_closed_in(analysis, gap, near)


def is_of_hierarchy(gap: Gap) -> bool:
    """Whether what a cluster did not give out is of a kind that policies target."""
    return gap.group is not None and GroupKind(gap.group, gap.kind) in TARGETS


def may_lead_to(analysis: Analysis, gap: Gap, subjects: Iterable[ObjectRef]) -> bool:
    """Whether what could not be read of a kind of the hierarchy may be related to something without being named there.

    What something names is asked for by its name: nothing that a route names can be hidden in another way, nor the
    class of a Gateway. Others name a Gateway, a class, and what is in a Namespace; routes also name backends.
    """
    if gap.name:
        return False
    kind = GroupKind(gap.group or "", gap.kind)
    return any(_may_name(analysis, gap, kind, subject) for subject in subjects)


def _may_name(analysis: Analysis, gap: Gap, kind: GroupKind, subject: ObjectRef) -> bool:
    where = subject.group_kind
    if where == NAMESPACE:
        return gap.namespace in {"", subject.name} and not is_closed_in(analysis, gap, {subject.name})
    if kind in ROUTES:
        if where in ROUTES:
            return bool(analysis.topology.relations.delegations.refs)
        if where == GATEWAY_CLASS or where in WITH_LISTENERS:
            return True
        return analysis.registry.profile_of(where) is None and _may_refer_from(analysis, gap, kind, subject)
    return where == GATEWAY_CLASS or (where == GATEWAY and kind in LISTENER_SETS)


def _may_refer_from(analysis: Analysis, gap: Gap, kind: GroupKind, backend: ObjectRef) -> bool:
    """Whether an object that could not be read may refer to a backend: from another namespace, if a grant lets it."""
    home = backend.namespace
    if gap.namespace in {"", home} and not is_closed_in(analysis, gap, {home}):
        return True
    return gap.namespace != home and analysis.index.grants.may_let_in(kind, gap.namespace, home)


def may_be_policies(analysis: Analysis, gap: Gap) -> bool:
    """Whether there may be policies of the kind of a gap: of a kind of Kubernetes itself, only if a profile says so.

    Of one that is called a policy, its definition may say that it is none.
    """
    if gap.group is None or not gap.kind:
        return True
    kind = GroupKind(gap.group, gap.kind)
    is_none = analysis.registry.profile_of(kind) is None
    is_known = is_kubernetes_own(kind) or (kind.kind.endswith("Policy") and analysis.index.defaults.schema_of(kind))
    return not (is_none and is_known)


def may_define_policies(analysis: Analysis, gap: Gap) -> bool:
    """Whether definitions that a cluster did not give out may be of policies that nothing else is known of."""
    unknown = (
        definition.ref.name
        for kind, definition in analysis.index.definitions.items()
        if not analysis.index.defaults.schema_of(kind) and kind not in TARGETS
        if analysis.registry.profile_of(kind) is None or analysis.registry.known(kind).known_by != "profile"
    )
    return any(gap.name in {"", name} for name in unknown)


def may_change_policy(analysis: Analysis, gap: Gap, policy: ObjectRef, targets: Iterable[ObjectRef]) -> bool:
    """Whether what could not be read may change what becomes of a policy: policies of other kinds do not.

    Unless they are among its `targets`.
    """
    if gap.group is None or not gap.kind:
        return True
    kind = GroupKind(gap.group, gap.kind)
    concerned = {policy.group_kind, *(target.group_kind for target in targets)}
    return kind in concerned or analysis.registry.profile_of(kind) is None


def is_closed_in(analysis: Analysis, gap: Gap, namespaces: AbstractSet[str]) -> bool:
    """Whether all of a gap's kind was read in some namespaces, or what could not be read there is a gap of its own."""
    if gap.group is None or gap.namespace or gap.name:
        return False
    others = {
        other.namespace
        for other in analysis.snapshot.gaps
        if (other.group, other.kind, other.name) == (gap.group, gap.kind, "")
    }
    return namespaces <= gap.besides | others


def _targets(profile: PolicyKindProfile) -> frozenset[GroupKind]:
    """The kinds that policies of a kind are for; none if that is not known."""
    if not profile.declared_targets and profile.attachment in {"references", "partly"}:
        return frozenset()
    named_by = {GATEWAY, GATEWAY_CLASS} if profile.attachment == "parameters" else ()
    return profile.declared_targets | profile.virtual_targets | profile.filter_routes | frozenset(named_by)


def _leaves_namespace(analysis: Analysis, profile: PolicyKindProfile) -> bool:
    """Whether a policy of a kind may have an effect in another namespace than its own."""
    if profile.cross_namespace is not None:
        return profile.cross_namespace or bool(profile.global_namespace)
    schema = analysis.index.defaults.schema_of(profile.group_kind)
    fields = [fields for path in _REFERENCES if (fields := mapping_at(schema, path))]
    return not fields or any("namespace" in each or "namespaces" in each for each in fields)
