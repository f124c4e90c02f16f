"""The chain of reasons for which a policy has no effect on a node, or none on some of the paths through it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import value_at
from kubectl_policy.model.kinds import NAMESPACE, plural
from kubectl_policy.questions.why_not.case import Reason, in_causal_order, named
from kubectl_policy.questions.why_not.not_attached import (
    below,
    elsewhere,
    failed,
    is_above_routes,
    no_reference,
    not_sent,
    other_section,
    refused,
)
from kubectl_policy.topology import too_wide
from kubectl_policy.topology.controllers import controlled
from kubectl_policy.topology.gateway.handshake import WITH_HOSTNAMES
from kubectl_policy.topology.parameters import enabled_on, why_disabled
from kubectl_policy.topology.references import (
    GATEWAY,
    LISTENER_SETS,
    ROUTES,
    WITH_LISTENERS,
    backend_refs,
    parent_refs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.why_not.case import Case
    from kubectl_policy.resolution import EffectivePolicy, Fate, Source
    from kubectl_policy.topology import Path


def reasons_of(case: Case) -> tuple[Reason, ...]:
    """Why a policy has no effect on a node or, if it has one, why it has none on the other paths; in causal order."""
    chain = _Chain(case)
    reasons = list(chain.on_other_paths() if case.effect.in_force else chain.at_all())
    if not reasons and not case.effect.in_force:
        reasons = [Reason("not-counted", "nothing that it says counts there", case.policy.ref, field="spec")]
    return in_causal_order(case.analysis, reasons)


class _Chain:
    """Follows each attachment of a policy as far as it leads towards a node."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._analysis = case.analysis
        self._policy = case.policy.ref
        self._target = case.target
        self._effect = case.effect

    def at_all(self) -> Iterator[Reason]:
        """The reasons that hold of the node as a whole."""
        attachments = self._case.attachments
        if not attachments:
            yield no_reference(self._case)
            return
        near = [attachment for attachment in attachments if self._is_near(attachment)]
        for attachment in near:
            yield from self._of(attachment)
        if not near:
            beneath = [attachment for attachment in attachments if self._is_below(attachment)]
            yield from (below(attachment, self._target) for attachment in beneath)
            yield from elsewhere(self._case, [attachment for attachment in attachments if attachment not in beneath])

    def on_other_paths(self) -> Iterator[Reason]:
        """The reasons that hold on the paths on which the policy has nothing in force."""
        nodes = [
            attachment.target
            for attachment in self._case.attachments
            if attachment.target and attachment.state == "attached"
        ]
        for place, path in enumerate(self._effect.paths):
            if place not in self._effect.in_force:
                on_path = [node for node in nodes if node in path]
                if on_path:
                    reasons = self._on_path(place, on_path[-1])
                else:
                    reasons = iter([self._off_path("that path does not lead", nodes)])
                yield from (replace(reason, paths=(place,)) for reason in reasons)

    def _of(self, attachment: Attachment) -> Iterator[Reason]:
        """Why an attachment to the node itself, or to something above it, has no effect."""
        node = attachment.target
        if node is None or attachment.state != "attached":
            yield failed(self._case, attachment)
            return
        if node.object == self._target.object and node.section and self._target.section not in {"", node.section}:
            yield other_section(attachment, self._target)
            return
        paths = self._effect.paths
        through = [place for place in sorted(self._effect.carrying) if node in paths[place]]
        for place in through:
            yield from self._on_path(place, node)
        if not through and node.object == self._target.object:
            silent = (path for place, path in enumerate(paths) if place not in self._effect.carrying)
            yield from (reason for path in silent for reason in self._no_traffic_on(path))
        elif not through:
            yield from self._not_led_to(node)

    def _on_path(self, place: int, node: NodeRef) -> Iterator[Reason]:
        """Why the policy has nothing in force on a path with a node that it is attached to."""
        path = self._effect.paths[place]
        if place not in self._effect.carrying:
            yield from self._no_traffic_on(path)
            return
        contributing = [
            entry.effective
            for entry in self._effect.entries
            if entry.path == place and any(part.source.object == self._policy for part in entry.effective.contributions)
        ]
        for effective in contributing:
            yield from self._lost_to_others(effective)
        if not contributing:
            yield self._replaced_by_section(path, node) or self._does_not_count(path, node)

    def _off_path(self, what: str, nodes: Sequence[NodeRef]) -> Reason:
        names = " or ".join(dict.fromkeys(map(named, nodes)))
        return Reason("not-on-path", f"{what} through {names}", self._policy, related=tuple(nodes))

    def _no_traffic_on(self, path: Path) -> Iterator[Reason]:
        """Why no request comes down a path: its first route is attached to nothing, or another one cuts it off.

        To the backend on a path without routes they all give weight 0.
        """
        route = next((node.object for node in path if node.object.group_kind in ROUTES), None)
        if route is None:
            backend = path[-1].object
            for above in self._analysis.topology.relations.routes_referring_to(backend):
                yield from not_sent(self._analysis, above, backend)
        elif self._analysis.topology.relations.is_unattached(route):
            yield from refused(self._analysis, route)
        else:
            message = f"no request gets to {route} by the routes that delegate to it"
            yield Reason("not-delegated", message, route, field="spec.rules", related=(NodeRef(route),))

    def _not_led_to(self, node: NodeRef) -> list[Reason]:
        """Why no path leads from a node, to which the policy is attached, to the one that is asked about."""
        if self._is_direct:
            return [self._direct_above(node)]
        reasons = [reason for route in self._routes for reason in self._along(route, node)]
        reasons += [reason for path in self._effect.paths if node in path for reason in self._no_traffic_on(path)]
        if self._target.object.group_kind in LISTENER_SETS:
            reasons += self._listener_set(node)
        return reasons or [self._off_path(f"no path to {named(self._target)} leads", [node])]

    def _along(self, route: ObjectRef, node: NodeRef) -> Iterator[Reason]:
        """Where the way from a node by a route to the one that is asked about ends."""
        leads = any(node in path for path in self._analysis.topology.paths(NodeRef(route)))
        if is_above_routes(node) and not leads:
            yield from refused(self._analysis, route, node)
        if self._target.object != route and (leads or route == node.object):
            yield from not_sent(self._analysis, route, self._target.object)

    def _listener_set(self, node: NodeRef) -> Iterator[Reason]:
        """Why a ListenerSet that names a Gateway is not below it."""
        gateway, listener_set = node.object, self._target.object
        if gateway.group_kind == GATEWAY and not self._analysis.topology.gateways.admits(gateway, listener_set):
            field, related = "spec.allowedListeners", (NodeRef(listener_set),)
            message = f"{gateway} does not allow {listener_set} to attach ({field})"
            yield Reason("listener-set-refused", message, gateway, field=field, related=related)

    def _replaced_by_section(self, path: Path, node: NodeRef) -> Reason | None:
        """Where a policy on a section of an object stands in place of those on the whole of it."""
        if self._is_direct and node.object != self._target.object:
            return None
        for section in path:
            if section.object == node.object and section.section and not node.section:
                for holder in self._analysis.resolver.claimants(section, self._policy.group_kind):
                    who = f"{holder.ref} → {named(section)}"
                    message = f"{who} stands there in place of what is on {named(node)} as a whole"
                    related = (NodeRef(holder.ref), section)
                    return Reason("replaced-by-section", message, holder.ref, field="spec", related=related)
        return None

    def _does_not_count(self, path: Path, node: NodeRef) -> Reason:
        """Why the policy, which is attached to a node of a path, does not count at the end of the path."""
        profile, kind, topology = self._case.profile, self._policy.kind, self._analysis.topology
        gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
        enabling = profile.enabled_by if gateway else None
        if gateway and enabling and enabled_on(topology, gateway, enabling) is False:
            return Reason("not-enabled", why_disabled(topology, gateway, enabling), gateway)
        if not controlled(topology, path, profile.controllers):
            ours = " or ".join(sorted(profile.controllers))
            message = f"{kind} acts on what {ours} manages, and {gateway or 'this path'} is not"
            field = "spec.gatewayClassName" if gateway else ""
            return Reason("other-controller", message, gateway or self._policy, field=field)
        wide = too_wide(topology, path) if profile.hostnames == "inside" else ""
        if wide:
            message = f"{kind} counts only for hostnames inside the listener's, and {wide}"
            route = next(node.object for node in path if node.object.group_kind in WITH_HOSTNAMES)
            return Reason("hostname-too-wide", message, route, field="spec.hostnames")
        if self._is_direct:
            return self._direct_above(node)
        levels = ", ".join(dict.fromkeys(str(level.group_kind) for level in profile.effective_targets))
        where = f"at {levels}" if levels else "at what carries requests"
        message = f"{kind} takes effect {where}, and on the way there is none below {named(node)}"
        return Reason("takes-effect-elsewhere", message, self._policy, related=(node,))

    def _direct_above(self, node: NodeRef) -> Reason:
        """Why a direct policy has no effect below its target."""
        what = f"{self._policy.kind} is {self._case.profile.class_words}"
        message = f"{what}: it applies to its target {named(node)} alone, not to what is below it"
        return Reason("direct-above", message, self._policy, related=(node,))

    def _lost_to_others(self, effective: EffectivePolicy) -> Iterator[Reason]:
        """Why the policy, which contributes to an outcome, has no part in what is in force."""
        resolution, fates = effective.resolution, effective.fates_of(self._policy)
        if self._policy in resolution.policies_undecided:
            others = sorted({source.object for source in resolution.undecided} - {self._policy})
            verb, kinds = "sets" if len(others) == 1 else "set", plural(self._policy.kind)
            message = f"{' and '.join(map(str, others))} {verb} other fields, and how {kinds} combine is not known"
            related = tuple(map(NodeRef, others))
            yield Reason("combination-unknown", message, self._policy, field="spec", related=related)
            return
        if not fates:
            winners = sorted(effective.policies_in_force())
            by = f"; {' and '.join(map(str, winners))} is in force" if winners else ""
            message = f"it declares no field that could be in force{by}"
            yield Reason("no-fields", message, self._policy, field="spec")
        lost: dict[Source, list[Fate]] = {}
        for fate in fates:
            for by_source in fate.superseded_by:
                lost.setdefault(by_source, []).append(fate)
        for by_source, to_it in lost.items():
            yield self._lost_to(by_source, to_it, effective)
        ignored = [fate for fate in fates if fate.state == "unheeded"]
        if ignored:
            kind = effective.target.object.group_kind
            uncounted = not any(self._case.profile.at(kind).counts(fate.field) for fate in ignored)
            what = f"{'do not' if len(ignored) > 1 else 'does not'} count on {plural(kind.kind)}"
            message = f"{_fields(ignored)} {what}" if uncounted else f"controllers ignore {_fields(ignored)} there"
            yield Reason("unheeded", message, self._policy, field=f"spec.{ignored[0].field}")

    def _lost_to(self, winner: Source, lost: Sequence[Fate], effective: EffectivePolicy) -> Reason:
        """Why fields of the policy are superseded, or all of it is refused, in favour of another source."""
        own, fields = lost[0].source, _fields(lost)
        who, related = f"{winner.object} → {named(winner.target)}", (NodeRef(winner.object), winner.target)
        if lost[0].state == "rejected":
            refusal = effective.resolution.kept_out.get(own)
            what = f"a common field, {refusal.field}" if refusal and refusal.field else "that target already"
            message = f"{who} has {what}, and of two on one target this one is refused"
            return Reason("refused", message, winner.object, field="spec", api_reason="Conflicted", related=related)
        if winner.object == winner.target.object:
            message = f"{named(winner.target)} sets {fields} itself"
            return Reason("superseded", message, winner.object, field="spec", related=related)
        places = {node: place for place, node in enumerate(effective.path)}
        if winner.target == own.target:
            rule, message = "beaten-on-target", f"{who} sets {fields} on the same target"
        elif places.get(winner.target, 0) < places.get(own.target, 0):
            rule, message = "overridden", f"{who} overrides {fields} from above"
        else:
            rule, message = "superseded", f"{who} sets {fields} instead, and is nearer"
        # The same field of the stanza that does it or, without one, the stanza.
        stanza = next((part.field for part in effective.contributions if part.source == winner), "spec")
        field = f"{stanza}.{lost[0].field}"
        there = value_at(self._analysis.index.raw(winner.object), field) is not None
        return Reason(rule, message, winner.object, field=field if there else stanza, related=related)

    @cached_property
    def _routes(self) -> tuple[ObjectRef, ...]:
        """The routes that requests to the node come by: itself, or those that name it as a backend, also in vain."""
        target, index = self._target.object, self._analysis.index
        if target.group_kind in ROUTES:
            return (target,)
        if is_above_routes(self._target) or target.group_kind == NAMESPACE:
            return ()
        return tuple(
            route.ref
            for kind in ROUTES
            for route in index.of_kind(kind)
            if any(ref.object == target for ref in backend_refs(index, route.ref))
        )

    @property
    def _is_direct(self) -> bool:
        return self._case.profile.policy_class == "direct"

    def _is_near(self, attachment: Attachment) -> bool:
        """Whether a reference names the node, or what is above it or might be."""
        node = attachment.target
        if node is None or node.object in self._near:
            return node is not None
        # Whoever asks about a route expects it to be below that Gateway.
        return bool(self._routes) and not self._is_direct and node.object.group_kind in WITH_LISTENERS

    @cached_property
    def _near(self) -> frozenset[ObjectRef]:
        """What is above the node, also what routes to it name as parents, whether or not these take them."""
        index = self._analysis.index
        parents = [parent.object for ref in self._routes for parent in parent_refs(index, ref)]
        if self._target.object.group_kind in LISTENER_SETS:
            parents.append(self._target.object)
        owners = (owner for parent in parents for owner in self._owners(parent))
        return frozenset({self._target.object, *(node.object for node in self._effect.above), *self._routes, *owners})

    def _owners(self, parent: ObjectRef) -> Iterator[ObjectRef]:
        gateways = self._analysis.topology.gateways
        gateway = gateways.gateway_of(parent)
        gateway_class = gateways.class_of(gateway) if gateway else None
        yield from (obj for obj in (parent, gateway, gateway_class) if obj)

    def _is_below(self, attachment: Attachment) -> bool:
        """Whether a policy is attached below the node."""
        node = attachment.target
        if node is None or attachment.state != "attached":
            return False
        return any(self._target in path for path in self._analysis.topology.paths(node))


def _fields(fates: Sequence[Fate]) -> str:
    return ", ".join(dict.fromkeys(fate.field for fate in fates))
