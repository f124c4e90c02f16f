"""Edits that were checked on the input, and what makes an edit valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from kubectl_policy.model.fields import mapping_at
from kubectl_policy.questions.why_not.edits import Edit
from kubectl_policy.validation.pruning import prune

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, ObjectRef, Origin

# What an API server writes itself, and takes from nobody.
_OF_SERVERS: Final = frozenset({"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"})


class CheckedEdit(Edit, frozen=True, kw_only=True):
    """An edit of one object, checked on the input."""

    origin: Annotated[
        Origin | None, Meta(description="The location of the changed or deleted object; null for a new object.")
    ]
    defined: Annotated[bool, Meta(description="Whether the edit was checked against the definition of the kind.")]

    @property
    def manifest(self) -> Annotated[Mapping[str, Json] | None, Meta()]:
        """The edited object, as `kubectl apply` accepts it; null if the object is deleted."""
        if self.after is None:
            return None
        raw = self.after.raw
        metadata = {key: value for key, value in mapping_at(raw, "metadata").items() if key not in _OF_SERVERS}
        return {**{key: value for key, value in raw.items() if key != "status"}, "metadata": metadata}


def origin_of(edit: Edit) -> Origin | None:
    """Return the location of the object of an edit; None for a new one."""
    return edit.before.origin if edit.before else None


def is_defined(edit: Edit, after: Analysis) -> bool:
    """Whether an edit was checked against the definition of its kind, if that is no kind that is known anyway."""
    kind = edit.object.group_kind
    return edit.after is None or after.registry.profile_of(kind) is None or kind in after.index.definitions


def are_valid(before: Analysis, after: Analysis, edits: Iterable[Edit]) -> bool:
    """Whether an API server accepts edits and keeps all that they set, as far as definitions were read."""
    return all(
        _is_kept(after, edit) and not _errors(after, edit.object) - _errors(before, edit.object) for edit in edits
    )


def _is_kept(after: Analysis, edit: Edit) -> bool:
    """Whether an API server keeps all fields that an edit sets, as far as the definition of the kind was read."""
    kind = edit.object.group_kind
    schema = after.index.defaults.schema_of(kind) if kind in after.index.definitions else None
    if not schema or edit.action != "change" or not edit.after:
        return True
    kept = prune(edit.after.raw, schema)
    return all([change.path.get(kept)] == [*change.added] for change in edit.changes if change.added)


def _errors(analysis: Analysis, obj: ObjectRef) -> set[tuple[str, str]]:
    return {(problem.rule, problem.message) for problem in analysis.problems_of(obj) if problem.severity == "error"}
