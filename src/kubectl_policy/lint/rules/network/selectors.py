"""Selectors of network policies that select nothing: their own Pods, and peers (GWP1103 and GWP1104)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.network.near_labels import NearLabels
from kubectl_policy.lint.rules.network.policies import LintedPolicy, has_all_workloads, linted_policies
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.selectors import selector_text
from kubectl_policy.network.policy import DIRECTIONS
from kubectl_policy.questions.connections.rule_views import selection_phrase
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Json
    from kubectl_policy.network.policy import Action, Peer, PolicyRules, Selection

_SUBJECT: Final = "spec.podSelector"
# The Pods of which the namespaces are named.
_MAX_PODS: Final = 1_000
_EFFECTS: Final[Mapping[Action, str]] = {"Allow": "allows", "Deny": "denies", "Pass": "passes on"}


@lint_rule("GWP1103", "warning", "closed world")
def no_pods_selected(world: LintWorld) -> Iterator[Finding]:
    """A network policy applies to no Pod, because no Pod has the labels that it selects.

    The connections that the policy should deny are allowed, and nothing reports that. In most cases, a label is
    misspelled or has changed. Pods are known by the controllers that make them, if the input has no Pods; a policy
    without labels, for a namespace without Pods, is not reported.

    Source: NetworkPolicySpec.PodSelector (kubernetes/api, networking/v1/types.go); ClusterNetworkPolicySubject
    (kubernetes-sigs/network-policy-api, apis/v1alpha2).
    """
    for policy in world.once(linted_policies):
        rules = policy.rules
        if world.analysis.network.matching.subjects(rules):
            continue
        field = _SUBJECT if rules.tier == "NetworkPolicy" else "spec.subject"
        yield from _unmatched(world, policy, rules.subject, field, "so the policy applies to nothing")


@lint_rule("GWP1104", "warning", "closed world")
def no_peers_selected(world: LintWorld) -> Iterator[Finding]:
    """A rule of a network policy names peers by labels that no Pod or no Namespace has.

    The rule neither allows nor denies anything for such a peer. A frequent mistake is a `podSelector` alone in a
    NetworkPolicy: it selects Pods in the namespace of the policy only, and Pods of other namespaces need a
    `namespaceSelector` next to it, in the same entry of the list.

    Source: NetworkPolicyPeer, "if PodSelector is set without NamespaceSelector ... selects the pods matching
    podSelector in the policy's own namespace" (kubernetes/api, networking/v1/types.go).
    """
    for policy in world.once(linted_policies):
        for direction in DIRECTIONS:
            for rule in policy.rules.rules(direction):
                effect = f"so the rule {_EFFECTS[rule.action]} nothing by this entry"
                for peer in rule.peers or ():
                    if peer.selection and not _matches_any(world, policy.rules, peer):
                        yield from _unmatched(world, policy, peer.selection, str(peer.field), effect)


def _matches_any(world: LintWorld, policy: PolicyRules, peer: Peer) -> bool:
    return bool(world.analysis.network.matching.pods_of_peer(policy, peer))


def _unmatched(
    world: LintWorld, policy: LintedPolicy, selection: Selection, field: str, effect: str
) -> Iterator[Finding]:
    """Yield a finding about labels that select nothing, unless there is nothing from which to select."""
    workloads = world.analysis.workloads
    namespaces = selection.namespaces
    homes = workloads.in_namespaces(namespaces)
    is_known = has_all_workloads(world, namespaces if isinstance(namespaces, str) else "")
    if not (homes or isinstance(namespaces, str) or _selects_namespace(world, namespaces)):
        problem = f"no Namespace has labels that match {selector_text(namespaces)}"
        near = world.once(NearLabels).of_namespaces(namespaces)
    elif workloads.selected(namespaces, selection.pods):
        problem = f"{_phrase(selection)} are on the network of their nodes, where such policies do not apply"
        near = None
    elif selection.pods and (homes or is_known):
        problem = f"there are no {_phrase(selection)}"
        near = world.once(NearLabels).of_pods(selection)
    else:
        return
    finding = Finding(
        subject=policy.resource.ref,
        field=field,
        message=f"{problem}, {effect}",
        fix=near.fix if near else _elsewhere(world, selection, field),
    )
    likely = not is_known and near is not None and near.is_slip
    yield finding if is_known else replace(finding, certain=False, is_likely=likely)


def _phrase(selection: Selection) -> str:
    namespaces = selection.namespaces
    shown = replace(selection, namespaces=shown_namespace(namespaces)) if isinstance(namespaces, str) else selection
    return selection_phrase(shown)


def _selects_namespace(world: LintWorld, selector: Mapping[str, Json]) -> bool:
    """Whether a selector may select a Namespace that is known; true if none is known."""
    names = world.once(NearLabels).namespaces
    return not names or any(world.index.selects_namespace(selector, name) is not False for name in names)


def _elsewhere(world: LintWorld, selection: Selection, field: str) -> Fix | None:
    """Return the other namespaces that have Pods with the labels, as a fix."""
    if not isinstance(selection.namespaces, str):
        return None
    workloads = world.analysis.workloads
    positions = positions_in(workloads.selected({}, selection.pods).certain)
    homes = {workload.ref.namespace for workload in workloads.at(islice(positions, _MAX_PODS))}
    remedy = "the policy belongs there" if field == _SUBJECT else "a namespaceSelector in the same entry selects them"
    words = f"such Pods are in {some(sorted(map(shown_namespace, homes)))}: {remedy}"
    return Fix(words=words) if homes else None
