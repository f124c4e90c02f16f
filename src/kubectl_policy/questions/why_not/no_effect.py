"""The effect of a policy on a node, and the reasons why there is none."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, GATEWAY, LISTENER_HOLDERS, LISTENER_SETS, ROUTES, layer_of
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import EffectiveEntry, effective_entries
from kubectl_policy.questions.shared.reasons import (
    Reason,
    attachment_reason,
    backend_reasons,
    in_causal_order,
    missing_reference,
    node_phrase,
    parent_reasons,
)
from kubectl_policy.questions.shared.without_effect import (
    direct_policy_reason,
    doubt_reasons,
    no_traffic_reasons,
    not_counted_reason,
    superseding_reasons,
)
from kubectl_policy.topology.references import backend_refs, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Path


class EffectOn(Struct, frozen=True):
    """The paths through a node, and the effect of a policy on them."""

    paths: tuple[Path, ...]
    carrying: frozenset[int]
    """The positions of the paths on which traffic runs, as far as is known."""
    in_force: tuple[int, ...]
    """Those of them on which the policy has an effective field, or takes part without declaring any."""
    undecided: tuple[int, ...]
    """Those on which it may have one, but how its kind's policies combine is not known."""
    entries: tuple[EffectiveEntry, ...]
    """The effective policies on the paths, where it takes effect on them."""
    above: frozenset[NodeRef]
    """The nodes at which a policy has an effect on the node: that and what is above it if it takes effect further down
    than the node, else every node on the paths."""


def effect_on(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> EffectOn:
    """The effect of a policy on the paths through a node.

    They lead down to where `describe` looks for effects on the node or, if the kind takes effect further down, to all
    that is below the node: then the policy has an effect on it if it has one on something there, by way of the node or
    of what is above it.
    """
    kind = policy.group_kind
    paths = covered_paths(analysis, target)
    entries = effective_entries(analysis, target, paths, kind)
    passes_down = any(entry.passes_down for entry in entries)
    if passes_down:
        paths = analysis.topology.paths_through(target)
        entries = effective_entries(analysis, target, paths, kind)
    entries = tuple(entry for entry in entries if not entry.passes_down)
    carrying = frozenset(position for position, path in enumerate(paths) if analysis.topology.carries_traffic(path))
    upper = frozenset(node for path in paths for node in (_down_to(path, target) if passes_down else path))
    in_force: dict[int, None] = {}
    undecided: dict[int, None] = {}
    for entry in (entry for entry in entries if entry.path in carrying):
        resolution = entry.effective.resolution
        ours = {source for source in resolution.sources_in_force if source.object == policy and source.target in upper}
        if policy in resolution.policies_in_force and ours:
            is_undecided = bool(entry.doubt) or ours <= resolution.undecided
            (undecided if is_undecided else in_force)[entry.path] = None
    return EffectOn(
        paths=paths,
        carrying=carrying,
        in_force=tuple(in_force),
        undecided=tuple(position for position in undecided if position not in in_force),
        entries=entries,
        above=upper,
    )


def _down_to(path: Path, target: NodeRef) -> Path:
    deepest = max((position for position, node in enumerate(path) if node.object == target.object), default=len(path))
    return path[: deepest + 1]


class Case(Struct, frozen=True, dict=True):
    """A policy and a node on which it is to have an effect, in a world that was read, and its effect there."""

    analysis: Analysis
    policy: Resource
    target: NodeRef
    effect: EffectOn

    @cached_property
    def profile(self) -> PolicyKindProfile:
        """The profile of the policy's kind."""
        return self.analysis.registry.profile(self.policy.ref.group_kind)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The attachments of the policy, also the failed ones."""
        return self.analysis.attachments[self.policy.ref]

    @property
    def failing(self) -> list[Attachment]:
        """The failed ones by references of the policy's own."""
        failing = (attachment for attachment in self.attachments if attachment.state != "attached")
        return [attachment for attachment in failing if not attachment.declared.named_by]

    def read(self, *refs: ObjectRef) -> list[Resource]:
        """Those of some objects that were read."""
        return [resource for ref in refs if (resource := self.analysis.index.get(ref))]

    def schema_at(self, kind: GroupKind, field: FieldPath) -> Json:
        """Schema of a field in the definition of a kind; empty if the definition was not read."""
        schema: Json = self.analysis.index.defaults.schema_of(kind)
        for step in field.steps:
            schema = FieldPath(("properties", step)).get(schema)
        return schema


_MOST_NAMED: Final = 3


def reasons_of(case: Case) -> tuple[Reason, ...]:
    """Reasons why a policy has no effect on a node, or none on some of its paths; in causal order."""
    chain = _Chain(case)
    reasons = list(chain.on_other_paths() if case.effect.in_force else chain.at_all())
    if not reasons and not case.effect.in_force:
        reasons = [Reason("not-counted", "nothing that it sets counts there", case.policy.ref, field="spec")]
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
            yield missing_reference(self._analysis, self._policy)
            return
        near = [attachment for attachment in attachments if self._is_near(attachment)]
        for attachment in near:
            yield from self._of(attachment)
        if not near:
            beneath = [
                attachment
                for attachment in attachments
                if attachment.target and attachment.state == "attached"
                if any(self._target in path for path in self._analysis.topology.paths(attachment.target))
            ]
            yield from (_below(attachment, self._target) for attachment in beneath)
            yield from _elsewhere(self._case, [attachment for attachment in attachments if attachment not in beneath])

    def on_other_paths(self) -> Iterator[Reason]:
        """The reasons that hold on the paths on which the policy has nothing in force."""
        nodes = [
            reference.target
            for reference in self._case.attachments
            if reference.target and reference.state == "attached"
        ]
        for position, path in enumerate(self._effect.paths):
            if position not in self._effect.in_force:
                on_path = [node for node in nodes if node in path]
                if on_path:
                    reasons = self._on_path(position, on_path[-1])
                else:
                    reasons = iter([self._off_path("that path does not lead", nodes)])
                yield from (replace(reason, positions=(position,)) for reason in reasons)

    def _of(self, attachment: Attachment) -> Iterator[Reason]:
        """Reasons why an attachment to the node or to an ancestor has no effect."""
        node = attachment.target
        if node is None or attachment.state != "attached":
            yield attachment_reason(self._analysis, attachment)
            return
        if node.object == self._target.object and node.section and self._target.section not in {"", node.section}:
            message = f"its target is {node_phrase(node)}, and not {node_phrase(self._target)}"
            yield Reason("other-section", message, self._policy, field=f"{attachment.declared.field}.sectionName")
            return
        paths = self._effect.paths
        through = [position for position in sorted(self._effect.carrying) if node in paths[position]]
        for position in through:
            yield from self._on_path(position, node)
        if not through and node.object == self._target.object:
            silent = (path for position, path in enumerate(paths) if position not in self._effect.carrying)
            yield from (reason for path in silent for reason in no_traffic_reasons(self._analysis, path))
        elif not through:
            yield from self._not_led_to(node)

    def _on_path(self, position: int, node: NodeRef) -> Iterator[Reason]:
        """Reasons why the policy has nothing in force on a path with one of its targets."""
        path = self._effect.paths[position]
        if position not in self._effect.carrying:
            yield from no_traffic_reasons(self._analysis, path)
            return
        contributing = [
            entry
            for entry in self._effect.entries
            if entry.path == position
            and any(part.source.object == self._policy for part in entry.effective.resolution.contributions)
        ]
        for entry in contributing:
            yield from doubt_reasons(self._analysis, path, self._case.profile)
            yield from superseding_reasons(self._analysis, self._policy, entry.effective)
        if not contributing:
            yield self._replaced_by_section(path, node) or not_counted_reason(self._analysis, self._policy, path, node)

    def _off_path(self, phrase: str, nodes: Sequence[NodeRef]) -> Reason:
        names = " or ".join(dict.fromkeys(map(node_phrase, nodes)))
        return Reason("not-on-path", f"{phrase} through {names}", self._policy, related=tuple(nodes))

    def _not_led_to(self, node: NodeRef) -> list[Reason]:
        """Reasons why no path leads from a target of the policy to the node."""
        if self._is_direct:
            return [direct_policy_reason(self._analysis, self._policy, node)]
        reasons = [reason for route in self._routes for reason in self._along(route, node)]
        reasons += [
            reason for path in self._effect.paths if node in path for reason in no_traffic_reasons(self._analysis, path)
        ]
        if self._target.object.group_kind in LISTENER_SETS:
            reasons += self._listener_set(node)
        return reasons or [self._off_path(f"no path to {node_phrase(self._target)} leads", [node])]

    def _along(self, route: ObjectRef, node: NodeRef) -> Iterator[Reason]:
        """Reason why a path from a target by a route does not reach the node."""
        leads = any(node in path for path in self._analysis.topology.paths(NodeRef(route)))
        if node.object.group_kind in ABOVE_ROUTES and not leads:
            yield from parent_reasons(self._analysis, route, node)
        if self._target.object != route and (leads or route == node.object):
            yield from backend_reasons(self._analysis, route, self._target.object)

    def _listener_set(self, node: NodeRef) -> Iterator[Reason]:
        """Reason why a ListenerSet that names a Gateway is not below it."""
        gateway, listener_set = node.object, self._target.object
        if gateway.group_kind == GATEWAY and not self._analysis.topology.gateways.admits(gateway, listener_set):
            field, related = "spec.allowedListeners", (NodeRef(listener_set),)
            message = f"{gateway} does not allow {listener_set} to attach ({field})"
            yield Reason("listener-set-refused", message, gateway, field=field, related=related)

    def _replaced_by_section(self, path: Path, node: NodeRef) -> Reason | None:
        """Reason why a policy on a section stands in place of those on the whole object."""
        if self._is_direct and node.object != self._target.object:
            return None
        for section in path:
            if section.object == node.object and section.section and not node.section:
                for holder in self._analysis.resolver.policies_of_kind(section, self._policy.group_kind):
                    winner = f"{holder.ref} → {node_phrase(section)}"
                    message = f"{winner} stands there in place of all that is on {node_phrase(node)}"
                    related = (NodeRef(holder.ref), section)
                    return Reason("replaced-by-section", message, holder.ref, field="spec", related=related)
        return None

    @cached_property
    def _routes(self) -> tuple[ObjectRef, ...]:
        """The routes that requests to the node come by: itself, or those that name it as a backend, also in vain."""
        target, index = self._target.object, self._analysis.index
        if target.group_kind in ROUTES:
            return (target,)
        if target.group_kind in ABOVE_ROUTES:
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
        return bool(self._routes) and not self._is_direct and node.object.group_kind in LISTENER_HOLDERS

    @cached_property
    def _near(self) -> frozenset[ObjectRef]:
        """Ancestors of the node, also parents that its routes name and that do not take them."""
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


def _elsewhere(case: Case, attachments: Iterable[Attachment]) -> Iterator[Reason]:
    """Reasons why references of the policy name other objects than the node."""
    target, policy = case.target, case.policy.ref
    elsewhere: list[Attachment] = []
    for attachment in attachments:
        meant = _meant(attachment, target) if attachment.state != "attached" else None
        if meant is None and _names_something_else(attachment, target):
            elsewhere.append(attachment)
        else:
            yield meant or attachment_reason(case.analysis, attachment)
    for field in sorted({attached.declared.field for attached in elsewhere if attached.declared.selector is not None}):
        selected = [attached.target for attached in elsewhere if attached.declared.field == field]
        message = f"{field} selects {_listed(selected)}, and not {target.object}"
        yield Reason("not-selected", message, policy, field=field)
    by_name = [attached for attached in elsewhere if attached.declared.selector is None]
    if by_name:
        nodes = [attached.target for attached in by_name]
        verb = "its target is" if len({*nodes}) == 1 else "its targets are"
        first = by_name[0].declared
        holder = first.named_by or policy
        message = f"{verb} {_listed(nodes)}"
        yield Reason("other-target", message, holder, field=first.field, related=_distinct(nodes))


def _names_something_else(attachment: Attachment, target: NodeRef) -> bool:
    """Whether a reference is to something else than a node, and nothing depends on whether that was read.

    What was not read might lead to the node if it is of a kind further up.
    """
    node = attachment.target
    if attachment.state != "target unknown" or node is None or attachment.declared.selector is not None:
        return attachment.state == "attached"
    return layer_of(node.object.group_kind) >= layer_of(target.object.group_kind)


def _meant(attachment: Attachment, target: NodeRef) -> Reason | None:
    """A reference that would name a node if its group, or the namespace of the policy, were another one."""
    declared, node, wanted = attachment.declared, attachment.target, target.object
    if node is None or (node.object.kind, node.object.name) != (wanted.kind, wanted.name):
        return None
    if node.object.group_kind != wanted.group_kind:
        theirs, ours = (with_article(str(kind)) for kind in (node.object.group_kind, wanted.group_kind))
        message = f"it names {theirs}, and {wanted} is {ours}"
        return Reason("other-group", message, attachment.policy, field=f"{declared.field}.group", related=(node,))
    message = f"it names {node.object}, and the one that is meant is in namespace {shown_namespace(wanted.namespace)}"
    return Reason("other-namespace", message, attachment.policy, field=declared.field, related=(node,))


def _below(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to something below a node, which does not reach what is above it."""
    nodes = [attachment.target]
    message = f"its target {_listed(nodes)} is below {node_phrase(target)}, and policies only reach downward"
    field, related = attachment.declared.field, _distinct(nodes)
    return Reason("target-below", message, attachment.policy, field=field, related=related)


def _distinct(nodes: Sequence[NodeRef | None]) -> tuple[NodeRef, ...]:
    return tuple(dict.fromkeys(node for node in nodes if node))


def _listed(nodes: Sequence[NodeRef | None]) -> str:
    """The first few of some nodes and the number of the others."""
    names = [node_phrase(node) for node in _distinct(nodes)]
    remaining = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    shown = [*names[:_MOST_NAMED], *remaining]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
