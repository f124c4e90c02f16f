"""The part that answers about objects and about policies have in common, and what of it alone is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeVar

from msgspec import Meta, Struct

from kubectl_policy.errors import UsageError
from kubectl_policy.questions.shared.reported import reported_conditions, reported_events
from kubectl_policy.questions.shared.selection import kinds_meant
from kubectl_policy.questions.shared.which_paths import NumberedPath, numbered
from kubectl_policy.questions.unseen.things import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, GroupKind, ObjectRef, Origin
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedEvent
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.resolution.outcome import DeclaredField
    from kubectl_policy.topology import Path


_Declared = TypeVar("_Declared", bound="DeclaredField")


class Focus(Struct, frozen=True, kw_only=True):
    """What alone is asked for."""

    kinds: Annotated[tuple[GroupKind, ...], Meta(description="The kinds of policies; empty for all.")] = ()
    fields: Annotated[tuple[str, ...], Meta(description="What the fields begin with; empty for all.")] = ()

    def has_kind(self, kind: GroupKind) -> bool:
        """Whether policies of a kind are asked for."""
        return not self.kinds or kind in self.kinds

    def has_field(self, field: str) -> bool:
        """Whether a field is asked for: `timeout` has `timeout.http`, and `rules` has `rules[0].limit`."""
        return not self.fields or any(
            field == name or field.startswith((f"{name}.", f"{name}[")) for name in self.fields
        )

    def of(self, fields: Iterable[_Declared]) -> tuple[_Declared, ...]:
        """Those of some fields that are asked for."""
        return tuple(each for each in fields if self.has_field(each.field))


_REPORTED: Final = "The conditions in the status, as controllers reported them."


class Reports(Struct, frozen=True, kw_only=True):
    """What controllers said of an object."""

    reported: Annotated[tuple[ReportedCondition, ...], Meta(description=_REPORTED)]
    events: Annotated[tuple[ReportedEvent, ...], Meta(description="The Events about it, newest last.")]


def reports_on(analysis: Analysis, obj: ObjectRef) -> Reports:
    """What controllers said of an object, in its status and in Events."""
    resource = analysis.index.get(obj)
    reported = reported_conditions(resource.raw) if resource else ()
    return Reports(reported=reported, events=reported_events(analysis.index, obj))


_PROBLEMS: Final = "What is wrong with the configuration, and matters here."


class Description(Answer, frozen=True, kw_only=True):
    """An answer about an object, or about a policy."""

    focus: Annotated[Focus, Meta(description="What alone is asked for: --kind and --field.")] = Focus()
    origin: Annotated[Origin | None, Meta()]
    paths: tuple[Path, ...]
    """The paths that the answer is about; the rest refers to them by position."""
    reports: Annotated[Reports, "inline"]
    unseen: Annotated[tuple[Unseen, ...], Meta()]
    problems: Annotated[tuple[Diagnostic, ...], Meta(description=_PROBLEMS)]

    @property
    def paths_(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths that the answer is about."""
        return numbered(self.paths)


class Descriptions(Struct, frozen=True):
    """The answers, in the order in which they were asked for."""

    items: tuple[Description, ...]

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The problems of all of them, each once."""
        return tuple(dict.fromkeys(problem for item in self.items for problem in item.problems))

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be seen for any of them, each once."""
        return tuple(dict.fromkeys(thing for item in self.items for thing in item.unseen))


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
