"""Profile files: YAML in, profiles out; a malformed one is refused with file, line, field and what is allowed."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.profiles.profile import TARGET_FIELDS, MergeStrategy, PolicyKindProfile, TargetLevel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from yaml.nodes import Node

_SUFFIX: Final = ".yaml"


@cache
def built_in_profiles(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
    """The built-in profiles of one API group, read when the group first occurs; empty for a group without any."""
    if group not in _built_in_groups():
        return {}
    text = (_data() / f"{group}{_SUFFIX}").read_text("utf-8")
    document = _parse(text, f"built-in profile {group}")[0]
    return {profile.group_kind: profile for profile in _profiles(document, Origin(f"built-in profile {group}"))}


@cache
def _built_in_groups() -> frozenset[str]:
    """The groups with a file; a group from the input, which may be any text, is never made a file's name."""
    return frozenset(file.name.removesuffix(_SUFFIX) for file in _data().iterdir())


def _data() -> Traversable:
    return resources.files("kubectl_policy.profiles") / "data"


def load_profiles(path: Path) -> tuple[PolicyKindProfile, ...]:
    """The profiles in a user's file. Raises `ProfileError` with file:line and the field for anything malformed."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ProfileError(f"{path}: cannot read profiles: {reason}", "--profiles takes a YAML file") from error
    document, tree = _parse(text, str(path))
    _validate(document, tree, path)
    return _profiles(cast("dict[str, Any]", document), Origin(str(path), 1))


def schema() -> dict[str, Any]:
    """The JSON Schema of a profile file."""
    text = (resources.files("kubectl_policy.profiles") / "schema.json").read_text("utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _parse(text: str, source: str) -> tuple[Any, Node | None]:
    import yaml  # noqa: PLC0415 (only where profiles are read)

    try:
        return yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        problem = getattr(error, "problem", None) or "nested too deeply"
        raise ProfileError(f"{where}: not valid YAML: {problem}", "see docs/profiles.md for the format") from error


def _validate(document: object, tree: Node | None, path: Path) -> None:
    from jsonschema import Draft202012Validator, exceptions  # noqa: PLC0415 (slower than most commands run)

    validator: Any = Draft202012Validator(schema())
    error = cast("Any", exceptions).best_match(validator.iter_errors(document))
    if error is None:
        return
    field = ".".join(str(part) for part in error.absolute_path) or "the file"
    message = f"{path}:{_line(tree, list(error.absolute_path))}: {field}: {_allowed(error)}"
    raise ProfileError(message, "docs/profiles.md describes every field")


def _allowed(error: Any) -> str:  # noqa: ANN401 (jsonschema's error type is not exported in its stubs)
    if error.validator == "enum":
        return f"{error.instance!r} is not allowed; use one of " + ", ".join(
            str(value) for value in error.validator_value
        )
    if error.validator == "additionalProperties":
        known = ", ".join(sorted(error.schema.get("properties", {})))
        return f"{error.message}; known fields: {known}"
    return str(error.message)


def _line(node: Node | None, path: Sequence[str | int]) -> int:
    """The line (from 1) of the value at a path, or of the nearest thing above it."""
    line = node.start_mark.line + 1 if node else 1
    for part in path:
        found = _below(node, part)
        if found is None:
            break
        line, node = found
    return line


def _below(node: Node | None, part: str | int) -> tuple[int, Node] | None:
    """The value at a key or an index, and its line; None where it comes from elsewhere, by way of a merge key."""
    import yaml  # noqa: PLC0415 (only where profiles are read)

    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        item = cast("list[Node]", node.value)[part]
        return item.start_mark.line + 1, item
    pairs = cast("list[tuple[Node, Node]]", node.value) if isinstance(node, yaml.MappingNode) else []
    return next(((key.start_mark.line + 1, value) for key, value in pairs if key.value == str(part)), None)


def _profiles(document: Mapping[str, Any], origin: Origin) -> tuple[PolicyKindProfile, ...]:
    return tuple(
        _profile(GroupKind(document["group"], kind), fields, origin) for kind, fields in document["kinds"].items()
    )


def _profile(group_kind: GroupKind, fields: Mapping[str, Any], origin: Origin) -> PolicyKindProfile:
    strategy = fields.get("strategy", "")
    chooses = any(name in fields for name in ("strategy", "strategyField", "stanzas"))
    return PolicyKindProfile(
        group_kind,
        fields["class"],
        "profile",
        target_fields=tuple(fields.get("targetFields", TARGET_FIELDS)),
        declared_targets=_kinds(fields.get("declaredTargets", ())),
        effective_targets=tuple(
            TargetLevel(GroupKind(level["group"], level["kind"]), level.get("section", False))
            for level in fields.get("effectiveTargets", ())
        ),
        virtual_targets=_kinds(fields.get("virtualTargets", ())),
        cross_namespace=fields.get("crossNamespace"),
        grant_required=fields.get("grantRequired", True),
        strategy=MergeStrategy(strategy) if strategy else None,
        strategy_field=fields.get("strategyField", ""),
        stanzas=fields.get("stanzas"),
        fold=fields.get("fold"),
        same_level=fields.get("sameLevel"),
        object_fields=MappingProxyType(dict(fields.get("objectFields", {}))),
        whole_fields=frozenset(fields.get("wholeFields", ())),
        evidence=tuple(fields["evidence"]),
        origin=origin,
        assumed=() if chooses else ("merge strategy",),
    )


def _kinds(entries: Sequence[Mapping[str, str]]) -> frozenset[GroupKind]:
    return frozenset(GroupKind(entry["group"], entry["kind"]) for entry in entries)
