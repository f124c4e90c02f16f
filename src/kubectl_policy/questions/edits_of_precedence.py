"""Edits by which a policy wins where others beat it: stanzas, strategies, order, or one of them less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import integer_at, items_at, mapping_at, number_in_annotation, text_at, value_at
from kubectl_policy.questions.edit import Edit
from kubectl_policy.questions.editing import GONE, altered, steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Resource
    from kubectl_policy.questions.edit import Case
    from kubectl_policy.questions.reason import Reason

_STANZAS: Final = (("defaults", "overrides"), ("default", "override"))


def _beater(case: Case, reason: Reason) -> Resource | None:
    """The other policy that a reason is about."""
    found = case.analysis.index.get(reason.related[0].object) if reason.related else None
    return found if found and found.ref != case.policy.ref else None


def override(case: Case, _: Reason) -> Iterator[Edit]:
    """The policy overrides where it has set defaults."""
    for defaults, overrides in _STANZAS:
        stanza = value_at(case.policy.raw, f"spec.{defaults}")
        if stanza is not None and value_at(case.policy.raw, f"spec.{overrides}") is None:
            yield from case.change(
                altered(case.policy, (("spec", defaults), GONE), (("spec", overrides), stanza)),
            )


def yield_to_it(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy sets defaults where it has overridden."""
    beater = _beater(case, reason)
    for defaults, overrides in _STANZAS if beater else ():
        stanza = value_at(beater.raw, f"spec.{overrides}")
        if stanza is not None and value_at(beater.raw, f"spec.{defaults}") is None:
            yield from case.change(altered(beater, (("spec", overrides), GONE), (("spec", defaults), stanza)))


def merge_differently(case: Case, reason: Reason) -> Iterator[Edit]:
    """One of the two policies chooses another strategy, in its stanza or in the field for it."""
    for policy in filter(None, (case.policy, _beater(case, reason))):
        for stanza in (name for pair in _STANZAS for name in pair):
            if mapping_at(policy.raw, f"spec.{stanza}") and text_at(policy.raw, f"spec.{stanza}.strategy") != "patch":
                yield from case.change(altered(policy, (("spec", stanza, "strategy"), "patch")))
        field = case.profile.strategy_field
        for value in sorted(case.profile.strategy_values) if field else ():
            yield from case.change(altered(policy, (steps(field), value)))


def come_first(case: Case, reason: Reason) -> Iterator[Edit]:
    """The policy has a number that puts it before the other one, where the kind has such numbers."""
    beater, profile = _beater(case, reason), case.profile
    if beater and profile.weight_annotation:
        weight = (number_in_annotation(beater.raw, profile.weight_annotation) or 0) + 1
        path = ("metadata", "annotations", profile.weight_annotation)
        yield from case.change(altered(case.policy, (path, str(weight))))
    if beater and profile.order_field:
        number = (integer_at(beater.raw, profile.order_field) or 0) - 1
        yield from case.change(altered(case.policy, (steps(profile.order_field), number)))


def leave_target(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy does not name the target on which they meet, if it names more than one."""
    beater = _beater(case, reason)
    for attachment in case.analysis.attachments.get(beater.ref, ()) if beater else ():
        path = steps(attachment.declared.field)
        field = ".".join(map(str, path[:-1]))
        if (
            beater
            and attachment.target in reason.related
            and isinstance(path[-1], int)
            and len(items_at(beater.raw, field)) > 1
        ):
            yield from case.change(altered(beater, (path, GONE)))


def remove_other(case: Case, reason: Reason) -> Iterator[Edit]:
    """The other policy is deleted."""
    beater = _beater(case, reason)
    if beater and beater.ref.group_kind == case.policy.ref.group_kind:
        yield Edit(beater, None)
