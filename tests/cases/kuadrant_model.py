"""The profile of a kind that a case makes up, from the case's own words about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, MergeStrategy, PolicyKindProfile
from kubectl_policy.model.fields import text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

# `<stanza>.rules (list, key = id)`, `<stanza>.rules (map)`.
_RULES: Final = re.compile(r"<stanza>\.(\w+) \((?:map|list, key = (\w+))\)")


def profiles_of(model: Mapping[str, Json]) -> tuple[PolicyKindProfile, ...]:
    """The profile that a case's `model` describes; none without a model."""
    kind, rules = text_at(model, "kind"), _RULES.search(text_at(model, "rules"))
    if not kind or rules is None:
        return ()
    name, key = rules.groups()
    field_by_field = "JSON merge patch" in text_at(model, "merge")
    return (
        PolicyKindProfile(
            GroupKind(text_at(model, "group"), kind),
            "direct" if text_at(model, "class") == "direct" else "inherited",
            "profile",
            stanzas="plural",
            strategy=MergeStrategy.PATCH_DEFAULTS if field_by_field else MergeStrategy.ATOMIC_DEFAULTS,
            fold="bottom-up",
            whole_fields=frozenset({f"{name}[{key}]" if key else f"{name}.*"}),
            unnamed_rules="rule-{n}",
        ),
    )
