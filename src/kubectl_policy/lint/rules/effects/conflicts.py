"""GWP2001 and GWP2002: policies that want the same target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lint.facts.losses import by_winner
from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.kinds import plural
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.resolution import order_unknown
from kubectl_policy.resolution.precedence import numbers_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_policy.lint.facts.losses import Loss, Losses
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.resolution.enforcement import Enforcement


@lint_rule("GWP2001", "error", "profile")
def same_target_conflict(world: Linted) -> Iterator[Finding]:
    """A policy is refused, since its target takes one policy of the kind and has another one.

    All that it says has no effect there, and nothing tells so but its status (`Accepted=False` with reason
    `Conflicted`). The older one counts: whoever creates that again, as when it moves to another repository, turns this
    around. Where a kind lets several policies share a target as long as they set different fields, it is found where
    they set the same one. Of a kind without a profile it is not known how many policies a target takes.

    Put both into one policy, or let them have different targets.

    Source: GEP-713, "Merge strategies" (None) and "Conflict resolution"; PolicyReasonConflicted (Gateway API,
    apis/v1/policy_types.go).
    """
    for policy, enforcement in world.enforcements:
        for holder, places in grouped(_kept_out(world, policy.ref)).items():
            yield _refused(world, policy, holder, places)
        if enforcement.state in {"Conflicted", "PartiallyEnforced", "Overridden"}:
            rejected = grouped(_rejected(policy.ref, enforcement))
            profile = world.registry.known(policy.ref.group_kind)
            for holder, places in rejected.items():
                if assumed_of(profile, enforcement.resolutions):
                    message = f"{holder} is there as well, and how {plural(policy.ref.kind)} combine is not known"
                    yield world.unknown(policy, "spec", message)
                else:
                    yield _refused(world, policy, holder, places)


def _kept_out(world: Linted, policy: ObjectRef) -> Iterator[tuple[ObjectRef, _Meeting]]:
    """Who keeps a policy out of targets that take one alone, or one for each field; also where no requests come."""
    if world.registry.known(policy.group_kind).same_level in {"one-applies", "disjoint"}:
        for attachment in world.analysis.attachments[policy]:
            target = attachment.target if attachment.state == "attached" else None
            refusal = world.analysis.resolver.refusal(policy, target) if target else None
            if target and refusal:
                yield refusal.holder, _Meeting(target, refusal.target, refusal.field)


def _rejected(policy: ObjectRef, enforcement: Enforcement) -> Iterator[tuple[ObjectRef, _Meeting]]:
    """Who else rejects it, as policies of the kind never combine."""
    for resolution in enforcement.resolutions:
        parts = resolution.contributions_of.get(policy, ()) if resolution.rejected else ()
        # There may be thousands of policies, of which all but one are refused.
        sources = (part.source for part in parts)
        for source in [each for each in sources if each in resolution.rejected and each not in resolution.kept_out]:
            first = next(each.source for each in resolution.contributions if each.source in resolution.members)
            yield first.object, _Meeting(source.target, first.target, "")


class _Meeting(Struct, frozen=True, gc=False):
    """A target of a policy, the one on which it meets another one, and the field that both set, if that matters."""

    own: NodeRef
    at: NodeRef
    field: str


def _refused(world: Linted, policy: Resource, holder: ObjectRef, places: Sequence[_Meeting]) -> Finding:
    kind, other = policy.ref.kind, world.index.get(holder)
    profile = world.registry.known(policy.ref.group_kind)
    meeting = list(dict.fromkeys(each.at for each in places))
    fields = sorted({each.field for each in places if each.field})
    where = some([node_phrase(at) for at in meeting])
    if fields:
        what = f"{holder} sets {some(fields)} on {where} as well, where one {kind} may do that"
    elif any(each.own == each.at for each in places):
        what = f"{holder} targets {where} as well, which {'takes' if len(meeting) == 1 else 'take'} one {kind}"
    else:
        what = f"{holder} on {where} leaves no room for another {kind} below"
    if other and order_unknown([policy, other], profile):
        result = "the older one counts, and the other one is refused (manifests do not say which that is)"
    else:
        scope = "everywhere" if profile.refusal == "everywhere" else "there"
        result = f"that one comes first, and this one is refused {scope}"
    targets = {each.own for each in places}
    return Finding(
        subject=policy.ref,
        field=_reference_to(world, policy.ref, targets),
        message=f"{what}: {result}",
        reason="Conflicted",
        related=(world.related(holder, "the other one", _reference_to(world, holder, {*meeting})),),
        fix=Fix(words="put both into one policy, or give them different targets"),
    )


def _reference_to(world: Linted, policy: ObjectRef, targets: Collection[NodeRef]) -> str:
    """The reference of a policy to the first of some targets; its spec if other objects name it."""
    every = world.analysis.attachments.get(policy, ())
    own = (each.declared.field for each in every if each.target in targets and not each.declared.named_by)
    return next(own, "spec")


@lint_rule("GWP2002", "warning", "profile")
def conflict_decided_by_age(world: Linted) -> Iterator[Finding]:
    """Two policies set the same field of the same target, and nothing but their age decides which of them counts.

    It holds until one of them is created again, as by a restored backup or a new cluster; then the other one counts.
    In manifests, which have no creation time, it cannot be told which one that is. Where the two set the same value
    there is nothing to decide.

    Set the field in one of them.

    Source: GEP-713, "Conflict resolution".
    """
    for losses in world.losses:
        profile = losses.profile
        if losses.are_certain:
            there = [loss for loss in losses.all if loss.how == "on the same target" and loss.instead != "the same"]
            for (winner, target), lost in by_winner(there).items():
                other = world.index.get(winner)
                if other and numbers_of(losses.policy, profile) == numbers_of(other, profile):
                    yield _by_age(world, losses, other, target, lost)


def _by_age(world: Linted, losses: Losses, other: Resource, target: NodeRef, lost: Sequence[Loss]) -> Finding:
    policy, fields = losses.policy, some(losses.names(lost))
    if order_unknown([policy, other], losses.profile):
        result = "which of the two counts is decided by their age, and manifests do not say that"
    else:
        older, newer = (policy, other) if policy.seniority < other.seniority else (other, policy)
        reason = "its name" if older.created == newer.created else "being newer" if other is newer else "being older"
        result = f"it counts for nothing but {reason}"
    return Finding(
        subject=policy.ref,
        field=losses.place(lost),
        message=f"{other.ref} sets {fields} on {node_phrase(target)} too: {result}",
        related=(world.related(other.ref, "the other one", "spec"),),
    )
