"""Marks of controllers on objects: conditions and annotations that tell of policies that could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model import Gap, GroupKind, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import GATEWAY_API, TARGET_KINDS
from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.blind_spots.relevance import FIX, may_hold_policies_on
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.shared.reported import ReportedCondition, parse_policy_names, status_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.topology import Path

MarkSort: TypeAlias = Literal["condition", "annotation"]

# "Implementations SHOULD ... a condition of type `{domain}/{kind}Affected`" on what policies affect, or
# `PolicyAffected` for all kinds: GEP-713, "Standard status condition on policy-affected objects".
_AFFECTED: Final = "Affected"
_ANY_KIND: Final = "PolicyAffected"
# Names in a message for people: `baker/resilience`, or one in quotes.
_NAME: Final = "[a-z0-9](?:[-a-z0-9.]{0,250}[a-z0-9])?"
_QUALIFIED: Final = pattern(rf"(?<![\w./-])({_NAME})/({_NAME})(?![\w/-])")
_QUOTED: Final = pattern(rf"[\"'`]({_NAME})[\"'`]")
_LONGEST_MESSAGE: Final = 10_000


class Mark(Struct, frozen=True, kw_only=True):
    """A condition or annotation on an object that names policies that could not be read."""

    policy_kind: Annotated[GroupKind, Meta(description="The policy kind.")]
    object: Annotated[ObjectRef, Meta(description="The marked object: the subject, or an object above it.")]
    sort: Annotated[MarkSort, Meta(description="The form of the mark.")]
    name: Annotated[str, Meta(description="The type of the condition, or the name of the annotation.")]
    policies: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="The named policies that were not read; empty if the mark names no policy."),
    ]


def marks_of_unread(analysis: Analysis, subject: NodeRef, paths: Iterable[Path]) -> tuple[Mark, ...]:
    """The marks on an object, and for kinds whose policies pass on what they set also on what is above it."""
    unread = _unread_kinds(analysis)
    if not unread:
        return ()
    objects: dict[ObjectRef, None] = {subject.object: None}
    for path in paths:
        on_path = [node.object for node in path]
        objects |= dict.fromkeys(on_path[: on_path.index(subject.object)] if subject.object in on_path else ())
    marks: list[Mark] = []
    for resource in filter(None, map(analysis.index.get, objects)):
        for kind, gaps in unread.items():
            profile = analysis.registry.profile_of(kind)
            passes_on = profile is None or profile.policy_class == "inherited"
            if resource.ref == subject.object or passes_on:
                marks += _marks_of_kind(analysis, resource, kind, gaps)
    return tuple(dict.fromkeys(marks))


def blind_spots_of_marks(analysis: Analysis, marks: Iterable[Mark]) -> Iterator[BlindSpot]:
    """Blind spots for the hidden settings of marked policies."""
    unread = _unread_kinds(analysis)
    for mark in marks:
        written = f"{mark.object}, as {mark.sort} {mark.name} there says"
        for policy in mark.policies:
            gaps = [gap for gap in unread[mark.policy_kind] if gap.covers(policy)]
            yield _hidden_settings(str(policy), f"it affects {written}; what it sets is hidden", gaps)
        if not mark.policies:
            yield _hidden_settings(
                plural(mark.policy_kind.kind),
                f"some affect {written}; which, and what they set, is hidden",
                unread[mark.policy_kind],
            )


def _hidden_settings(subject: str, reason: str, gaps: Sequence[Gap]) -> BlindSpot:
    hidden = tuple(gap for gap in gaps if gap.group is not None)
    return BlindSpot(what=subject, reason=reason, remedy=gaps[0].remedy or FIX, gaps=hidden[:1])


def _unread_kinds(analysis: Analysis) -> Mapping[GroupKind, Sequence[Gap]]:
    """The kinds of which not all objects could be read, with their gaps; those of the hierarchy are no policies."""
    unread: dict[GroupKind, list[Gap]] = {}
    targets = {kind.kind for kind in TARGET_KINDS}
    known = {*analysis.index.definitions, *analysis.index.group_kinds}
    for gap in analysis.snapshot.gaps:
        if gap.kind and not gap.name and gap.kind not in targets:
            # As far as definitions and policies that were read say.
            groups = sorted(kind.group for kind in known if kind.kind == gap.kind) or [""]
            for group in groups if gap.group is None else [gap.group]:
                unread.setdefault(GroupKind(group, gap.kind), []).append(gap)
    return unread


def _marks_of_kind(analysis: Analysis, resource: Resource, kind: GroupKind, gaps: Sequence[Gap]) -> Iterator[Mark]:
    """The marks about policies of a kind that could not be read: the others are told as what they are."""
    obj = resource.ref
    is_attached = any(attachment.policy.group_kind == kind for attachment in analysis.attachments_to(obj))
    for sort, name, named in _claims(analysis, resource, kind):
        refs = [ObjectRef(kind, *names) for names in named]
        unread = [ref for ref in refs if analysis.index.get(ref) is None and any(gap.covers(ref) for gap in gaps)]
        is_open = not (refs or is_attached) and any(may_hold_policies_on(analysis, gap, [obj]) for gap in gaps)
        if unread or is_open:
            yield Mark(policy_kind=kind, object=obj, sort=sort, name=name, policies=tuple(dict.fromkeys(unread)))


def _claims(
    analysis: Analysis, resource: Resource, kind: GroupKind
) -> Iterator[tuple[MarkSort, str, Sequence[tuple[str, str]]]]:
    """Claims of controllers that policies of a kind affect an object: conditions and annotations, with policy names."""
    home = resource.ref.namespace or resource.ref.name
    for entry in status_entries(resource.raw):
        for condition in entry.conditions:
            if condition.status == "True" and _is_about(analysis, condition, kind):
                yield "condition", condition.type, _named_in(condition.message, home)
    annotations = mapping_at(resource.raw, "metadata.annotations")
    for annotation in _annotations_of(analysis, kind):
        names = [name.partition("/") for name in sorted(parse_policy_names(annotations.get(annotation), home) or ())]
        if names:
            yield "annotation", annotation, [(namespace, name) for namespace, _, name in names]


def _is_about(analysis: Analysis, condition: ReportedCondition, kind: GroupKind) -> bool:
    """Whether a condition is what controllers write on objects that policies of a kind affect."""
    profile = analysis.registry.profile_of(kind)
    known = [written.type for written in profile.status.conditions.get("affected", ())] if profile else []
    if known:
        return condition.type in known
    group, _, name = condition.type.rpartition("/")
    if group not in {"", kind.group, GATEWAY_API} and not (kind.group and kind.group.endswith(f".{group}")):
        return False
    return name == f"{kind.kind}{_AFFECTED}" or (name == _ANY_KIND and kind.kind in condition.message.split())


def _annotations_of(analysis: Analysis, kind: GroupKind) -> Iterator[str]:
    """The annotations that name policies of a kind on their targets: as its profile says, or by the kind's names."""
    profile = analysis.registry.profile_of(kind)
    if profile and profile.status.target_annotation:
        yield profile.status.target_annotation
    elif kind.group:
        singular = kind.kind.lower()
        yield from (f"{kind.group}/{singular}", f"{kind.group}/{plural(singular)}")


def _named_in(message: str, home: str) -> list[tuple[str, str]]:
    """The namespaces and names that are written in a message."""
    text = message[:_LONGEST_MESSAGE]
    qualified = [(match[1], match[2]) for match in _QUALIFIED.finditer(text)]
    return qualified or [(home, match[1]) for match in _QUOTED.finditer(text)]
