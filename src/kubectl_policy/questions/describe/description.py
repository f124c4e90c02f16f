"""The part that answers about objects and answers about policies have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.questions.describe.focus import EVERYTHING, Focus
from kubectl_policy.questions.shared.numbered import NumberedPath, numbered

if TYPE_CHECKING:
    from kubectl_policy.model import Diagnostic, Origin
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedEvent
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.topology import Path

_REPORTED = "The conditions in the status, as controllers reported them."


class Description(Struct, frozen=True, kw_only=True):
    """An answer about an object, or about a policy."""

    focus: Annotated[Focus, Meta(description="What alone is asked for: --kind and --field.")] = EVERYTHING
    origin: Annotated[Origin | None, Meta()]
    paths: tuple[Path, ...]
    """The paths that the answer is about; the rest refers to them by position."""
    reported: Annotated[tuple[ReportedCondition, ...], Meta(description=_REPORTED)]
    events: Annotated[tuple[ReportedEvent, ...], Meta(description="The Events about it, newest last.")]
    unseen: Annotated[tuple[Unseen, ...], Meta()]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def complete(self) -> Annotated[bool, Meta()]:
        """False if something that could matter could not be seen."""
        return not self.unseen

    @property
    def paths_(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths that the answer is about."""
        return numbered(self.paths)

    @property
    def problems(self) -> Annotated[tuple[Diagnostic, ...], Meta()]:
        """What is wrong with the configuration, and matters here."""
        return self.diagnostics
