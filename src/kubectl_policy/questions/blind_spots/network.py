"""Blind spots of answers about connections: workloads, labels and network policies that could not be read."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.kind_roles import NAMESPACE, NODE, POD, WORKLOADS
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.refs import ObjectRef, shown_namespace
from kubectl_policy.model.selectors import keys_of
from kubectl_policy.model.unknown import may_equal
from kubectl_policy.model.world import grouped
from kubectl_policy.network.kinds import EVALUATED_KINDS, NETWORK_POLICY
from kubectl_policy.profiles.load import built_in_kinds
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, is_closed_in
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Gap
    from kubectl_policy.network.policy import Direction, Peer, PolicyRules, Selection
    from kubectl_policy.network.subjects import Subjects
    from kubectl_policy.profiles.connections import ConnectionProfile

_NAMESPACED: Final = frozenset({NETWORK_POLICY, *WORKLOADS})
_ADD: Final = "add the manifest that contains it"
_ADD_ALL: Final = "add the manifests that contain them"
_MAX_NAMES: Final = 5


def unread_for_network(
    analysis: Analysis,
    namespaces: Collection[str] | None = None,
    pods: Collection[str] | None = None,
    *,
    labels: bool = True,
) -> tuple[BlindSpot, ...]:
    """Return what could not be read and may change an answer about connections.

    `namespaces` are those of the workloads whose network policies decide; those of other namespaces do not matter.
    `pods` are the namespaces in which a workload that was not read matters: none of them for a connection between two
    workloads that were read. None stands for all namespaces. Without `labels`, those of Namespaces and Nodes that were
    not read do not matter, as for a verdict that is certain whatever they are.
    """
    workloads = (POD,) if analysis.index.source == "the cluster" else WORKLOADS
    other_kinds = _unevaluated_kinds(analysis)
    policies = dict.fromkeys((*EVALUATED_KINDS, *other_kinds), namespaces)
    scopes = {**policies, **dict.fromkeys(workloads, pods)}
    gaps = [
        gap
        for gap in analysis.snapshot.gaps
        if any(_may_hold(analysis, gap, kind, scope) for kind, scope in scopes.items())
    ]
    blind_spots = chain(
        describe_gaps(analysis, gaps),
        (spot for kind, scope in scopes.items() for spot in _assumed(analysis, kind, scope)),
        _unread_labels(analysis, namespaces, pods) if labels else (),
    )
    return tuple(dict.fromkeys(blind_spots))


def unevaluated_policies(analysis: Analysis, sides: Mapping[Direction, int], *, outside: bool) -> Iterator[BlindSpot]:
    """Yield the policies whose rules are not evaluated, and that decide about connections, or may do so.

    `sides` are the workloads whose policies matter, as bitmaps, by the direction in which connections leave or enter
    them; `outside` says whether their peers may be addresses outside of the cluster.
    """
    certain: dict[ObjectRef, None] = {}
    possible: dict[ObjectRef, None] = {}
    for direction, members in sides.items():
        applying, undecided = analysis.unevaluated.applying_to(members, direction, outside=outside)
        certain |= dict.fromkeys(applying)
        possible |= dict.fromkeys(undecided)
    yield from unevaluated(certain, possible)


def unevaluated(certain: Collection[ObjectRef], possible: Iterable[ObjectRef]) -> Iterator[BlindSpot]:
    """Yield a blind spot for the policies of each kind whose rules are not evaluated: they apply, or may apply."""
    undecided_alone = [policy for policy in possible if policy not in certain]
    for policies, is_possible in ((certain, False), (undecided_alone, True)):
        for kind, of_kind in grouped((policy.group_kind, policy) for policy in policies).items():
            is_one = len(of_kind) == 1
            applies, whose = ("it applies", "its") if is_one else ("they apply", "their")
            apply = f"{'it' if is_one else 'they'} may apply" if is_possible else applies
            yield BlindSpot(
                what=f"{kind} {listed([policy.qualified_name for policy in of_kind], _MAX_NAMES)}",
                reason=f"{apply} here, and {whose} rules are not evaluated",
                remedy=f"read what explain {str(kind).lower()} says",
                policies=tuple(of_kind),
                unevaluated=True,
            )


def unread_subjects(analysis: Analysis, policy: ObjectRef, subjects: Subjects) -> Iterator[BlindSpot]:
    """Yield what was not read and may decide whether a network policy applies to workloads."""
    yield from describe_gaps(analysis, subjects.gaps)
    if _needs_labels(analysis.network.policy(policy).subject):
        homes = dict.fromkeys(node.object.namespace for node in subjects.undecided)
        unread = [ObjectRef(NAMESPACE, "", name) for name in homes if analysis.index.namespace_labels(name) is None]
        yield from _unread(analysis, unread, f"{policy} selects namespaces by their labels")


def _unevaluated_kinds(analysis: Analysis) -> tuple[GroupKind, ...]:
    """Return the kinds of policies that gaps may hold, and whose rules can change a verdict and are not evaluated."""
    kinds: dict[GroupKind, None] = {}
    for gap in analysis.snapshot.gaps:
        kinds |= dict.fromkeys(gap.declares or ())
        if gap.group is None:
            kinds |= dict.fromkeys(built_in_kinds(gap.kind) if gap.kind else ())
        elif gap.kind:
            kinds[GroupKind(gap.group, gap.kind)] = None
        else:
            kinds |= dict.fromkeys(analysis.registry.profiled([gap.group]))
    return tuple(kind for kind in kinds if kind not in EVALUATED_KINDS and _connections_of(analysis, kind))


def _connections_of(analysis: Analysis, kind: GroupKind) -> ConnectionProfile | None:
    """Return how policies of a kind decide about connections; None if they do not."""
    profile = analysis.registry.profile_of(kind)
    return profile.connections if profile and not profile.is_staged else None


def _is_namespaced(analysis: Analysis, kind: GroupKind) -> bool:
    """Whether objects of a kind matter in their own namespaces alone."""
    connections = None if kind in _NAMESPACED else _connections_of(analysis, kind)
    return kind in _NAMESPACED or (connections is not None and connections.scope == "namespace")


def _may_hold(analysis: Analysis, gap: Gap, kind: GroupKind, namespaces: Collection[str] | None) -> bool:
    """Whether a gap may hold objects of a kind in some namespaces; a network policy affects Pods without a name."""
    if gap.kind not in {"", kind.kind} or gap.group not in {None, kind.group}:
        return False
    if gap.group is not None and gap.name and analysis.index.world.has(ObjectRef(kind, gap.namespace, gap.name)):
        # A list has what was refused by its name.
        return False
    if not gap.kind and gap.declares is not None and kind not in gap.declares:
        return False
    if not _is_namespaced(analysis, kind):
        # What has settings of a chart alone, which name no such kind, is taken to stay in its namespace.
        return bool(gap.kind) or gap.mentions is None or kind.kind in gap.mentions
    if namespaces is None:
        return True
    is_near = not gap.namespace or any(may_equal(gap.namespace, namespace) for namespace in namespaces)
    return bool(namespaces) and is_near and not is_closed_in(analysis, gap, frozenset(namespaces))


def _assumed(analysis: Analysis, kind: GroupKind, namespaces: Collection[str] | None) -> Iterator[BlindSpot]:
    """Yield objects that are said to exist: of these, nothing but their existence is known."""
    homes = [""] if namespaces is None or not _is_namespaced(analysis, kind) else namespaces
    if any(analysis.index.is_any_assumed(kind, namespace) for namespace in homes):
        yield BlindSpot(
            what=plural(kind.kind), reason="they are taken to exist, and nothing of them was read", remedy=_ADD_ALL
        )


def _unread_labels(
    analysis: Analysis, namespaces: Collection[str] | None, pods: Collection[str] | None
) -> Iterator[BlindSpot]:
    """Yield the Namespaces and Nodes of which policies select some by labels that were not read."""
    policies = [
        policy
        for policy in analysis.network.policies
        if policy.tier != "NetworkPolicy" or namespaces is None or policy.ref.namespace in namespaces
    ]
    selecting = next((policy for policy in policies if any(map(_needs_labels, _selections(policy)))), None)
    if selecting:
        is_everywhere = namespaces is None or pods is None
        homes = analysis.workloads.by_namespace if is_everywhere else sorted({*(namespaces or ()), *(pods or ())})
        unread = [name for name in homes if analysis.index.namespace_labels(name) is None]
        yield from _unread(
            analysis,
            [ObjectRef(NAMESPACE, "", name) for name in unread],
            f"{selecting.ref} selects namespaces by their labels",
        )
    by_node = next((policy for policy in policies if any(peer.nodes is not None for peer in _peers(policy))), None)
    if by_node and not analysis.index.of_kind(NODE) and analysis.index.presence(ObjectRef(NODE, "", "")) != "missing":
        yield from _unread(analysis, [ObjectRef(NODE, "", "")], f"{by_node.ref} selects Nodes by their labels")


def _unread(analysis: Analysis, refs: Sequence[ObjectRef], reason: str) -> Iterator[BlindSpot]:
    """Yield the gaps that hide or change some objects of one kind, and together the objects that no gap is about."""
    absence = analysis.index.absence
    gaps = {ref: absence.change_of(ref) or next(absence.hiding(ref), None) for ref in refs}
    yield from describe_gaps(analysis, dict.fromkeys(filter(None, gaps.values())))
    unread = [ref for ref, gap in gaps.items() if gap is None]
    if unread:
        names = [shown_namespace(ref.name) for ref in unread if ref.name]
        is_one = len(names) == 1
        kind = unread[0].kind
        yield BlindSpot(
            what=f"{kind if is_one else plural(kind)} {listed(names, _MAX_NAMES)}".strip(),
            reason=f"{reason}, and {'it is' if is_one else 'these are'} not in {analysis.index.source}",
            remedy=_ADD if is_one else _ADD_ALL,
        )


def _needs_labels(selection: Selection) -> bool:
    """Whether a selection depends on labels of a Namespace beyond its name."""
    return not isinstance(selection.namespaces, str) and not keys_of(selection.namespaces) <= {NAME_LABEL}


def _selections(policy: PolicyRules) -> Iterator[Selection]:
    yield policy.subject
    yield from (peer.selection for peer in _peers(policy) if peer.selection)


def _peers(policy: PolicyRules) -> Iterable[Peer]:
    rules = chain(policy.ingress, policy.egress)
    return (peer for rule in rules for peer in rule.peers or ())
