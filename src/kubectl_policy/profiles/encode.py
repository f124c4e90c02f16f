"""From a profile back to the fields of a profile file, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.profiles.profile import PolicyKindProfile
from kubectl_policy.profiles.status import STANDARD_STATUS, StatusProfile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json
    from kubectl_policy.profiles.status import ConditionWords

# What is about the profile and not about the kind; and what the schema of a definition says, which no file can.
_NOT_WRITTEN: Final = frozenset(
    {
        "group_kind",
        "policy_class",
        "known_by",
        "references_alone",
        "map_fields",
        "settings",
        "origin",
        "delegation",
        "gateways",
        "assumed",
    }
)
# What a file calls by another name.
_NAMES: Final = {"policy_class": "class", "shared_fields": "joint_fields", "ignored": "unheeded"}
# What a variant may change.
_VARYING: Final = ("strategy", "chooser", "whole_fields")


def encode_file(profile: PolicyKindProfile) -> dict[str, Json]:
    """A profile file of one kind; see `encode`."""
    kind = profile.group_kind
    settings = {"settings": _plain(profile.settings)} if profile.settings else {}
    return {"group": kind.group, **settings, "kinds": {kind.kind: encode(profile)}}


def encode(profile: PolicyKindProfile) -> dict[str, Json]:
    """Every field in which a profile differs from one that says nothing; decoded, it makes the same choices."""
    blank = PolicyKindProfile(profile.group_kind, profile.policy_class, "profile")
    written: dict[str, Json] = {"class": profile.policy_class}
    for name in (field.name for field in fields(profile) if field.name not in _NOT_WRITTEN):
        value = getattr(profile, name)
        if value != getattr(blank, name):
            written[field_name(name)] = _variants(profile) if name == "variants" else _plain(value)
    if not profile.target_fields:
        written["attachment"] = "filters" if profile.filter_routes else "none"
        del written["targetFields"]
    elif not profile.references_alone:
        written["attachment"] = "partly"
    return written


def field_name(attribute: str) -> str:
    """What an attribute of a profile is called in a file: `policy_class` is `class`, `same_level` is `sameLevel`."""
    first, *rest = _NAMES.get(attribute, attribute).split("_")
    return first + "".join(map(str.capitalize, rest))


def kinds(found: Iterable[GroupKind]) -> list[Json]:
    """Kinds as a file writes them, sorted."""
    return [_plain(kind) for kind in sorted(found)]


def _plain(value: Any) -> Json:  # noqa: ANN401 (whatever a profile holds)
    """A value of a profile as a file writes it."""
    if isinstance(value, StatusProfile):
        return _status(value)
    if isinstance(value, frozenset):
        return [_plain(item) for item in sorted(cast("Iterable[Any]", value))]
    if isinstance(value, tuple):
        items = cast("Any", value)
        return _record(items) if hasattr(items, "_asdict") else [_plain(item) for item in items]
    if isinstance(value, Mapping):
        return {name: _plain(child) for name, child in cast("Mapping[str, Any]", value).items()}
    return str(value) if isinstance(value, MergeStrategy) else value


def _record(value: Any) -> dict[str, Json]:  # noqa: ANN401 (a named tuple of any sort)
    """The fields of a value, but for those that have their default; a kind within it stands beside them."""
    written: dict[str, Json] = {}
    for name, child in value._asdict().items():
        if isinstance(child, GroupKind):
            written |= child._asdict()
        elif child != value._field_defaults.get(name):
            written[field_name(name)] = _plain(child)
    return written


def _status(status: StatusProfile) -> dict[str, Json]:
    written: dict[str, Json] = {"placement": status.placement}
    if status.narrowed_by != STANDARD_STATUS.narrowed_by:
        written["narrowedBy"] = status.narrowed_by
    if status.enforced_by != STANDARD_STATUS.enforced_by:
        written["enforcedBy"] = status.enforced_by
    if status.affects != STANDARD_STATUS.affects:
        written["affects"] = status.affects
    if status.conditions != STANDARD_STATUS.conditions:
        written["conditions"] = {
            field_name(event.replace(" ", "_")): _words(*words) for event, words in status.conditions.items()
        }
    if status.target_annotation:
        written["targetAnnotation"] = status.target_annotation
    return written


def _words(first: ConditionWords, *more: ConditionWords) -> dict[str, Json]:
    return _record(first) | ({"also": [_record(words) for words in more]} if more else {})


def _variants(profile: PolicyKindProfile) -> list[Json]:
    """One for each kind, with what differs there."""
    found: list[Json] = []
    for kind in sorted(profile.variants):
        variant = profile.variants[kind]
        changes = {
            field_name(name): _plain(getattr(variant, name))
            for name in _VARYING
            if getattr(variant, name) != getattr(profile, name)
        }
        found.append({"targets": kinds([kind]), **changes})
    return found
