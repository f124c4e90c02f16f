"""The rules of an effective policy as Kuadrant's cases name them: by dotted fields, each with its policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import Leaf, leaves, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy import EffectivePolicy
    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced

# The name of the one rule that is the whole spec.
_WHOLE: Final = "spec"


def rules_of(
    effective: EffectivePolicy | None, asked: Mapping[str, Mapping[str, Json]], *, exact: bool
) -> dict[str, dict[str, Json]]:
    """The rules that are asked for, as they are effective; with `exact`, every other field as well."""
    spec: Traced = effective.spec if effective else {}
    found: dict[str, dict[str, Json]] = {}
    for key, rule in asked.items():
        part = {"spec": spec} if key == _WHOLE else _part(spec, key)
        present = [(field, leaf) for field, leaf in leaves(part) if not leaf.removed]
        if present:
            sources = sorted({leaf.source.object.qualified_name for _, leaf in present})
            found[key] = {"source": ", ".join(sources)}
            if "spec" in rule:
                found[key]["spec"] = _unnamed(next(iter(plain(part).values())), key.rpartition(".")[2], rule["spec"])
    for field, leaf in leaves(spec) if exact else ():
        dotted = ".".join(field)
        if not leaf.removed and not any(key == _WHOLE or f"{dotted}.".startswith(f"{key}.") for key in asked):
            found[dotted] = {"source": leaf.source.object.qualified_name, "spec": leaf.value}
    return found


def _unnamed(value: Json, name: str, asked: Json) -> Json:
    """A list element `{id: name, field: value}` is asked for by its one value."""
    if isinstance(value, dict) and not isinstance(asked, dict):
        rest = [field for field in value.values() if field != name]
        return rest[0] if len(rest) == 1 else value
    return value


def _part(spec: Traced, key: str) -> Traced:
    """The one field of a spec that a dotted key names, under its last name; empty if there is none."""
    for name, child in spec.items():
        if name == key:
            return {name: child}
        if key.startswith(f"{name}.") and not isinstance(child, Leaf):
            found = _part(child, key.removeprefix(f"{name}."))
            if found:
                return found
    return {}
