"""Policies that conflict, and settings that are overridden (GWP2001 to GWP2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lint.finding import Finding, Fix, before_change, some
from kubectl_policy.lint.losses import Loss, Losses, by_winner, field_group
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.kinds import plural
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.resolution import field_name, order_unknown
from kubectl_policy.resolution.precedence import numbers_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.enforcement import Enforcement


@lint_rule("GWP2001", "error", "profile")
def same_target_conflict(world: LintWorld) -> Iterator[Finding]:
    """A policy is refused because its target accepts one policy of the kind and already has another one.

    Nothing that the policy sets has an effect there, and only its status says so (`Accepted=False`, reason
    `Conflicted`). The older policy wins: recreating it, for example by moving it to another repository, reverses the
    result. If a kind allows several policies on a target as long as they set different fields, the rule reports
    policies that set the same field. For a kind without a profile, it is unknown how many policies a target accepts.

    Combine both in one policy, or use different targets.

    Source: GEP-713, "Merge strategies" (None) and "Conflict resolution"; PolicyReasonConflicted (Gateway API,
    apis/v1/policy_types.go).
    """
    for policy, enforcement in world.enforcements:
        for holder, meetings in grouped(_keeping_out(world, policy.ref)).items():
            yield _refused(world, policy, holder, meetings)
        if enforcement.state in {"Conflicted", "PartiallyEnforced", "Overridden"}:
            rejected = grouped(_rejecting(policy.ref, enforcement))
            profile = world.registry.profile(policy.ref.group_kind)
            for holder, meetings in rejected.items():
                if assumed_of(profile, enforcement.resolutions):
                    message = f"{holder} is there as well, and how {plural(policy.ref.kind)} combine is not known"
                    yield world.unknown(policy, "spec", message)
                else:
                    yield _refused(world, policy, holder, meetings)


def _keeping_out(world: LintWorld, policy: ObjectRef) -> Iterator[tuple[ObjectRef, _Meeting]]:
    """Yield the policies that keep a policy out of targets that accept one, in total or for each field."""
    if world.registry.profile(policy.group_kind).same_level in {"one-applies", "disjoint"}:
        for attachment in world.analysis.attachments[policy]:
            target = attachment.target if attachment.state == "attached" else None
            refusal = world.analysis.resolver.refusal(policy, target) if target else None
            if target and refusal:
                yield refusal.holder, _Meeting(target, refusal.target, refusal.field)


def _rejecting(policy: ObjectRef, enforcement: Enforcement) -> Iterator[tuple[ObjectRef, _Meeting]]:
    """Yield the policies that reject a policy of a kind whose policies never combine."""
    for resolution in enforcement.resolutions:
        parts = resolution.contributions_of.get(policy, ()) if resolution.rejected else ()
        # There may be thousands of policies, of which all but one are refused.
        sources = (part.source for part in parts)
        for source in [
            source for source in sources if source in resolution.rejected and source not in resolution.refusals
        ]:
            first = next(part.source for part in resolution.contributions if part.source in resolution.members)
            yield first.object, _Meeting(source.target, first.target, "")


class _Meeting(Struct, frozen=True, gc=False):
    """A target of a policy, the target on which it meets another one, and the contested field if it matters."""

    target: NodeRef
    at: NodeRef
    field: str


def _refused(world: LintWorld, policy: Resource, holder: ObjectRef, meetings: Sequence[_Meeting]) -> Finding:
    kind, rival = policy.ref.kind, world.index.get(holder)
    profile = world.registry.profile(policy.ref.group_kind)
    meeting = list(dict.fromkeys(meeting.at for meeting in meetings))
    fields = sorted({meeting.field for meeting in meetings if meeting.field})
    where = some([node_phrase(at) for at in meeting])
    if fields:
        clash = f"{holder} sets {some(fields)} on {where} as well, where one {kind} may do that"
    elif any(meeting.target == meeting.at for meeting in meetings):
        clash = f"{holder} targets {where} as well, which {'takes' if len(meeting) == 1 else 'take'} one {kind}"
    else:
        clash = f"{holder} on {where} allows no other {kind} below it"
    if rival and order_unknown([policy, rival], profile):
        result = "the older one counts, and the other one is refused (manifests do not say which that is)"
    else:
        scope = "everywhere" if profile.refusal == "everywhere" else "there"
        base = before_change(rival, policy) if rival else ""
        result = f"that one comes first{base}, and this one is refused {scope}"
    targets = {meeting.target for meeting in meetings}
    return Finding(
        subject=policy.ref,
        field=_reference_to(world, policy.ref, targets),
        message=f"{clash}: {result}",
        reason="Conflicted",
        related=(world.related(holder, "the other one", _reference_to(world, holder, {*meeting})),),
        fix=Fix(words="put both into one policy, or give them different targets"),
    )


def _reference_to(world: LintWorld, policy: ObjectRef, targets: Collection[NodeRef]) -> str:
    """Return the field of a policy that refers to one of some targets, or `spec` if other objects name it."""
    every = world.analysis.attachments.get(policy, ())
    direct = (attachment for attachment in every if not attachment.declared.named_by)
    fields = (attachment.declared.field for attachment in direct if attachment.target in targets)
    return next(fields, "spec")


@lint_rule("GWP2002", "warning", "profile")
def conflict_decided_by_age(world: LintWorld) -> Iterator[Finding]:
    """Two policies set the same field of the same target, and only their age decides which one wins.

    The result lasts until one of them is recreated, for example by a restored backup or in a new cluster; then the
    other one wins. Manifests have no creation time, so the winner is unknown. Two policies that set the same value are
    not reported.

    Set the field in one of the policies.

    Source: GEP-713, "Conflict resolution".
    """
    for losses in world.losses:
        profile = losses.profile
        if losses.are_certain:
            met = (loss for loss in losses.all if loss.cause == "on the same target")
            contested = [loss for loss in met if loss.replacement != "the same"]
            for (winner, target), lost in by_winner(contested).items():
                rival = world.index.get(winner)
                if rival and numbers_of(losses.policy, profile) == numbers_of(rival, profile):
                    yield _by_age(world, losses, rival, target, lost)


def _by_age(world: LintWorld, losses: Losses, rival: Resource, target: NodeRef, lost: Sequence[Loss]) -> Finding:
    policy, fields = losses.policy, some(losses.names(lost))
    if order_unknown([policy, rival], losses.profile):
        result = "which of the two counts is decided by their age, and manifests do not say that"
    else:
        older, newer = (policy, rival) if policy.seniority < rival.seniority else (rival, policy)
        reason = "being newer" if rival is newer else "being older"
        if older.is_added == newer.is_added and older.created == newer.created:
            reason = "its name"
        result = f"it counts for nothing but {reason}{before_change(older, newer) if rival is older else ''}"
    return Finding(
        subject=policy.ref,
        field=losses.field_of(lost),
        message=f"{rival.ref} sets {fields} on {node_phrase(target)} too: {result}",
        related=(world.related(rival.ref, "the other one", "spec"),),
    )


@lint_rule("GWP2003", "warning", "closed world", "profile")
def fully_overridden(world: LintWorld) -> Iterator[Finding]:
    """Nothing that a policy sets is in force anywhere, because other policies take its place.

    The policy looks enforced but is not. This happens to a default on a Gateway when every route has a policy of its
    own. Other rules report overrides from above (GWP2007), other policies on the same target (GWP2001, GWP2002), and
    policies that repeat values that are in force anyway (GWP2015). If the input may be incomplete, there may be routes
    without a policy of their own elsewhere.

    Delete the policy, or merge it with the policies that override it.

    Source: GEP-713, "Policy status" (Overridden).
    """
    for losses in world.losses:
        if losses.enforcement.state == "Overridden":
            if not losses.are_certain:
                by, kinds = some(losses.enforcement.by), plural(losses.policy.ref.kind)
                message = f"{by} may take precedence over it: how {kinds} combine is not known"
                yield world.unknown(losses.policy, "spec", message)
            elif not losses.causes <= {"on the same target"} and losses.causes != frozenset({"overridden"}):
                yield _overridden(world, losses)


def _overridden(world: LintWorld, losses: Losses) -> Finding:
    policy, by = losses.policy.ref, losses.enforcement.by
    if len(by) == 1:
        why = why_without_effect(world.analysis, policy, 1)[0].message
    else:
        why = f"{some(by)} are in force instead"
    return Finding(
        subject=policy,
        message=f"nothing of it is in force: {why}",
        certain=world.has_all(*ROUTES) or _knows_all_paths(world, policy),
        related=world.related_to(by, "is in force instead"),
    )


def _knows_all_paths(world: LintWorld, policy: ObjectRef) -> bool:
    """Whether all paths to the targets of a policy are known, even in an open world."""
    targets = [attachment.target.object for attachment in world.analysis.attachments[policy] if attachment.target]
    bindings = (binding for target in targets for binding in world.relations.bindings(target))
    return world.registry.profile(policy.group_kind).policy_class == "direct" or (
        all(target.group_kind in ROUTES for target in targets)
        and not any(binding.state == "unknown" for binding in bindings)
    )


@lint_rule("GWP2004", "info", "profile")
def partially_overridden(world: LintWorld) -> Iterator[Finding]:
    """Settings of a policy are not in force for some of the objects that it reaches.

    This is the purpose of defaults. The finding helps if you assume that all objects have the settings: it names the
    objects that do not, and the policies that override them. Other rules report an override from above that applies
    everywhere (GWP2007), another policy on the same target (GWP2001, GWP2002), and a policy that sets nothing
    (GWP2006).

    Source: GEP-713, "Policy status" (PartiallyEnforced); PartiallyProgrammed in later texts.
    """
    for losses in world.losses:
        if losses.enforcement.state == "PartiallyEnforced" and losses.are_certain:
            dead = {loss.field for loss in losses.overridden_everywhere}
            lost = [
                loss
                for loss in losses.all
                if loss.replacement in {"another", "nothing"}
                and loss.cause != "on the same target"
                and loss.field not in dead
                and not _says_nothing(loss)
            ]
            if not lost:
                continue
            objects, by, names = losses.objects(lost), sorted({loss.by.object for loss in lost}), losses.names(lost)
            takes = "their own settings take" if {*by} <= {*objects} else f"{some(by)} {_verb(by, 'takes', 'take')}"
            instead = f"{takes} {_verb(names, 'its', 'their')} place"
            yield Finding(
                subject=losses.policy.ref,
                field=losses.field_of(lost),
                message=f"{some(names)} {_verb(names)} not in force for {some(objects)}: {instead}",
                related=world.related_to(by, "is in force instead"),
            )


@lint_rule("GWP2005", "warning", "profile", guards=True)
def silent_field_drop(world: LintWorld) -> Iterator[Finding]:
    """A policy replaces a policy above it as a whole, and thereby drops settings that protect requests.

    No status reports the dropped settings: a policy that adds CORS to a route removes the JWT authentication of the
    whole Gateway from it. The profile of the kind says which settings protect requests. A setting that has another
    value in the nearer policy is not dropped, and settings in `defaults` are meant to be replaced. GWP2006 reports a
    policy that sets nothing at all, which is how people opt out.

    Repeat the settings that should stay, or merge the two policies if the kind supports it.

    Source: envoyproxy/gateway#8781; envoyproxy/ai-gateway#2622.
    """
    for losses in world.losses:
        if losses.profile.security_fields and losses.are_certain:
            unprotected = filter(losses.is_protection_dropped, losses.all)
            dropped = [loss for loss in unprotected if not _says_nothing(loss)]
            for (winner, _), lost in by_winner(dropped).items():
                policy = losses.policy.ref
                parts = list(dict.fromkeys(field_name(field_group(loss.field, losses.profile)) for loss in lost))
                names, verb = some(parts), _verb(parts)
                where = some(losses.objects(lost))
                yield Finding(
                    subject=winner,
                    field="spec",
                    message=f"replaces {policy} as a whole, so that its {names} {verb} lost for {where}",
                    related=(world.related(policy, "sets it", losses.field_of(lost)),),
                    fix=_merging(losses, lost),
                )


def _merging(losses: Losses, lost: Sequence[Loss]) -> Fix | None:
    """Return the fix that makes two policies merge, or None if the kind has none."""
    profile = losses.profile
    values = {strategy: value for value, strategy in sorted(profile.strategy_values.items()) if strategy.patches_above}
    if profile.chooser == "challenger" and values and all(_merges_at(profile, loss) for loss in lost):
        value = values.get(MergeStrategy.STRATEGIC_MERGE) or next(iter(values.values()))
        return Fix(words=f"{profile.strategy_field}: {value} lets it add to {losses.policy.ref}")
    if profile.chooser == "established" and profile.stanzas == "plural":
        value = profile.stanza_merge or "patch"
        return Fix(words=f"defaults with strategy: {value} in {losses.policy.ref} let others add to it")
    return None


def _merges_at(profile: PolicyKindProfile, loss: Loss) -> bool:
    """Whether the nearer of two policies may merge with the one that it replaces."""
    levels = profile.merge_parents
    return not levels or (
        any(level.includes(loss.leaf.source.target) for level in levels)
        and not any(level.includes(loss.by.target) for level in levels)
    )


@lint_rule("GWP2006", "info", "profile")
def default_taken_away(world: LintWorld) -> Iterator[Finding]:
    """A policy sets nothing, or null, and thereby removes settings of a policy above it.

    This is how people opt out of a default, because there is no other way: an empty policy on a route disables the
    policy of the Gateway, including settings that are added to it later. Readers of the Gateway's policy do not see
    this.

    If it is intended, say so in the manifest and suppress the finding there.

    Source: envoyproxy/gateway#4892; envoyproxy/gateway#6625; RFC 7386, for null.
    """
    for losses in world.losses:
        if losses.are_certain:
            away = (
                loss
                for loss in losses.all
                if loss.replacement == "removed" or (loss.cause == "nearer" and _says_nothing(loss))
            )
            for (winner, _), lost in by_winner(away).items():
                policy, first = losses.policy.ref, lost[0]
                removed = first.replacement == "removed"
                fields = dict.fromkeys(field_name(loss.field) for loss in lost)
                does = f"sets {some(fields)} to null" if removed else "sets nothing"
                settings = "what" if removed else f"{some(losses.names(lost))}, which"
                where = some(losses.objects(lost))
                parts = (part for part in first.resolution.contributions if part.source == first.by and part.spec)
                spec = next((part.field for part in parts), "spec")
                yield Finding(
                    subject=winner,
                    field=f"{spec}.{field_name(first.field)}" if removed else "spec",
                    message=f"{does}, and so takes away {settings} {policy} sets for {where}",
                    related=(world.related(policy, "sets it", losses.field_of(lost)),),
                )


def _says_nothing(loss: Loss) -> bool:
    """Whether the winner takes part without declaring any field."""
    specs = [part.spec for part in loss.resolution.contributions if part.source == loss.by]
    return bool(specs) and not any(specs)


@lint_rule("GWP2007", "warning", "profile")
def override_shadows_lower(world: LintWorld) -> Iterator[Finding]:
    """Settings of a policy have no effect: a policy above overrides them on every path.

    Changing these settings changes nothing. A policy can be overridden as a whole or field by field.

    Remove the settings, or ask the owners of the policy above to set defaults instead.

    Source: GEP-713, "Merge strategies" (Atomic overrides, Patch overrides).
    """
    for losses in world.losses:
        dead = losses.overridden_everywhere if losses.are_certain else ()
        is_whole = losses.enforcement.state == "Overridden"
        if dead and not (is_whole and losses.causes != frozenset({"overridden"})):
            by = sorted({loss.by.object for loss in dead})
            names = losses.names(dead)
            dead_part = "nothing of it is" if is_whole else f"{some(names)} {_verb(names)} nowhere"
            yield Finding(
                subject=losses.policy.ref,
                field=losses.field_of(dead),
                message=f"{dead_part} in force: {some(by)} {_verb(by, 'overrides', 'override')} that from above",
                certain=world.has_all(*ROUTES) or _knows_all_paths(world, losses.policy.ref),
                related=world.related_to(by, "overrides it"),
            )


def _verb(subjects: Sequence[object], singular: str = "is", plural: str = "are") -> str:
    return singular if len(subjects) == 1 else plural
