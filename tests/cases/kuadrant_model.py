"""The names that Kuadrant's cases have for nodes, and the profile of a kind that a case makes up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, Leaf, MergeStrategy, PolicyKindProfile, leaves, plain
from kubectl_policy.model.fields import text_at
from tests.cases.names import slashed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy import EffectivePolicy, NodeRef, Path
    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced

# `<stanza>.rules (list, key = id)`, `<stanza>.rules (map)`.
_RULES: Final = re.compile(r"<stanza>\.(\w+) \((?:map|list, key = (\w+))\)")


def profiles_of(model: Mapping[str, Json]) -> tuple[PolicyKindProfile, ...]:
    """Return the profile that a case's `model` describes; none without a model."""
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


# What the other project calls a section, by the kind of the object; rules are called after their route's kind.
_SECTION_KINDS: Final = {
    "Gateway": "Listener",
    "ListenerSet": "Listener",
    "XListenerSet": "Listener",
    "Service": "ServicePort",
    "ServiceImport": "ServicePort",
}
_RULE_NUMBER: Final = re.compile(r"rule\[(\d+)\]")


def name_of(node: NodeRef) -> str:
    """Return Kuadrant's name for a node: `Kind/namespace/name`, with `#section`; unnamed rules count from 1."""
    if not node.section:
        return slashed(node.object)
    section = _RULE_NUMBER.sub(lambda match: f"rule-{int(match[1]) + 1}", node.section)
    return f"{section_kind(node)}/{node.object.qualified_name}#{section}"


def section_kind(node: NodeRef) -> str:
    """Return Kuadrant's kind of a section."""
    return _SECTION_KINDS.get(node.kind, f"{node.kind}Rule")


def follows(path: Path, wanted: Iterable[str]) -> bool:
    """Whether a path has nodes of these names, in their order, whatever stands between them."""
    names = iter(map(name_of, path))
    return all(name in names for name in wanted)


# The name of the one rule that is the whole spec.
_WHOLE: Final = "spec"


def rules_of(
    effective: EffectivePolicy | None, asked: Mapping[str, Mapping[str, Json]], *, exact: bool
) -> dict[str, dict[str, Json]]:
    """Return the effective rules that are asked for; with `exact`, every other field as well."""
    spec: Traced = effective.resolution.spec if effective else {}
    answers: dict[str, dict[str, Json]] = {}
    for key, rule in asked.items():
        part = {"spec": spec} if key == _WHOLE else _part(spec, key)
        present = [(field, leaf) for field, leaf in leaves(part) if not leaf.removed]
        if present:
            sources = sorted({leaf.source.object.qualified_name for _, leaf in present})
            answers[key] = {"source": ", ".join(sources)}
            if "spec" in rule:
                answers[key]["spec"] = _unnamed(next(iter(plain(part).values())), key.rpartition(".")[2], rule["spec"])
    for field, leaf in leaves(spec) if exact else ():
        dotted = ".".join(field)
        if not leaf.removed and not any(key == _WHOLE or f"{dotted}.".startswith(f"{key}.") for key in asked):
            answers[dotted] = {"source": leaf.source.object.qualified_name, "spec": leaf.value}
    return answers


def _unnamed(value: Json, name: str, asked: Json) -> Json:
    """Return the one value of a list element `{id: name, field: value}` if a single value is asked for."""
    if isinstance(value, dict) and not isinstance(asked, dict):
        rest = [field for field in value.values() if field != name]
        return rest[0] if len(rest) == 1 else value
    return value


def _part(spec: Traced, key: str) -> Traced:
    """Return the one field of a spec that a dotted key names, under its last name; empty if there is none."""
    for name, child in spec.items():
        if name == key:
            return {name: child}
        if key.startswith(f"{name}.") and not isinstance(child, Leaf):
            part = _part(child, key.removeprefix(f"{name}."))
            if part:
                return part
    return {}
