"""An edit of one object, and what is known when edits are looked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from kubectl_policy.questions.editing import changes, field_of, lines, value_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.editing import Change, Steps
    from kubectl_policy.questions.effect_on import EffectOn
    from kubectl_policy.questions.reason import Reason
    from kubectl_policy.topology import Path

Action: TypeAlias = Literal["change", "create", "delete"]


class Edit(NamedTuple):
    """An edit of one object: `before` is None if it is created, `after` if it is deleted."""

    before: Resource | None
    after: Resource | None

    @property
    def object(self) -> ObjectRef:
        """The object that is edited."""
        resource = self.after or self.before
        assert resource  # noqa: S101 (an edit of nothing is none)
        return resource.ref

    @property
    def action(self) -> Action:
        """What is done to the object."""
        if self.before is None:
            return "create"
        return "change" if self.after else "delete"

    @property
    def changes(self) -> tuple[Change, ...]:
        """What differs, of an object that is changed."""
        return tuple(changes(self.before.raw, self.after.raw)) if self.before and self.after else ()

    @property
    def field(self) -> str:
        """The first place that is changed, as far as the object has it already; empty if it is the whole object."""
        first = next(iter(self.changes), None)
        return field_of(first.path if first.removed else first.path[:-1]) if first else ""

    @property
    def size(self) -> int:
        """How many lines it takes to write the edit down; a line that is replaced counts once."""
        if self.after is None:
            return 1
        return (
            sum(max(len(one.removed), len(one.added)) for one in self.changes) if self.before else lines(self.after.raw)
        )


class Case:
    """What edits are looked for: a policy that has no effect on a node, and why."""

    def __init__(
        self, analysis: Analysis, policy: Resource, target: NodeRef, effect: EffectOn, reasons: tuple[Reason, ...]
    ) -> None:
        """Remember what is known."""
        self.analysis = analysis
        self.policy = policy
        self.target = target
        self.effect = effect
        self.reasons = reasons

    @cached_property
    def profile(self) -> PolicyKindProfile:
        """What is known of the policy's kind."""
        return self.analysis.registry.known(self.policy.ref.group_kind)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths through the node."""
        return self.effect.paths

    def read(self, ref: ObjectRef) -> Iterator[Resource]:
        """An object, if it was read."""
        found = self.analysis.index.get(ref)
        yield from [found] if found else []

    def schema_at(self, kind: GroupKind, path: Steps) -> Json:
        """What the definition of a kind says of a field; nothing if the definition was not read."""
        found: Json = self.analysis.index.defaults.schema_of(kind)
        for step in path:
            found = value_on(found, ("properties", step))
        return found

    def change(self, after: Resource | None) -> Iterator[Edit]:
        """The edit that makes an object what it is to be, if it exists and that differs from what it is."""
        before = self.analysis.index.get(after.ref) if after else None
        if after and before and next(changes(before.raw, after.raw), None):
            yield Edit(before, after)


Generator: TypeAlias = "Callable[[Case, Reason], Iterator[Edit]]"
