"""A description of what somebody asks for alone: policies of some kinds, and fields that begin in some way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.questions.describe.description import Focus
from kubectl_policy.questions.shared.selection import kinds_meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind
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


def narrowed(answer: ObjectDescription, focus: Focus) -> ObjectDescription:
    """The answer about an object with the kinds and fields alone that are asked for."""
    groups = [group for group in answer.in_force if focus.has_kind(group.kind)]
    groups = [_narrowed(group, focus) for group in groups] if focus.fields else groups
    in_force = tuple(group for group in groups if not focus.fields or group.settings or group.without_effect)
    speaking = {source.object for group in in_force for source in group.contest.order}
    return replace(
        answer,
        in_force=in_force,
        targeting=replace(
            answer.targeting,
            attached=tuple(ref for ref in answer.targeting.attached if focus.has_kind(ref.group_kind)),
        ),
        not_applying=tuple(
            each for each in answer.not_applying if each.policy and focus.has_kind(each.policy.group_kind)
        ),
        sources=tuple(each for each in answer.sources if each.policy in speaking),
        mentions=replace(
            answer.mentions,
            called_by=tuple(call for call in answer.mentions.called_by if focus.has_kind(call.policy.group_kind)),
        ),
        expected=() if focus.kinds or focus.fields else answer.expected,
        focus=focus,
        influences=replace(
            answer.influences,
            marks=tuple(mark for mark in answer.influences.marks if focus.has_kind(mark.policy_kind)),
        ),
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
    """A field with its value, if that is plain."""
    plain = isinstance(setting.value, str | int | float) and not isinstance(setting.value, bool)
    return f"{setting.field} {setting.value}" if plain else setting.field
