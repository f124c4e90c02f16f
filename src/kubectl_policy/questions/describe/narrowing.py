"""A description of what somebody asks for alone: policies of some kinds, and fields that begin in some way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.questions.describe.focus import Focus
from kubectl_policy.questions.shared.effects import by_role
from kubectl_policy.questions.shared.selection import kinds_meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, ObjectRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce, Setting


def focus_on(analysis: Analysis, kinds: Iterable[str], fields: Iterable[str]) -> Focus:
    """What words for kinds and fields mean; each may name several, with commas. Raises `UsageError`."""
    meant: list[GroupKind] = []
    for word in _words(kinds):
        named = kinds_meant(analysis, word)
        policies = [kind for kind in named if analysis.registry.profile_of(kind)]
        if not policies:
            raise UsageError(f"{named[0].kind} is not a policy kind", "get policykinds lists them")
        meant += policies
    return Focus(
        kinds=tuple(dict.fromkeys(meant)),
        fields=tuple(field.removeprefix("spec.").rstrip(".") for field in _words(fields)),
    )


def _words(given: Iterable[str]) -> Iterator[str]:
    return (word.strip() for words in given for word in words.split(",") if word.strip())


def narrowed(analysis: Analysis, answer: ObjectDescription, focus: Focus) -> ObjectDescription:
    """The answer about an object with the kinds and fields alone that are asked for."""
    groups = [group for group in answer.in_force if focus.has_kind(group.kind)]
    groups = [_narrowed(group, focus) for group in groups] if focus.fields else groups
    in_force = tuple(group for group in groups if not focus.fields or group.settings or group.beaten)
    policies = _setting(in_force) if focus.fields else {ref for group in in_force for ref in group.policies}
    by_roles = by_role(analysis, policies)
    speaking = {source.object for group in in_force for source in group.order}
    return replace(
        answer,
        in_force=in_force,
        policies=by_roles["policy"],
        filters_in_force=by_roles["filter"],
        parameters_in_force=by_roles["parameters"],
        attached=tuple(ref for ref in answer.attached if focus.has_kind(ref.group_kind)),
        not_applying=tuple(
            each for each in answer.not_applying if each.policy and focus.has_kind(each.policy.group_kind)
        ),
        sources=tuple(each for each in answer.sources if each.policy in speaking),
        called_by=tuple(call for call in answer.called_by if focus.has_kind(call.policy.group_kind)),
        expected=() if focus.kinds or focus.fields else answer.expected,
        focus=focus,
        marks=tuple(mark for mark in answer.marks if focus.has_kind(mark.kind)),
    )


def _setting(groups: Sequence[InForce]) -> set[ObjectRef]:
    return {setting.source.object for group in groups for setting in group.settings}


def _narrowed(group: InForce, focus: Focus) -> InForce:
    """A group with some of its fields, and the policies that set these."""
    settings, beaten = focus.of(group.settings), focus.of(group.beaten)
    speaking = {setting.source for setting in settings} | {fate.source for fate in beaten}
    speaking |= {fate.source for setting in settings for fate in setting.beaten}
    speaking |= {source for fate in beaten for source in fate.superseded_by}
    policies = {setting.source.object for setting in settings}
    return replace(
        group,
        settings=settings,
        beaten=beaten,
        policies=tuple(ref for ref in group.policies if ref in policies),
        undecided=tuple(ref for ref in group.undecided if ref in policies),
        order=tuple(source for source in group.order if source in speaking),
        summary=tuple(_phrase(setting) for setting in settings),
    )


def _phrase(setting: Setting) -> str:
    """A field with its value, if that is plain."""
    plain = isinstance(setting.value, str | int | float) and not isinstance(setting.value, bool)
    return f"{setting.field} {setting.value}" if plain else setting.field
