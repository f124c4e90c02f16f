"""Description of an object, path by path: the settings in force with their sources, and those that do not apply."""

from __future__ import annotations

from itertools import chain, takewhile
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.attachment import MEANINGS, Call, SettingsReference
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY, ROUTES
from kubectl_policy.questions.blind_spots.answers import blind_spots_for
from kubectl_policy.questions.blind_spots.unknowns import unknown_parents
from kubectl_policy.questions.connections.backend_connections import BackendConnection, backend_connections
from kubectl_policy.questions.describe.description import (
    Description,
    IncomingRequests,
    PolicyInAnswer,
    policies_in,
    reports_on,
    requests_to,
)
from kubectl_policy.questions.describe.marks import Mark, blind_spots_of_marks, marks_of_unread
from kubectl_policy.questions.predicted_conditions import PolicyCondition, target_conditions
from kubectl_policy.questions.shared.effects import covered_paths, relevant_diagnostics
from kubectl_policy.questions.shared.failing_routes import FailingRoute, failing_through, possibly_failing_below
from kubectl_policy.questions.shared.in_force import InForce, effective_entries, group_entries, own_settings_entries
from kubectl_policy.questions.shared.not_looked_into import NotLookedInto, not_looked_into
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.questions.shared.possible_policies import PossiblePolicy, possible_policies
from kubectl_policy.topology import Path, why_too_wide
from kubectl_policy.topology.controllers import is_enabled, why_disabled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.fields import Role
    from kubectl_policy.questions.describe.description import Focus
    from kubectl_policy.questions.shared.in_force import Setting


_EXPECTED: Final = "The conditions that controllers of policy kinds should report on the subject; empty for most kinds."
_MARKS: Final = "Conditions and annotations that name unread policies of the subject or of an object above it."
_NOT_LOOKED_INTO: Final = "Referenced objects of unknown kinds on the paths; they may change any setting."


class Availability(Struct, frozen=True, kw_only=True):
    """Whether an object was read, and why not."""

    in_input: Annotated[bool, Meta(description="False if the object is referenced but not contained in the input.")]
    absent: str
    """Why an object that is not in the input was not read."""


class Targeting(Struct, frozen=True, kw_only=True):
    """The policies that target an object, and those that could."""

    attached: Annotated[
        tuple[ObjectRef, ...], Meta(description="The policies attached to the subject or to one of its sections.")
    ]
    targeted_by: Annotated[
        tuple[GroupKind, ...], Meta(description="The policy kinds that can target the kind of the subject.")
    ]


class Mentions(Struct, frozen=True, kw_only=True):
    """References to an object in the settings of policies."""

    called_by: Annotated[tuple[Call, ...], Meta(description="The policies that send their own requests to the object.")]
    referred_to_by: Annotated[
        tuple[SettingsReference, ...], Meta(description="The settings of policies that refer to the object.")
    ]


class UnknownInfluences(Struct, frozen=True, kw_only=True):
    """Marks and references by which something of unknown effect may affect an object."""

    marks: Annotated[tuple[Mark, ...], Meta(description=_MARKS)]
    not_looked_into: Annotated[tuple[NotLookedInto, ...], Meta(description=_NOT_LOOKED_INTO)]


class ObjectDescription(Description, frozen=True, kw_only=True):
    """The answer about an object that is not a policy."""

    subject: Annotated[NodeRef, Meta(description="The described object or section.")]
    availability: Annotated[Availability, "inline"]
    requests: Annotated[IncomingRequests, "inline"]
    targeting: Annotated[Targeting, "inline"]
    in_force: Annotated[tuple[InForce, ...], Meta(description="The settings in force, by policy kind and paths.")]
    sources: Annotated[
        tuple[PolicyInAnswer, ...], Meta(description="The policies in inForce, whether effective or superseded.")
    ]
    not_applying: Annotated[
        tuple[NotApplying, ...], Meta(description="The policies and parents that do not apply, with the reasons.")
    ]
    mentions: Annotated[Mentions, "inline"]
    failing: Annotated[
        tuple[FailingRoute, ...], Meta(description="The routes whose requests on these paths get an error response.")
    ]
    influences: Annotated[UnknownInfluences, "inline"]
    backend_connections: Annotated[
        tuple[BackendConnection, ...],
        Meta(description="The connections of Gateways to backends, as far as Pods and network policies were read."),
    ]
    possible: Annotated[
        tuple[PossiblePolicy, ...],
        Meta(description="The policies that affect the subject only if a route is attached, which is not known."),
    ]
    expected: Annotated[tuple[PolicyCondition, ...], Meta(description=_EXPECTED)]

    @property
    def found_nothing(self) -> bool:
        """Whether nothing is known to affect the object; of a route that is attached to nothing, nothing does."""
        is_idle = self.subject.object.group_kind in ROUTES and not self.requests.carries_traffic
        return not (is_idle or self.influences.marks or any(group.policies for group in self.in_force))

    @property
    def policies(self) -> Annotated[tuple[ObjectRef, ...], Meta()]:
        """The policies with at least one effective field on at least one path."""
        return self._with_role("policy")

    @property
    def filters_in_force(self) -> Annotated[tuple[ObjectRef, ...], Meta()]:
        """The filters of routes with at least one effective field on at least one path."""
        return self._with_role("filter")

    @property
    def parameters_in_force(self) -> Annotated[tuple[ObjectRef, ...], Meta()]:
        """The parameters of Gateways and GatewayClasses with at least one effective field."""
        return self._with_role("parameters")

    @property
    def filters(self) -> Annotated[tuple[NotLookedInto, ...], Meta()]:
        """The filters among notLookedInto."""
        return tuple(entry for entry in self.influences.not_looked_into if entry.as_ == "filter")

    def _with_role(self, role: Role) -> tuple[ObjectRef, ...]:
        groups = (group for group in self.in_force if group.profile.role == role)
        return tuple(sorted({ref for group in groups for ref in group.policies}))


def describe(analysis: Analysis, subject: NodeRef) -> ObjectDescription:
    """The answer for an object, or for one of its sections. Raises `NotFoundError` for what is not there."""
    analysis.require(subject)
    resource = analysis.index.get(subject.object)
    paths = covered_paths(analysis, subject)
    entries = effective_entries(analysis, subject, paths)
    in_force = group_entries(analysis, (*entries, *own_settings_entries(analysis, paths)), PathPhrases(paths))
    speaking = sorted(
        {source.object for group in in_force if not group.profile.route_settings for source in group.contest.order}
    )
    marks = marks_of_unread(analysis, subject, paths)
    # What no API serves cannot be there, or is taken to be there.
    is_virtual = any(attachment.virtual for attachment in analysis.attachments_to(subject.object))
    return ObjectDescription(
        subject=subject,
        availability=Availability(
            in_input=is_virtual or analysis.index.presence(subject.object) == "present",
            absent="" if resource else analysis.index.absence.reason(subject.object),
        ),
        origin=resource.origin if resource else None,
        paths=paths,
        requests=requests_to(analysis, subject, paths),
        targeting=_targeting(analysis, subject.object),
        in_force=in_force,
        sources=tuple(policies_in(analysis, speaking, paths)),
        not_applying=not_applying(analysis, subject, paths),
        mentions=Mentions(
            called_by=analysis.calls_to(subject.object), referred_to_by=analysis.references_to(subject.object)
        ),
        failing=tuple(failing_through(analysis, subject)),
        backend_connections=tuple(backend_connections(analysis, subject, paths)),
        influences=UnknownInfluences(marks=marks, not_looked_into=not_looked_into(analysis, subject, paths)),
        possible=possible_policies(analysis, subject, paths, {ref for group in in_force for ref in group.policies}),
        expected=tuple(target_conditions(analysis, subject)),
        reports=reports_on(analysis, subject.object),
        place=analysis.index.source,
        unseen=tuple(
            dict.fromkeys(
                (
                    *blind_spots_for(analysis, subject, paths),
                    *blind_spots_of_marks(analysis, marks),
                    *unknown_parents(analysis, possibly_failing_below(analysis, subject)),
                )
            )
        ),
        problems=relevant_diagnostics(analysis, subject, paths),
    )


def _targeting(analysis: Analysis, obj: ObjectRef) -> Targeting:
    kind = obj.group_kind
    attached = {attachment.policy for attachment in analysis.attachments_to(obj) if attachment.state == "attached"}
    kinds = {profile.group_kind for profile in analysis.registry.policy_kinds if kind in profile.declared_targets}
    kinds |= analysis.attachments.kinds_about(kind)
    return Targeting(attached=tuple(sorted(attached)), targeted_by=tuple(sorted(kinds)))


def narrowed(answer: ObjectDescription, focus: Focus) -> ObjectDescription:
    """The answer about an object with the kinds and fields alone that are asked for."""
    if not (focus.kinds or focus.fields):
        return answer
    groups = [group for group in answer.in_force if focus.has_kind(group.kind)]
    groups = [_narrowed(group, focus) for group in groups] if focus.fields else groups
    in_force = tuple(group for group in groups if not focus.fields or group.settings or group.without_effect)
    speaking = {source.object for group in in_force for source in group.contest.order}
    return replace(
        answer,
        in_force=in_force,
        targeting=replace(
            answer.targeting, attached=tuple(ref for ref in answer.targeting.attached if focus.has_kind(ref.group_kind))
        ),
        not_applying=tuple(
            policy for policy in answer.not_applying if policy.policy and focus.has_kind(policy.policy.group_kind)
        ),
        sources=tuple(policy for policy in answer.sources if policy.policy in speaking),
        mentions=replace(
            answer.mentions,
            called_by=tuple(call for call in answer.mentions.called_by if focus.has_kind(call.policy.group_kind)),
        ),
        expected=(),
        focus=focus,
        influences=replace(
            answer.influences, marks=tuple(mark for mark in answer.influences.marks if focus.has_kind(mark.policy_kind))
        ),
        possible=tuple(possible for possible in answer.possible if focus.has_kind(possible.policy.group_kind)),
    )


def _narrowed(group: InForce, focus: Focus) -> InForce:
    """A group with some of its fields, and the policies that set these."""
    settings, without_effect = focus.of(group.settings), focus.of(group.without_effect)
    speaking = {setting.source for setting in settings} | {fate.source for fate in without_effect}
    speaking |= {fate.source for setting in settings for fate in setting.instead_of}
    speaking |= {source for fate in without_effect for source in fate.superseded_by}
    policies = {setting.source.object for setting in settings}
    return replace(
        group,
        settings=settings,
        without_effect=without_effect,
        policies=tuple(ref for ref in group.policies if ref in policies),
        undecided=tuple(ref for ref in group.undecided if ref in policies),
        contest=replace(group.contest, order=tuple(source for source in group.contest.order if source in speaking)),
        summary=tuple(_phrase(setting) for setting in settings),
    )


def _phrase(setting: Setting) -> str:
    plain = isinstance(setting.value, str | int | float) and not isinstance(setting.value, bool)
    return f"{setting.field} {setting.value}" if plain else setting.field


class NotApplying(Struct, frozen=True, kw_only=True):
    """A policy or a parent that does not apply to the subject, and why."""

    policy: Annotated[ObjectRef | None, Meta(description="The policy; null for objects beyond the target.")]
    target: Annotated[
        NodeRef | None, Meta(description="The target of the policy, or the node to which the subject is not attached.")
    ]
    message: Annotated[str, Meta(description="The reason, for people.")]
    reason: Annotated[str, Meta(description="The reason as the API spells it; empty if the API defines none.")] = ""


def not_applying(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...]) -> tuple[NotApplying, ...]:
    """Everything that one might expect to apply, in a stable order, each once."""
    expected = (
        *_refused_parents(analysis, subject),
        *_not_delegated(analysis, subject),
        *_not_counting(analysis, subject, paths),
        *_failed_attachments(analysis, subject),
    )
    return tuple(dict.fromkeys(expected))


def _escaped(
    analysis: Analysis, refusing: NodeRef, nodes: Iterable[NodeRef], why: str, reason: str
) -> list[NotApplying]:
    """The policies on nodes that a route does not hang on; if there are none, that it does not hang on the place."""
    policies = [(policy.ref, node) for node in nodes for policy in analysis.resolver.policies_at(node)]
    escaped: Sequence[tuple[ObjectRef | None, NodeRef]] = policies or [(None, refusing)]
    return [NotApplying(policy=policy, target=node, message=why, reason=reason) for policy, node in escaped]


def _refused_parents(analysis: Analysis, subject: NodeRef) -> Iterator[NotApplying]:
    """The listeners that a route names and is not attached to, with the policies that it escapes by that."""
    bindings = analysis.topology.all_bindings(subject.object)
    attached = {binding.listener for binding in bindings if binding.state == "attached"}
    reached = {node.object for node in attached if node}
    delegating = {delegation.parent.object for delegation in analysis.topology.relations.delegations_to(subject.object)}
    for binding in bindings:
        elsewhere = (binding.listener and binding.listener in attached) or binding.parent in delegating
        if binding.state != "refused" or elsewhere:
            continue
        refusing = binding.listener or NodeRef(binding.parent)
        nodes = dict.fromkeys([refusing] if refusing.object in reached else [refusing, NodeRef(refusing.object)])
        # Also for a policy on the whole Gateway, the answer names the listener that the route is not attached to.
        for escaped in _escaped(analysis, refusing, nodes, binding.message, binding.reason):
            yield replace(escaped, target=refusing)


def _not_delegated(analysis: Analysis, subject: NodeRef) -> Iterator[NotApplying]:
    """The rules of other routes that refer to a route and do not reach it, or not all of its rules."""
    delegations = analysis.topology.relations.delegations_to(subject.object)
    reached = {delegation.parent.object for delegation in delegations if delegation.is_accepted}
    cut_off = analysis.topology.relations.delegations.unreached_rules
    rules = [subject.section] if subject.section else analysis.topology.sections(subject.object)
    for delegation in (delegation for delegation in delegations if delegation.parent.object != subject.object):
        if delegation.is_accepted:
            for rule in (rule for rule in rules if NodeRef(subject.object, rule) in cut_off):
                message = f"no request from there reaches {rule}, whose matches lie outside"
                yield NotApplying(policy=None, target=delegation.parent, message=message)
        else:
            parent = delegation.parent
            nodes = [parent] if parent.object in reached else [parent, NodeRef(parent.object)]
            yield from _escaped(analysis, parent, nodes, delegation.message, delegation.reason)


def _policies_on(
    analysis: Analysis, nodes: Iterable[NodeRef]
) -> Iterator[tuple[NodeRef, ObjectRef, PolicyKindProfile]]:
    for node in nodes:
        for policy in analysis.resolver.policies_at(node):
            yield node, policy.ref, analysis.registry.profile(policy.ref.group_kind)


def _not_counting(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...]) -> Iterator[NotApplying]:
    """Direct policies above the subject, policies that hostnames rule out, and those that Gateways do not enable."""
    ancestors = (takewhile(lambda node: node.object != subject.object, path) for path in paths)
    for node, policy, profile in _policies_on(analysis, dict.fromkeys(chain.from_iterable(ancestors))):
        if profile.policy_class == "direct" and profile.role == "policy":
            message = f"{policy.kind} is {profile.class_phrase}: it applies only to its target, not to what is below it"
            yield NotApplying(policy=policy, target=node, message=message)
    for path in paths:
        why = why_too_wide(analysis.topology, path)
        for node, policy, profile in _policies_on(analysis, path if why else ()):
            if profile.hostnames == "inside":
                message = f"{policy.kind} counts only for hostnames inside the listener's, and {why}"
                yield NotApplying(policy=policy, target=node, message=message)
    for path in paths:
        for gateway in (node.object for node in path if node.object.group_kind == GATEWAY and not node.section):
            for node, policy, profile in _policies_on(analysis, path):
                enabling = profile.enabled_by
                if enabling and is_enabled(analysis.topology, gateway, enabling) is False:
                    message = f"not through {gateway}, since {why_disabled(analysis.topology, gateway, enabling)}"
                    yield NotApplying(policy=policy, target=node, message=message)


def _failed_attachments(analysis: Analysis, subject: NodeRef) -> Iterator[NotApplying]:
    for attachment in analysis.attachments_to(subject.object):
        meaning = MEANINGS[attachment.state]
        if attachment.state != "attached" and meaning.known:
            yield NotApplying(
                policy=attachment.policy,
                target=attachment.target,
                message=attachment.message,
                reason=meaning.api_reason,
            )
