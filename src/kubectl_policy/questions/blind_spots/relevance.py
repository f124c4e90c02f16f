"""Gaps in the input: decide which of them may change an answer, and describe them in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap, GroupKind, ObjectRef
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_CLASS,
    HIERARCHY,
    HTTP_ROUTE,
    LISTENER_HOLDERS,
    LISTENER_SETS,
    NAMESPACE,
    PORT_HOLDERS,
    ROUTES,
    TARGET_KINDS,
    WORKLOADS,
)
from kubectl_policy.model.kinds import BUILT_IN, CRD, is_kubernetes_own, listed, plural
from kubectl_policy.model.refs import NodeRef, shown_namespace
from kubectl_policy.model.unknown import may_equal
from kubectl_policy.model.world import grouped_by
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile

_TARGETS: Final = frozenset(kind.kind for kind in TARGET_KINDS)
_HIERARCHY: Final = frozenset(kind.kind for kind in HIERARCHY)
_BUILT_IN: Final = frozenset(names.group_kind.kind for names in BUILT_IN)
FIX: Final = "fix or leave out this input"
_REFERENCES: Final = tuple(
    f"properties.spec.properties.{field}.properties"
    for field in ("targetRef", "targetRefs.items", "targetSelectors.items")
)
# So many names are told; where there are more, one less than that.
_MOST_NAMES: Final = 5


def relevant_gaps(
    analysis: Analysis,
    subjects: Iterable[ObjectRef],
    neighbours: Iterable[ObjectRef] = (),
    *,
    include_descendants: bool = False,
) -> tuple[Gap, ...]:
    """The gaps that may change an answer about some subjects, in their order.

    `neighbours` are objects on the paths of the answer, and the policies there; `include_descendants` makes those of
    the subjects part of it. A gap may change it if it is about one of these objects, or may hold something that has an
    effect on one: a policy, what leads to a subject, or the definition of a kind. What may mention anything counts.
    """
    if not analysis.snapshot.gaps:
        return ()
    absence, subjects = analysis.index.absence, dict.fromkeys(subjects)
    relevant = dict.fromkeys(gap for gap in absence.definitions if _may_define(analysis, gap))
    near = (neighbour for ref in subjects for neighbour in _referring_or_named(analysis, ref))
    every = dict.fromkeys((*subjects, *neighbours, *near))
    for definition in filter(None, (analysis.index.definitions.get(ref.group_kind) for ref in every)):
        relevant.update(dict.fromkeys(absence.gaps_of(definition.ref)))
    for ref in every:
        relevant.update(dict.fromkeys(absence.gaps_of(ref)))
        is_led_to = (include_descendants and (ref in subjects or ref.group_kind in LISTENER_HOLDERS)) or (
            ref in subjects and _is_led_to(analysis, ref)
        )
        if include_descendants and ref in subjects and ref.group_kind == NAMESPACE:
            relevant.update(dict.fromkeys(absence.gaps_in(ref.name)))
        for gap in absence.mentioning(ref.name):
            may_hold = is_led_to or (_may_hold_policies(analysis, gap) and _may_reach(analysis, gap, ref))
            if may_hold and _can_mean(gap, ref):
                relevant[gap] = None
    routes_alone = not include_descendants and all(ref.group_kind in ROUTES for ref in subjects)
    unbounded = [
        gap for kind, gaps in absence.unbounded.items() if _may_matter(kind, routes_alone=routes_alone) for gap in gaps
    ]
    if include_descendants and any(gap.group is not None for gap in unbounded):
        paths = (path for ref in subjects for path in analysis.topology.paths_through(NodeRef(ref)))
        every.update(dict.fromkeys(node.object for path in paths for node in path))
    for gap in unbounded:
        is_of_hierarchy = gap.group is not None and GroupKind(gap.group, gap.kind) in TARGET_KINDS
        if may_lead_to(analysis, gap, subjects) if is_of_hierarchy else may_hold_policies_on(analysis, gap, every):
            relevant[gap] = None
    # What a Namespace is like matters where something selects it: what does says so itself.
    changing = (gap for gap in relevant if gap.kind != NAMESPACE.kind or _is_about(gap, subjects))
    return absence.in_order(changing)


def gaps_in_list(
    analysis: Analysis, kinds: Collection[str], namespace: str, *, policies: bool = False
) -> Iterator[Gap]:
    """The gaps that may hide objects of some kinds in a namespace, or in any if that is empty.

    A list of all `policies` also lacks those of kinds that nothing is known of, and kinds that could not be read.
    """
    for gap in analysis.snapshot.gaps:
        if namespace and is_closed_in(analysis, gap, {namespace}):
            continue
        if gap.kind:
            # Definitions say which kinds are policies.
            may_be_policy = gap.kind == CRD.kind or _may_matter(gap.kind, routes_alone=True)
            may_hold = gap.kind in kinds or (policies and may_be_policy and _may_be_policies(analysis, gap))
        else:
            may_hold = gap.mentions is None or not gap.mentions.isdisjoint(kinds)
            may_hold = may_hold or (policies and _may_hold_policies(analysis, gap))
        if may_hold and (not namespace or not gap.namespace or may_equal(gap.namespace, namespace)):
            yield gap


def _referring_or_named(analysis: Analysis, ref: ObjectRef) -> Iterator[ObjectRef]:
    """Objects one reference away, attached or not: the routes to a backend, and the parents of a route."""
    relations = analysis.topology.relations
    if ref.group_kind in ROUTES:
        yield from (parent.object for parent in parent_refs(analysis.index, ref))
    elif ref.group_kind not in LISTENER_HOLDERS:
        yield from relations.routes_referring_to(ref)
        yield from relations.routes_naming(ref)


def _may_define(analysis: Analysis, gap: Gap) -> bool:
    """Whether a definition that could not be read may be that of a kind of which there are objects.

    If a cluster did not give it out, also of policies that nothing else is known of.
    """
    if gap.group is None:
        group = gap.name.partition(".")[2]
        return not group or any(kind.group == group for kind in analysis.index.group_kinds)
    unknown = (
        definition.ref.name
        for kind, definition in analysis.index.definitions.items()
        if not analysis.index.defaults.schema_of(kind) and kind not in TARGET_KINDS
        if analysis.registry.profile_of(kind) is None or analysis.registry.profile(kind).known_by != "profile"
    )
    return any(gap.name in {"", name} for name in unknown)


def _is_about(gap: Gap, refs: Iterable[ObjectRef]) -> bool:
    return any(gap.name and gap.covers(ref) for ref in refs)


def _is_led_to(analysis: Analysis, ref: ObjectRef) -> bool:
    """Whether what affects an object also depends on routes that lead to it."""
    if ref.group_kind == HTTP_ROUTE:
        return bool(analysis.topology.relations.delegations.refs)
    return ref.group_kind in PORT_HOLDERS or ref.group_kind not in TARGET_KINDS


def _may_hold_policies(analysis: Analysis, gap: Gap) -> bool:
    return gap.kind not in _TARGETS if gap.kind else gap in analysis.index.absence.with_policies


def _may_reach(analysis: Analysis, gap: Gap, ref: ObjectRef) -> bool:
    """Whether policies that could not be read may have an effect on an object; true if in doubt.

    They have none from another namespace if all kinds that their text declares are known to stay in theirs.
    """
    home = ref.name if ref.group_kind == NAMESPACE else ref.namespace
    if gap.declares is None or not (gap.namespace and home) or may_equal(gap.namespace, home):
        return True
    for name, kinds in grouped_by(gap.declares, lambda kind: kind.kind).items():
        profiles = [profile for kind in kinds if (profile := analysis.registry.profile_of(kind))]
        if any(_leaves_namespace(analysis, profile) for profile in profiles):
            return True
        if not profiles and name not in _TARGETS | _HIERARCHY | _BUILT_IN:
            return True
    return False


def _can_mean(gap: Gap, ref: ObjectRef) -> bool:
    """Whether something that mentions the name of an object can mean it: from another namespace, it names that too."""
    mentions = gap.mentions or ()
    return not (gap.namespace and ref.namespace) or may_equal(gap.namespace, ref.namespace) or ref.namespace in mentions


def _may_matter(kind: str, *, routes_alone: bool) -> bool:
    """Whether objects of a kind, whatever they mention, may have an effect on what an answer is about.

    Nothing of the hierarchy has one on a route, and nothing else that Kubernetes has on anything.
    """
    if kind in _HIERARCHY:
        return not routes_alone
    return kind not in _BUILT_IN


def may_hold_policies_on(analysis: Analysis, gap: Gap, objects: Iterable[ObjectRef]) -> bool:
    """Whether what could not be read may hold a policy with an effect on one of some objects; true if in doubt.

    It holds none if policies of its kind are known to be for other kinds, or to stay in other namespaces.
    """
    if gap.group is None or not gap.kind:
        return True
    profile = analysis.registry.profile_of(GroupKind(gap.group, gap.kind))
    if profile is None:
        return _may_be_policies(analysis, gap)
    objects, targets = tuple(objects), _kinds_targeted(profile)
    if targets and not any(obj.group_kind in targets for obj in objects):
        return False
    near = {obj.name if obj.group_kind == NAMESPACE else obj.namespace for obj in objects} - {""}
    if not near or _leaves_namespace(analysis, profile):
        return True
    return gap.namespace in {"", *near} and not is_closed_in(analysis, gap, near)


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
        if where == GATEWAY_CLASS or where in LISTENER_HOLDERS:
            return True
        return analysis.registry.profile_of(where) is None and _may_refer_from(analysis, gap, kind, subject)
    return where == GATEWAY_CLASS or (where == GATEWAY and kind in LISTENER_SETS)


def _may_refer_from(analysis: Analysis, gap: Gap, kind: GroupKind, backend: ObjectRef) -> bool:
    """Whether an object that could not be read may refer to a backend: from another namespace, if a grant lets it."""
    home = backend.namespace
    if gap.namespace in {"", home} and not is_closed_in(analysis, gap, {home}):
        return True
    return gap.namespace != home and analysis.index.grants.may_let_in(kind, gap.namespace, home)


def _may_be_policies(analysis: Analysis, gap: Gap) -> bool:
    """Whether there may be policies of the kind of a gap: of a kind of Kubernetes itself, only if a profile says so.

    Of one that is called a policy, its definition may say that it is none.
    """
    if gap.group is None or not gap.kind:
        return True
    kind = GroupKind(gap.group, gap.kind)
    is_none = analysis.registry.profile_of(kind) is None
    is_known = is_kubernetes_own(kind) or (kind.kind.endswith("Policy") and analysis.index.defaults.schema_of(kind))
    return not (is_none and is_known)


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
    separate = {
        gap_there.namespace
        for gap_there in analysis.snapshot.gaps
        if (gap_there.group, gap_there.kind, gap_there.name) == (gap.group, gap.kind, "")
    }
    return namespaces <= gap.besides | separate


def _kinds_targeted(profile: PolicyKindProfile) -> frozenset[GroupKind]:
    """The kinds that policies of a kind are for; none if that is not known."""
    if not profile.declared_targets and profile.attachment in {"references", "partly"}:
        return frozenset()
    if profile.attachment == "connections":
        return frozenset(WORKLOADS)
    named_by = {GATEWAY, GATEWAY_CLASS} if profile.attachment == "parameters" else ()
    return profile.declared_targets | profile.virtual_targets | profile.filter_routes | frozenset(named_by)


def _leaves_namespace(analysis: Analysis, profile: PolicyKindProfile) -> bool:
    """Whether a policy of a kind may have an effect in another namespace than its own."""
    if profile.cross_namespace is not None:
        return profile.cross_namespace or bool(profile.global_namespace)
    schema = analysis.index.defaults.schema_of(profile.group_kind)
    fields = [fields for path in _REFERENCES if (fields := mapping_at(schema, path))]
    return not fields or any("namespace" in properties or "namespaces" in properties for properties in fields)


def describe_gaps(analysis: Analysis, unread: Iterable[Gap]) -> Iterator[BlindSpot]:
    """Describe objects that could not be read; gaps of one kind and one reason are one blind spot."""
    together: dict[tuple[str, str | None, str, bool], list[Gap]] = {}
    for number, gap in enumerate(unread):
        identity = "" if gap.group is not None and gap.kind else str(number)
        together.setdefault((gap.kind, gap.group, f"{gap.reason}{identity}", bool(gap.name)), []).append(gap)
    for several in together.values():
        gap = several[0]
        is_there = analysis.index.absence.is_read(gap)
        known = tuple(several) if gap.group is not None else ()
        remedy = gap.remedy or FIX
        yield BlindSpot(
            what=_called(several), reason=gap.reason, remedy=remedy, origin=gap.origin, is_there=is_there, gaps=known
        )


def _called(several: Sequence[Gap]) -> str:
    """Gaps of one kind in words: `RetryPolicies in namespaces baker and infra`, `Gateway infra/edge`."""
    first = several[0]
    kind, namespaces = first.kind, list(dict.fromkeys(gap.namespace for gap in several))
    if first.name:
        names = [f"{shown_namespace(gap.namespace)}/{gap.name}" if gap.namespace else gap.name for gap in several]
        return f"{kind if len(names) == 1 else plural(kind)} {listed(names, _MOST_NAMES)}"
    if not kind:
        where = f" in namespace {shown_namespace(first.namespace)}" if first.namespace else ""
        return f"objects of any kind{where}" if not first.group else f"objects of API group {first.group}"
    if first.group is None:
        return f"{kind} in namespace {shown_namespace(first.namespace)}" if first.namespace else kind
    if "" not in namespaces:
        return f"{plural(kind)} {in_namespaces(namespaces)}"
    read = sorted(frozenset[str]().union(*(gap.besides for gap in several)))
    return f"{plural(kind)} not {in_namespaces(read)}" if read else plural(kind)


def in_namespaces(names: Sequence[str]) -> str:
    """`in namespace a`, `in namespaces a and b`; of many the first ones, and how many others there are."""
    shown = list(map(shown_namespace, names))
    return f"in namespace{'' if len(names) == 1 else 's'} {listed(shown, _MOST_NAMES)}"
