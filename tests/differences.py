"""Short forms of what differs between two states, for tests that assert it by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import analyze
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.questions.diff import diff
from tests import build

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy import Path, PolicyKindProfile
    from kubectl_policy.model import Gap, Json, ObjectRef, Resource
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import EffectChange, EffectiveValue

# The kinds whose names a path is told by, with their sections.
_TOLD = ("Namespace", "Gateway", "HTTPRoute", "Service")


def between(
    before: Sequence[Resource],
    after: Sequence[Resource],
    *profiles: PolicyKindProfile,
    complete: bool = False,
    gaps: Sequence[Gap] = (),
) -> StateDiff:
    """Return the difference between two states that were read apart; the later one may have gaps."""
    states = (build.snapshot(*before, complete=complete), build.snapshot(*after, complete=complete, gaps=gaps))
    return diff(compare(*states, profiles=profiles))


def without(
    resources: Sequence[Resource], *deleted: ObjectRef, profiles: Collection[PolicyKindProfile] = ()
) -> StateDiff:
    """Return the difference that deleting some objects makes."""
    return diff(what_if(analyze(build.snapshot(*resources), profiles=profiles), deleted=deleted))


def ref(name: str = "p", kind: str = "ColorPolicy") -> ObjectRef:
    """A policy."""
    return build.ref(kind, name, group="example.com")


def color(name: str, *targets: Mapping[str, Json], age: int | None = None, **spec: Json) -> Resource:
    """A ColorPolicy on some targets, with its settings."""
    return build.resource("ColorPolicy", name, {"targetRefs": [*targets], **spec}, group="example.com", age=age)


def told(difference: StateDiff) -> list[str]:
    """Every field of every change on each of its paths: `kept r/rule[0]/s/8080 color: red p -> nothing`."""
    return [line for change in difference.effects for line in _lines(change)]


def concerned(difference: StateDiff) -> list[list[str]]:
    """The objects that each change concerns."""
    return [[str(changed.node) for changed in change.objects] for change in difference.effects]


def enforcement(difference: StateDiff) -> dict[str, tuple[str | None, str | None, list[str]]]:
    """Return the states of policies before and after, and the policies that beat them after."""
    return {
        change.policy.name: (change.before, change.after, [by.name for by in change.by])
        for change in difference.enforcement
    }


def attachments(difference: StateDiff) -> list[tuple[str, str, str | None, str | None]]:
    """Return the states of references of policies to targets, before and after."""
    return [
        (attachment.policy.name, str(attachment.target), attachment.before, attachment.after)
        for attachment in difference.attachments
    ]


def parents(difference: StateDiff) -> list[tuple[str, str, str | None, str | None, str]]:
    """Return the states of routes at parents, before and after."""
    return [
        (parent.route.name, str(parent.parent), parent.before, parent.after, parent.message)
        for parent in difference.parents
    ]


def words(path: Path) -> str:
    """The names on a path from its Gateway on; of a section its own name."""
    return "/".join(node.section or node.object.name for node in path if node.object.kind in _TOLD)


def said(value: EffectiveValue | None) -> str:
    """A value and who sets it."""
    if value is None:
        return "nothing"
    return f"{'removed' if value.removed else value.value} {value.source.object.name}"


def _lines(change: EffectChange) -> Iterator[str]:
    for path in change.paths:
        for field in change.fields:
            yield f"{change.where} {words(path)} {field.field}: {said(field.before)} -> {said(field.after)}"
