"""Edits by which a policy wins where others beat it: stanzas, strategies, order, or one of them less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import FieldPath, integer_at, number_in_annotation
from kubectl_policy.questions.why_not.edit import GONE, Edit, altered
from kubectl_policy.resolution.spec_proper import stanzas_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Resource
    from kubectl_policy.questions.why_not.edit import Case
    from kubectl_policy.questions.why_not.reasons import Reason

_SPEC: Final = FieldPath.parse("spec")
_ANNOTATIONS: Final = FieldPath.parse("metadata.annotations")
_STANZAS: Final = (("defaults", "overrides"), ("default", "override"))


def _winners(case: Case, reason: Reason) -> Iterator[Resource]:
    """The other policy that a reason is about, if it is about one."""
    found = (resource for node in reason.related[:1] for resource in case.read(node.object))
    kind = case.policy.ref.group_kind
    yield from (resource for resource in found if resource.ref.group_kind == kind and resource is not case.policy)


def override(case: Case, _: Reason) -> Iterator[Edit]:
    """The policy overrides where it has set defaults, or has no stanzas although its kind is defined to have some."""
    kind = case.policy.ref.group_kind
    for defaults, overrides in _STANZAS:
        yield from _renamed(case, case.policy, defaults, overrides)
        if not _stanzas(case, case.policy) and case.schema_at(kind, _SPEC / overrides):
            bare = dict(stanzas_of(case.policy.raw, case.profile)[0].spec)
            gone = [(_SPEC / key, GONE) for key in bare]
            yield from case.change(altered(case.policy, *gone, (_SPEC / overrides, bare)))


def yield_to_policy(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy sets defaults where it has overridden."""
    for winner in _winners(case, reason):
        for defaults, overrides in _STANZAS:
            yield from _renamed(case, winner, overrides, defaults)


def _renamed(case: Case, policy: Resource, old: str, new: str) -> Iterator[Edit]:
    if old in _stanzas(case, policy) and new not in _stanzas(case, policy):
        stanza = (_SPEC / old).get(policy.raw)
        yield from case.change(altered(policy, (_SPEC / old, GONE), (_SPEC / new, stanza)))


def _stanzas(case: Case, policy: Resource) -> list[str]:
    """The names of a policy's stanzas; a kind may have a field of such a name that is none."""
    return [
        stanza.field.rpartition(".")[2] for stanza in stanzas_of(policy.raw, case.profile) if stanza.field != "spec"
    ]


def merge_differently(case: Case, reason: Reason) -> Iterator[Edit]:
    """One of the two policies chooses another strategy, in its stanza or in the field for it."""
    field = case.profile.strategy_field
    for policy in (case.policy, *_winners(case, reason)):
        for stanza in _stanzas(case, policy):
            yield from case.change(altered(policy, (_SPEC / stanza / "strategy", "patch")))
        for value in sorted(case.profile.strategy_values) if field else ():
            yield from case.change(altered(policy, (FieldPath.parse(field), value)))


def come_first(case: Case, reason: Reason) -> Iterator[Edit]:
    """The policy has a number that puts it before the other one, where the kind has such numbers."""
    annotation, field = case.profile.weight_annotation, case.profile.order_field
    for winner in _winners(case, reason):
        if annotation:
            weight = (number_in_annotation(winner.raw, annotation) or 0) + 1
            yield from case.change(altered(case.policy, (_ANNOTATIONS / annotation, str(weight))))
        if field:
            number = (integer_at(winner.raw, field) or 0) - 1
            yield from case.change(altered(case.policy, (FieldPath.parse(field), number)))


def leave_target(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy does not name the target on which they meet, if it names more than one."""
    for winner in _winners(case, reason):
        for attachment in case.analysis.attachments[winner.ref]:
            path = FieldPath.parse(attachment.declared.field)
            others = path.parent.get(winner.raw)
            if attachment.target in reason.related and isinstance(others, list) and len(others) > 1:
                yield from case.change(altered(winner, (path, GONE)))


def remove_other(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy is deleted."""
    for winner in _winners(case, reason):
        yield Edit(winner, None)
