"""Reasons why a policy has no effect anywhere, or none on one path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.fields import FieldPath, value_at
from kubectl_policy.model.kind_roles import GATEWAY, KINDS, LISTENER_HOLDERS, NAMESPACE, ROUTES, ROUTES_WITH_HOSTNAMES
from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.shared.reasons import (
    Reason,
    attachment_reason,
    backend_reasons,
    in_causal_order,
    merge_does_not_count,
    missing_reference,
    node_phrase,
    parent_reasons,
    without_subjects,
)
from kubectl_policy.resolution import EffectivePolicy, Fate, Source, paths_by_way_of
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from kubectl_policy.resolution.traced import field_name
from kubectl_policy.resolution.uncertain_paths import undecided_attachments, undecided_gateway
from kubectl_policy.topology import Path, why_too_wide
from kubectl_policy.topology.controllers import is_enabled, is_path_managed, why_disabled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile


def doubt_reasons(analysis: Analysis, path: Path, profile: PolicyKindProfile) -> Iterator[Reason]:
    """Reasons why it is unknown whether policies of a kind count on a path: unread parents, classes and parameters."""
    undecided = {possible.route for possible in undecided_attachments(analysis.topology, path)}
    for route in undecided:
        yield from (reason for reason in parent_reasons(analysis, route) if reason.rule == "parent-unknown")
    gateway = None if undecided else undecided_gateway(analysis.topology, profile, path)
    if gateway:
        message = f"which controller acts on {gateway} is not known"
        yield Reason("controller-unknown", message, gateway, field=KINDS[gateway.group_kind].parents)


def superseding_reasons(analysis: Analysis, policy: ObjectRef, effective: EffectivePolicy) -> Iterator[Reason]:
    """Reasons why a policy, which contributes to an outcome, has no effective field in it."""
    resolution, fates = effective.resolution, effective.resolution.fates_of.get(policy, ())
    if policy in resolution.policies_undecided:
        rivals = sorted({source.object for source in resolution.undecided} - {policy})
        verb, kinds = "sets" if len(rivals) == 1 else "set", plural(policy.kind)
        message = f"{' and '.join(map(str, rivals))} {verb} other fields, and how {kinds} combine is not known"
        yield Reason("combination-unknown", message, policy, field="spec", related=tuple(map(NodeRef, rivals)))
        return
    if not fates:
        winners = sorted(resolution.policies_in_force)
        by = f"; {' and '.join(map(str, winners))} is in force" if winners else ""
        yield Reason("no-fields", f"it sets no field that could take effect{by}", policy, field="spec")
    lost: dict[Source, list[Fate]] = {}
    for fate in fates:
        for by_source in fate.superseded_by:
            lost.setdefault(by_source, []).append(fate)
    for by_source, to_it in lost.items():
        yield _lost_to(analysis, by_source, to_it, effective)
    ignored = [fate for fate in fates if fate.state == "unheeded"]
    if ignored:
        kind = effective.target.object.group_kind
        profile = analysis.registry.profile(policy.group_kind).at(kind)
        uncounted = not any(profile.counts(fate.field) for fate in ignored)
        verb_phrase = f"{'do not' if len(ignored) > 1 else 'does not'} count on {plural(kind.kind)}"
        because = resolution.why_ignored(policy)
        where = f": {because}" if because else " there"
        message = f"{_fields(ignored)} {verb_phrase}" if uncounted else f"controllers ignore {_fields(ignored)}{where}"
        yield Reason("unheeded", message, policy, field=f"spec.{ignored[0].field}")


def _lost_to(analysis: Analysis, winner: Source, lost: Sequence[Fate], effective: EffectivePolicy) -> Reason:
    """Reason why fields of a policy are superseded, or all of it is replaced or refused, by one other source."""
    loser = lost[0].source
    winner_phrase, related = f"{winner.object} → {node_phrase(winner.target)}", (NodeRef(winner.object), winner.target)
    if lost[0].state == "rejected":
        refusal = effective.resolution.refusals.get(loser)
        conflict = f"a common field, {refusal.field}" if refusal and refusal.field else "that target already"
        message = f"{winner_phrase} has {conflict}, and of two on one target this one is refused"
        return Reason("refused", message, winner.object, field="spec", reason="Conflicted", related=related)
    rule, how = _how_superseded(winner, lost, effective, analysis.registry.profile(effective.resolution.kind))
    if winner.object == winner.target.object:
        return Reason("superseded", how, winner.object, field="spec", related=related)
    message = f"{winner_phrase}{how}"
    # The same field of the stanza that does it or, without one, the stanza.
    own_parts = effective.resolution.contributions_of.get(winner.object, ())
    stanza = next((part.field for part in own_parts if part.source == winner), "spec")
    field = f"{stanza}.{lost[0].field}"
    is_declared = value_at(analysis.index.defaulted(winner.object), field) is not None
    return Reason(rule, message, winner.object, field=field if is_declared else stanza, related=related)


def _how_superseded(
    winner: Source, lost: Sequence[Fate], effective: EffectivePolicy, profile: PolicyKindProfile
) -> tuple[str, str]:
    """The rule by which one source supersedes another one, and how: in words that follow the name of the first one."""
    loser, port_field = lost[0].source, profile.port_field
    if winner.object == winner.target.object:
        fields = _set_instead(winner, lost, effective) or _fields(lost)
        return "superseded", f"{node_phrase(winner.target)} sets {fields} itself"
    if lost[0].by_port and port_field:
        return "superseded", f" sets {port_field.field} for this port, which is used instead"
    whole = loser not in effective.resolution.members
    if winner.target != loser.target and _depth(winner, effective) < _depth(loser, effective):
        return "overridden", f" overrides {'all of it' if whole else _fields(lost)} from above"
    rule = "beaten-on-target" if winner.target == loser.target else "superseded"
    if whole:
        parts = effective.resolution.contributions_of
        both = (part for policy in (loser.object, winner.object) for part in parts.get(policy, ()))
        strategies = {part.source: part.strategy for part in both}
        why = merge_does_not_count(loser, (winner,), strategies, profile)
        how = ", on the same target, replaces" if rule == "beaten-on-target" else " is nearer and replaces"
        return rule, f"{how} all of it{f'; {why}' if why else ''}"
    fields = _set_instead(winner, lost, effective)
    how = f"sets {fields}" if fields else f"replaces {_fields(lost)}"
    return rule, f" {how} on the same target" if rule == "beaten-on-target" else f" {how} instead, and is nearer"


def _depth(source: Source, effective: EffectivePolicy) -> int:
    """Position of a source's target on the path; a target that is not on it counts as the root."""
    return effective.path.index(source.target) if source.target in effective.path else 0


def _set_instead(winner: Source, lost: Iterable[Fate], effective: EffectivePolicy) -> str:
    """Fields that a source sets in place of lost ones; empty unless it sets a substitute for each.

    A value may stand where another source has a map, and what a map is in may be taken from one source as a whole.
    """
    theirs = effective.resolution.fields_of.get(winner, ())
    names: dict[str, None] = {}
    for fate in lost:
        steps = tuple(map(str, FieldPath.parse(fate.field).steps))
        beginnings = (steps[:length] for length in range(len(steps), 0, -1))
        around = next((part for part in beginnings if any(field[: len(part)] == part for field in theirs)), ())
        if not around:
            return ""
        names[field_name(around)] = None
    return ", ".join(names)


def _fields(fates: Sequence[Fate]) -> str:
    return ", ".join(dict.fromkeys(fate.field for fate in fates))


def why_without_effect(analysis: Analysis, policy: ObjectRef, limit: int = 3) -> tuple[Reason, ...]:
    """Reasons why a policy has no effect anywhere, the first cause first; empty if it has one, or may have.

    These are as many of the reasons as are wanted, which are found first: the others are not looked for.
    """
    meaning = ENFORCEMENT[analysis.enforcement(policy).state]
    if meaning.in_force or not meaning.known:
        return ()
    distinct: dict[Reason, None] = {}
    for reason in _reasons(analysis, policy):
        distinct.setdefault(reason)
        if len(distinct) == limit:
            break
    return in_causal_order(analysis, distinct)


def _reasons(analysis: Analysis, policy: ObjectRef) -> Iterator[Reason]:
    attachments, enforcement = analysis.attachments[policy], analysis.enforcement(policy)
    if enforcement.subjects:
        yield without_subjects(policy, enforcement.subjects)
    elif not attachments:
        yield missing_reference(analysis, policy)
    yield from (attachment_reason(analysis, attachment) for attachment in attachments if attachment.state != "attached")
    resolutions = {effective.resolution: effective for effective in enforcement.outcomes}
    for effective in resolutions.values():
        yield from superseding_reasons(analysis, policy, effective)
    if not resolutions:
        for target in dict.fromkeys(
            attachment.target for attachment in attachments if attachment.target and attachment.state == "attached"
        ):
            yield from _nothing_below(analysis, policy, target)


def _nothing_below(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> Iterator[Reason]:
    """Reasons why a policy that is attached to a node, and meets no other one, affects nothing through it."""
    paths = paths_by_way_of([target], analysis.registry.profile(policy.group_kind), analysis.topology)
    for path in paths:
        if analysis.topology.carries_traffic(path):
            yield not_counted_reason(analysis, policy, path, target)
        else:
            yield from no_traffic_reasons(analysis, path)
    if not paths:
        yield from _nothing_attached(analysis, policy, target)


def _nothing_attached(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> Iterator[Reason]:
    """Reasons why nothing on which a policy could take effect is below a node: refused routes, or none."""
    routes = analysis.topology.relations.routes_naming(target.object)
    refusals = (reason for route in routes for reason in parent_reasons(analysis, route, target) if reason.reason)
    first = next(refusals, None)
    if first:
        yield first
        yield from refusals
        return
    levels = analysis.registry.profile(policy.group_kind).effective_targets
    kinds = sorted({level.group_kind.kind for level in levels}) if levels else ["route"]
    names = " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    kind = target.object.group_kind
    where = "attached to" if kind in LISTENER_HOLDERS else "in" if kind == NAMESPACE else "below"
    message = f"no {names} is {where} {node_phrase(target)}"
    yield Reason("nothing-below", message, target.object, related=(target,))


def no_traffic_reasons(analysis: Analysis, path: Path) -> Iterator[Reason]:
    """Reasons why no request comes down a path: its first route is not attached, or another one cuts it off.

    To the backend on a path without routes they all give weight 0.
    """
    relations = analysis.topology.relations
    route = next((node.object for node in path if node.object.group_kind in ROUTES), None)
    if route is None:
        backend = path[-1].object
        for route_to_it in relations.routes_referring_to(backend):
            yield from backend_reasons(analysis, route_to_it, backend)
    elif relations.is_unattached(route):
        yield from parent_reasons(analysis, route)
    else:
        message = f"no request reaches {route} through the routes that delegate to it"
        yield Reason("not-delegated", message, route, field="spec.rules", related=(NodeRef(route),))


def not_counted_reason(analysis: Analysis, policy: ObjectRef, path: Path, node: NodeRef) -> Reason:
    """Reason why a policy, which is attached to a node of a path, does not count at the end of the path."""
    profile, topology = analysis.registry.profile(policy.group_kind), analysis.topology
    gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
    enabling = profile.enabled_by if gateway else None
    if gateway and enabling and is_enabled(topology, gateway, enabling) is False:
        return Reason("not-enabled", why_disabled(topology, gateway, enabling), gateway)
    if not is_path_managed(topology, path, profile.controllers):
        ours = " or ".join(sorted(profile.controllers))
        message = f"{policy.kind} applies only to what {ours} manages, which does not include {gateway or 'this path'}"
        field = "spec.gatewayClassName" if gateway else ""
        return Reason("other-controller", message, gateway or policy, field=field)
    wide = why_too_wide(topology, path) if profile.hostnames == "inside" else ""
    if wide:
        message = f"{policy.kind} counts only for hostnames inside the listener's, and {wide}"
        route = next(node.object for node in path if node.object.group_kind in ROUTES_WITH_HOSTNAMES)
        return Reason("hostname-too-wide", message, route, field="spec.hostnames")
    if profile.policy_class == "direct":
        return direct_policy_reason(analysis, policy, node)
    levels = ", ".join(dict.fromkeys(str(level.group_kind) for level in profile.effective_targets))
    where = f"at {levels}" if levels else "at what carries requests"
    message = f"{policy.kind} takes effect {where}, and on the way there is none below {node_phrase(node)}"
    return Reason("takes-effect-elsewhere", message, policy, related=(node,))


def direct_policy_reason(analysis: Analysis, policy: ObjectRef, node: NodeRef) -> Reason:
    """Reason why a direct policy has no effect below its target, or a filter none on requests of other rules."""
    profile, target = analysis.registry.profile(policy.group_kind), node_phrase(node)
    message = (
        f"{policy.kind} is {profile.class_phrase}: it applies only to its target {target}, not to what is below it"
    )
    if profile.role == "filter":
        rules = {attachment.declared.rule for attachment in analysis.attachments[policy] if attachment.target == node}
        of_rules = " and ".join(node_phrase(rule) for rule in sorted(filter(None, rules)))
        message = f"it applies only to requests of {of_rules or target}"
        message += f", and of these to those for {target}" if of_rules else ""
    return Reason("direct-above", message, policy, related=(node,))
