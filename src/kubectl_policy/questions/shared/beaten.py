"""Why a policy that takes part on a path has no part in what is in force there: who beats it, how, and in what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import FieldPath, value_at
from kubectl_policy.model.kinds import plural
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.questions.shared.reasons import Reason, named
from kubectl_policy.resolution.traced import field_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import EffectivePolicy, Fate, Source

MERGING: Final = frozenset({MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE})


def lost_to_others(analysis: Analysis, policy: ObjectRef, effective: EffectivePolicy) -> Iterator[Reason]:
    """Why a policy, which contributes to an outcome, has no part in what is in force."""
    resolution, fates = effective.resolution, effective.resolution.fates_of.get(policy, ())
    if policy in resolution.policies_undecided:
        others = sorted({source.object for source in resolution.undecided} - {policy})
        verb, kinds = "sets" if len(others) == 1 else "set", plural(policy.kind)
        message = f"{' and '.join(map(str, others))} {verb} other fields, and how {kinds} combine is not known"
        yield Reason("combination-unknown", message, policy, field="spec", related=tuple(map(NodeRef, others)))
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
        profile = analysis.registry.known(policy.group_kind).at(kind)
        uncounted = not any(profile.counts(fate.field) for fate in ignored)
        what = f"{'do not' if len(ignored) > 1 else 'does not'} count on {plural(kind.kind)}"
        message = f"{_fields(ignored)} {what}" if uncounted else f"controllers ignore {_fields(ignored)} there"
        yield Reason("unheeded", message, policy, field=f"spec.{ignored[0].field}")


def _lost_to(analysis: Analysis, winner: Source, lost: Sequence[Fate], effective: EffectivePolicy) -> Reason:
    """Why fields of the policy are superseded, or all of it is replaced or refused, in favour of another source."""
    own = lost[0].source
    who, related = f"{winner.object} → {named(winner.target)}", (NodeRef(winner.object), winner.target)
    if lost[0].state == "rejected":
        refusal = effective.resolution.kept_out.get(own)
        what = f"a common field, {refusal.field}" if refusal and refusal.field else "that target already"
        message = f"{who} has {what}, and of two on one target this one is refused"
        return Reason("refused", message, winner.object, field="spec", reason="Conflicted", related=related)
    rule, words = _how_beaten(winner, lost, effective, analysis.registry.known(effective.resolution.kind))
    if winner.object == winner.target.object:
        return Reason("superseded", words, winner.object, field="spec", related=related)
    message = f"{who}{words}"
    # The same field of the stanza that does it or, without one, the stanza.
    own_parts = effective.resolution.contributions_of.get(winner.object, ())
    stanza = next((part.field for part in own_parts if part.source == winner), "spec")
    field = f"{stanza}.{lost[0].field}"
    there = value_at(analysis.index.raw(winner.object), field) is not None
    return Reason(rule, message, winner.object, field=field if there else stanza, related=related)


def _how_beaten(
    winner: Source, lost: Sequence[Fate], effective: EffectivePolicy, profile: PolicyKindProfile
) -> tuple[str, str]:
    """The rule by which one source beats another one, and how: in words that follow the name of the first one."""
    own, port_field = lost[0].source, profile.port_field
    if winner.object == winner.target.object:
        fields = _set_instead(winner, lost, effective) or _fields(lost)
        return "superseded", f"{named(winner.target)} sets {fields} itself"
    if lost[0].by_port and port_field:
        return "superseded", f" sets {port_field.field} for this port, which stands instead"
    whole = own not in effective.resolution.members
    if winner.target != own.target and _place(winner, effective) < _place(own, effective):
        return "overridden", f" overrides {'all of it' if whole else _fields(lost)} from above"
    rule = "beaten-on-target" if winner.target == own.target else "superseded"
    if whole:
        parts = effective.resolution.contributions_of
        both = (part for policy in (own.object, winner.object) for part in parts.get(policy, ()))
        strategies = {part.source: part.strategy for part in both}
        why = merge_does_not_count(own, (winner,), strategies, profile)
        how = ", on the same target, replaces" if rule == "beaten-on-target" else " is nearer and replaces"
        return rule, f"{how} all of it{f'; {why}' if why else ''}"
    fields = _set_instead(winner, lost, effective)
    how = f"sets {fields}" if fields else f"replaces {_fields(lost)}"
    return rule, f" {how} on the same target" if rule == "beaten-on-target" else f" {how} instead, and is nearer"


def _place(source: Source, effective: EffectivePolicy) -> int:
    """How far down the path the target of a source is; that of what is not on it counts as the root."""
    return effective.path.index(source.target) if source.target in effective.path else 0


def merge_does_not_count(
    own: Source, winners: Sequence[Source], strategies: Mapping[Source, MergeStrategy], profile: PolicyKindProfile
) -> str:
    """Why a policy replaces another one although it says that it merges, in words; empty if it does not.

    Of two, the one further up, or that came first, decides; so it is what is replaced that does not merge.
    """
    if profile.chooser == "challenger" or strategies.get(own) is not MergeStrategy.ATOMIC_DEFAULTS:
        return ""
    if not any(strategies.get(winner) in MERGING for winner in winners):
        return ""
    above = "further up " if len(winners) == 1 and winners[0].target != own.target else ""
    return f"its merge does not count: {own.object} {above}is atomic and decides"


def _set_instead(winner: Source, lost: Iterable[Fate], effective: EffectivePolicy) -> str:
    """What a source sets in place of fields that are lost: these, or what they are in; empty if that is not so of all.

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
