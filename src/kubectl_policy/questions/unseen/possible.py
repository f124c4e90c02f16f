"""What may be otherwise, as something of a name, a label or a setting is yet to be filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.unknown import is_open, is_unfilled
from kubectl_policy.questions.unseen.things import FILL_IN, Unseen, unknown_targets
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.topology import Path


def possible_for(
    analysis: Analysis, subject: ObjectRef, paths: Iterable[Path], targeting: Iterable[Attachment]
) -> Iterator[Unseen]:
    """What may be related to an object and what is on its paths, as something is to be filled in."""
    if not analysis.has_placeholders:
        return
    below, objects = {subject: None}, {subject: None}
    for path in paths:
        on_path = [node.object for node in path]
        objects |= dict.fromkeys(on_path)
        below |= dict.fromkeys(on_path[on_path.index(subject) :] if subject in on_path else ())
    yield from _possible(analysis, objects, below)
    # A policy that is refused on one target may be refused on all.
    for policy in dict.fromkeys(attachment.policy for attachment in targeting):
        everywhere = analysis.registry.known(policy.group_kind).refusal == "everywhere"
        for attachment in analysis.attachments[policy] if everywhere else ():
            target = attachment.target.object if attachment.target else policy
            if is_open(target) or (analysis.index.get(target) is None and analysis.index.candidates(target)):
                yield from unknown_targets(analysis, [attachment])
            yield from _possibly_attached(analysis, target)


def possible_for_policy(analysis: Analysis, policy: ObjectRef, paths: Iterable[Path]) -> Iterator[Unseen]:
    """What may be related to what is above and below the targets of a policy, and other policies of its kind there."""
    named = [attachment.target for attachment in analysis.attachments[policy] if attachment.target]
    through = (path for target in named for path in analysis.topology.paths_through(target))
    objects = dict.fromkeys([policy, *(node.object for path in (*paths, *through) for node in path)])
    yield from _possible(analysis, objects, objects)
    for obj in objects:
        for attachment in analysis.possible_attachments.undecided_at(obj):
            if attachment.policy != policy and attachment.policy.group_kind == policy.group_kind:
                yield from unknown_targets(analysis, [attachment])


def possible_through(analysis: Analysis, node: NodeRef) -> Iterator[Unseen]:
    """What may be related to anything above or below a node, as something is to be filled in."""
    if analysis.has_placeholders:
        paths = analysis.topology.paths_through(node)
        objects = dict.fromkeys([node.object, *(each.object for path in paths for each in path)])
        yield from _possible(analysis, objects, objects)


def _possible(analysis: Analysis, objects: Collection[ObjectRef], below: Collection[ObjectRef]) -> Iterator[Unseen]:
    """What may be above some objects, or attached to them, and what may be directly below some of them."""
    for obj in objects:
        for what, message in analysis.topology.possible.around(obj):
            yield Unseen(what=str(what), reason=message, remedy=FILL_IN)
        for relation in analysis.topology.possible.below(obj) if obj in below else ():
            yield Unseen(what=str(relation.lower), reason=relation.message, remedy=FILL_IN)
        parents = {binding.parent for binding in analysis.topology.bindings(obj)} if obj.group_kind in ROUTES else ()
        for place in (obj, *sorted(set(parents).difference(objects))):
            yield from _possibly_attached(analysis, place)


def _possibly_attached(analysis: Analysis, obj: ObjectRef) -> Iterator[Unseen]:
    for attachment in analysis.possible_attachments.to(obj):
        reason = f"{attachment.declared.field} of {attachment.policy} may be about {obj}"
        yield Unseen(what=str(attachment.policy), reason=reason, remedy=FILL_IN)


def unfilled_settings(analysis: Analysis, policies: Iterable[ObjectRef]) -> Iterator[Unseen]:
    """The policies of which it is to be filled in how they combine with others, which comes first, or on which port."""
    for policy in dict.fromkeys(policies):
        profile = analysis.registry.known(policy.group_kind)
        fields = [FieldPath.parse(field) for field in (profile.strategy_field, profile.order_field) if field]
        if profile.port_field:
            fields.append(FieldPath.parse(f"spec.{profile.port_field.field}[].{profile.port_field.key}"))
        resource = analysis.index.get(policy) if fields else None
        for pattern in fields if resource else ():
            for field, found in pattern.each(resource.raw) if resource else ():
                if isinstance(found, str) and is_unfilled(found):
                    yield Unseen(what=str(policy), reason=f"its {field} is {found}", remedy=FILL_IN)
