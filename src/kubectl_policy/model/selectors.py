"""Kubernetes label selectors: matchLabels and matchExpressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mapping_at, mappings_at, strings_at, text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.fields import Json


def selects(selector: Mapping[str, Json], labels: Mapping[str, str]) -> bool:
    """Whether labels satisfy every requirement of a selector; an empty selector selects everything.

    Operators are In, NotIn, Exists and DoesNotExist (metav1.LabelSelectorRequirement); NotIn is satisfied by an absent
    key, as in apimachinery's `labels.Requirement.Matches`. A requirement that cannot be read selects nothing.
    """
    wanted = mapping_at(selector, "matchLabels").items()
    return all(labels.get(key) == value for key, value in wanted) and all(
        _holds(requirement, labels) for requirement in mappings_at(selector, "matchExpressions")
    )


def keys_of(selector: Mapping[str, Json]) -> set[str]:
    """The label keys that a selector asks about."""
    expressions = mappings_at(selector, "matchExpressions")
    return set(mapping_at(selector, "matchLabels")) | {text_at(requirement, "key") for requirement in expressions}


def _holds(requirement: Mapping[str, Json], labels: Mapping[str, str]) -> bool:
    key, values = text_at(requirement, "key"), strings_at(requirement, "values")
    match text_at(requirement, "operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False
