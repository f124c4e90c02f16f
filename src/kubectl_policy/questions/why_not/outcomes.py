"""Why a policy that is attached on a path has nothing in force at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import value_at
from kubectl_policy.questions.why_not.reasons import Reason, named
from kubectl_policy.resolution import fates_of
from kubectl_policy.topology import too_wide
from kubectl_policy.topology.controllers import controlled
from kubectl_policy.topology.gateway.handshake import WITH_HOSTNAMES
from kubectl_policy.topology.parameters import enabled_on, why_disabled
from kubectl_policy.topology.references import GATEWAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.resolution import EffectivePolicy, Fate, Source
    from kubectl_policy.topology import Path


def no_outcome(analysis: Analysis, policy: ObjectRef, path: Path, node: NodeRef) -> Reason:
    """Why a policy that is attached to a node of a path does not count at the end of the path."""
    profile, kind = analysis.registry.known(policy.group_kind), policy.kind
    gateway = next((one.object for one in path if one.object.group_kind == GATEWAY), None)
    enabling = profile.enabled_by if gateway else None
    wide = too_wide(analysis.topology, path) if profile.hostnames == "inside" else ""
    if gateway and enabling and enabled_on(analysis.topology, gateway, enabling) is False:
        return Reason("not-enabled", why_disabled(analysis.topology, gateway, enabling), gateway)
    if not controlled(analysis.topology, path, profile.controllers):
        ours = " or ".join(sorted(profile.controllers))
        what = str(gateway) if gateway else "this path"
        message = f"{kind} acts on what {ours} manages, and {what} is not"
        return Reason("other-controller", message, gateway or policy, "spec.gatewayClassName" if gateway else "")
    if wide:
        message = f"{kind} counts only for hostnames inside the listener's, and {wide}"
        route = next(one.object for one in path if one.object.group_kind in WITH_HOSTNAMES)
        return Reason("hostname-too-wide", message, route, "spec.hostnames")
    if profile.policy_class == "direct":
        return direct_above(policy, node)
    levels = ", ".join(dict.fromkeys(str(level.group_kind) for level in profile.effective_targets))
    where = f"at {levels}" if levels else "at what carries requests"
    message = f"{kind} takes effect {where}, and on the way there is none below {named(node)}"
    return Reason("takes-effect-elsewhere", message, policy, related=(node,))


def direct_above(policy: ObjectRef, node: NodeRef) -> Reason:
    """Why a direct policy has no effect below its target."""
    message = f"{policy.kind} is a direct policy: it applies to its target {named(node)} alone, not to what is below it"
    return Reason("direct-above", message, policy, related=(node,))


def lost_to(analysis: Analysis, policy: ObjectRef, effective: EffectivePolicy) -> Iterator[Reason]:
    """Why a policy that contributes to an outcome has no part in what is in force."""
    fates = fates_of(policy, effective)
    if not fates:
        yield _no_fields(policy, effective)
        return
    for by in dict.fromkeys(by for fate in fates for by in fate.superseded_by):
        lost = [fate for fate in fates if by in fate.superseded_by]
        yield _lost_to(analysis, effective, by, lost)
    passed_over = [fate for fate in fates if fate.state == "unheeded"]
    if passed_over:
        message = f"controllers ignore {_fields(passed_over)} there"
        yield Reason("unheeded", message, policy, f"spec.{passed_over[0].field}")


def _no_fields(policy: ObjectRef, effective: EffectivePolicy) -> Reason:
    """Of a policy that declares no field: what there is to see of it, or who replaces it."""
    winners = sorted(effective.policies_in_force())
    by = f"; {' and '.join(map(str, winners))} is in force" if winners else ""
    return Reason("no-fields", f"it declares no field that could be in force{by}", policy, "spec")


def _lost_to(analysis: Analysis, effective: EffectivePolicy, by: Source, lost: Sequence[Fate]) -> Reason:
    own, fields = lost[0].source, _fields(lost)
    who = f"{by.object} → {named(by.target)}"
    related = (NodeRef(by.object), by.target)
    field = _where(analysis, effective, by, lost[0].field)
    if lost[0].state == "rejected":
        refusal = effective.kept_out.get(own)
        what = f"a common field, {refusal.field}" if refusal and refusal.field else "that target already"
        message = f"{who} has {what}, and of two on one target this one is refused"
        return Reason("refused", message, by.object, "spec", api_reason="Conflicted", related=related)
    if by.object == by.target.object:
        message = f"{named(by.target)} sets {fields} itself"
        return Reason("superseded", message, by.object, "spec", related=related)
    places = {node: place for place, node in enumerate(effective.path)}
    above = places.get(by.target, 0) < places.get(own.target, 0)
    if by.target == own.target:
        return Reason("beaten-on-target", f"{who} sets {fields} on the same target", by.object, field, related=related)
    if above:
        return Reason("overridden", f"{who} overrides {fields} from above", by.object, field, related=related)
    message = f"{who} sets {fields} instead, and is nearer"
    return Reason("superseded", message, by.object, field, related=related)


def _where(analysis: Analysis, effective: EffectivePolicy, by: Source, field: str) -> str:
    """Where a policy says what beats a field: the same field of the stanza that does it or, without one, the stanza."""
    stanza = next((part.field for part in effective.contributions if part.source == by), "spec")
    own = f"{stanza}.{field}"
    return own if value_at(analysis.index.raw(by.object), own) is not None else stanza


def _fields(fates: Sequence[Fate]) -> str:
    return ", ".join(dict.fromkeys(fate.field for fate in fates))
