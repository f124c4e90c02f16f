"""Edits of labels, so that a selector selects what has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import FieldPath, Json, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.selectors import selects
from kubectl_policy.questions.why_not.edits import Edit, edited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Resource

LABELS: Final = FieldPath(("metadata", "labels"))


def relabelled(resource: Resource, selector: Mapping[str, Json], field: FieldPath = LABELS) -> Iterator[Edit]:
    """Yield an object with the labels that a selector asks for, and without those that it does not want."""
    labels = _labels_at(resource, field)
    wanted: dict[str, str] = {
        key: value for key, value in mapping_at(selector, "matchLabels").items() if isinstance(value, str)
    }
    unwanted: list[str] = []
    for requirement in mappings_at(selector, "matchExpressions"):
        key, values = text_at(requirement, "key"), strings_at(requirement, "values")
        match text_at(requirement, "operator"):
            case "In" if values and labels.get(key) not in values:
                wanted[key] = values[0]
            case "Exists" if key not in labels:
                wanted[key] = "true"
            case "NotIn" | "DoesNotExist" if key in labels:
                unwanted.append(key)
            case _:
                pass
    put = [(field / key, value) for key, value in wanted.items() if labels.get(key) != value]
    without = [field / key for key in unwanted]
    for edit in edited(resource, *put, without=without):
        if edit.after and selects(selector, _labels_at(edit.after, field)):
            yield edit


def _labels_at(resource: Resource, field: FieldPath) -> dict[str, str]:
    labels = field.get(resource.raw)
    written = labels.items() if isinstance(labels, Mapping) else ()
    return {key: value for key, value in written if isinstance(value, str)}


def changed_labels(edit: Edit, field: FieldPath = LABELS) -> frozenset[str]:
    """Return the keys of the labels that an edit changes."""
    before, after = (
        _labels_at(resource, field) if resource else dict[str, str]() for resource in (edit.before, edit.after)
    )
    return frozenset(key for key, _ in before.items() ^ after.items())
