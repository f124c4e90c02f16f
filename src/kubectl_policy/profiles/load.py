"""Load profile files: read YAML into profiles; refuse a malformed file with file, line, field and allowed values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.profiles.controllers import (
    BackendProfile,
    Controllers,
    ControllerSetting,
    DelegationProfile,
    GatewayProfile,
    RouteParentProfile,
    RouteSettings,
    StatusProfile,
)
from kubectl_policy.profiles.profile import PolicyKindProfile
from kubectl_policy.profiles.reading import NOTHING, camel_case, file_fields, problems, read, write
from kubectl_policy.text.configuration import read_configuration, read_flawless
from kubectl_policy.text.named_file import read_named_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import Problem
    from kubectl_policy.text.configuration import Configuration

# In bytes: larger than any file that a person writes. A larger file is not read to its end.
MAX_SIZE: Final = 4 * 2**20
# importlib.resources would read a zip file as well, but takes as long to import as reading a profile does.
# No Path: to import that takes as long as to read all of these files.
_DATA: Final = f"{os.path.dirname(__file__)}/data"  # noqa: PTH120

_SUFFIX: Final = ".yaml"
_SUFFIXES: Final = frozenset({_SUFFIX, ".yml", ".json"})
_DELEGATION: Final = "\ndelegation:"
_GATEWAYS: Final = "\ngateways:"
_HINT: Final = "docs/profiles.md describes every field"


class ProfileFile(Struct, frozen=True, kw_only=True, rename="camel"):
    """A profile file: the policy kinds of one API group, and the controllers of all of them."""

    group: str
    """The API group, without a version; empty for the core group."""
    kinds: Annotated[Mapping[str, PolicyKindProfile], Meta(min_length=1)]
    """A map from the name of each kind to its profile."""
    controllers: Controllers = frozenset()
    """The `controllerName`s of GatewayClasses. Policies of the kinds have no effect on Gateways of other classes.
    `controllers` of a kind takes precedence. Without it: those of every controller.
    """
    settings: Mapping[str, ControllerSetting] = NOTHING
    """The settings of the controllers that no manifest contains, by their names in `--setting`; `{name}` in
    `controllers` stands for the value.
    """
    status: StatusProfile | None = None
    """The place and the conditions of reports on policies; `status` of a kind takes precedence; see [status](#status).
    Without it: as GEP-713 proposes.
    """
    delegation: DelegationProfile | None = None
    """The delegation from rules of HTTPRoutes to other HTTPRoutes, on Gateways of the `controllers` of the file; see
    [routes that delegate](#routes-that-delegate). Without it: no delegation.
    """
    gateways: GatewayProfile | None = None
    """The treatment of Gateways, listeners and routes where controllers differ from Gateway API; see [how Gateways are
    treated](#how-gateways-are-treated). Without it: according to Gateway API.
    """
    backends: Mapping[str, BackendProfile] = NOTHING
    """A map from kinds of the group, other than policy kinds, to which routes forward requests, to the fields with
    their ports; see [backends of other kinds](#backends-of-other-kinds). Without it: their sections are unknown.
    """
    route_parents: Mapping[str, RouteParentProfile] = NOTHING
    """A map from kinds of the group whose objects routes name as parents to the sources; see [parents of other
    kinds](#parents-of-other-kinds). Without it: it is unknown how routes attach to objects of the group.
    """
    routes: Mapping[str, RouteSettings] = NOTHING
    """A map from route kinds of the group to the settings in their rules, without any policy; see [routes with settings
    of their own](#routes-with-settings-of-their-own). Without it: no known settings.
    """


def profiles_in(document: Mapping[str, Any], origin: Origin) -> tuple[PolicyKindProfile, ...]:
    """Return the profiles in a document without problems, in its order."""
    group, kinds = document["group"], document["kinds"]
    of_all = {name: document[name] for name in ("controllers", "status") if name in document}
    settings = read(document.get("settings", {}), dict[str, ControllerSetting])
    backends = read(document.get("backends", {}), dict[str, BackendProfile])
    parents = read(document.get("routeParents", {}), dict[str, RouteParentProfile])
    routes = read(document.get("routes", {}), dict[str, RouteSettings])
    shared: dict[str, Any] = {
        "origin": origin,
        "settings": settings,
        "backends": {GroupKind(group, kind): profile for kind, profile in backends.items()},
        "route_parents": {GroupKind(group, kind): profile for kind, profile in parents.items()},
        "routes": {GroupKind(group, kind): rule_settings for kind, rule_settings in routes.items()},
    }
    if "gateways" in document:
        shared["gateways"] = read(document["gateways"], GatewayProfile)
    if "delegation" in document:
        of_file = {
            "group": group,
            "controllers": document.get("controllers", []),
            "settings": [[name, setting.default] for name, setting in settings.items()],
        }
        shared["delegation"] = read(document["delegation"] | of_file, DelegationProfile)
    return tuple(_profile(GroupKind(group, kind), of_all | fields, shared) for kind, fields in kinds.items())


def _profile(kind: GroupKind, fields: Mapping[str, Any], shared: Mapping[str, Any]) -> PolicyKindProfile:
    chooses = any(name in fields for name in ("strategy", "strategyField", "stanzas"))
    assumed = () if chooses or fields.get("attachment") in {"connections", "none"} else ("merge strategy",)
    of_kind = {"groupKind": {"group": kind.group, "kind": kind.kind}, "knownBy": "profile"}
    profile = read({**fields, **of_kind}, PolicyKindProfile)
    variants = [
        replace(variant, targets=frozenset({target})) for variant in profile.variants for target in variant.targets
    ]
    return replace(
        profile,
        assumed=assumed,
        **shared,
        variants=tuple(sorted(variants, key=lambda variant: min(variant.targets))),
        status=profile.status.of(kind),
        status_by={name: status.of(kind) for name, status in profile.status_by.items()},
    )


def name_in_files(attribute: str) -> str:
    """Return the name in files of an attribute of a profile."""
    names = {field.attribute: field.name for field in file_fields(PolicyKindProfile).values()}
    return names.get(attribute, camel_case(attribute))


def profile_file(profile: PolicyKindProfile) -> dict[str, Json]:
    """Return a profile as a file with that profile alone, as plain values; fields with their defaults are left out."""
    settings: Json = {name: write(setting) for name, setting in profile.settings.items()}
    kinds: Json = {profile.group_kind.kind: write(profile)}
    return {"group": profile.group_kind.group, **({"settings": settings} if settings else {}), "kinds": kinds}


@cache
def built_in_profiles(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
    """Return the built-in profiles of one API group; empty for a group without any."""
    if group not in built_in_groups():
        return {}
    text, source = _text_of(group), f"built-in profile {group}"
    profiles: dict[GroupKind, PolicyKindProfile] = {}
    for profile in profiles_in(cast("dict[str, Any]", read_flawless(text)), Origin(source)):
        # Our own files have each kind on a line of its own.
        line = text.count("\n", 0, text.index(f"\n  {profile.group_kind.kind}:")) + 2
        profiles[profile.group_kind] = replace(profile, origin=Origin(source, line))
    return profiles


def built_in_delegations(kinds: Collection[GroupKind]) -> tuple[DelegationProfile, ...]:
    """Return the built-in delegation profiles, if a reference to one of these kinds may mean routes.

    That is a reference to HTTPRoutes, or to a group that a file with delegation mentions; otherwise no file is parsed.
    """
    texts = {group: text for group, text in _texts().items() if _DELEGATION in text}
    if not any(kind == HTTP_ROUTE or any(kind.group in text for text in texts.values()) for kind in kinds):
        return ()
    delegations = (profile.delegation for group in texts for profile in built_in_profiles(group).values())
    return tuple(dict.fromkeys(delegation for delegation in delegations if delegation))


def built_in_profiles_of(names: Collection[str]) -> Iterator[PolicyKindProfile]:
    """Yield the profiles of files with `gateways` that mention one of some names; other files are not parsed."""
    for group, text in _texts().items():
        if _GATEWAYS in text and any(name in text for name in names):
            yield from built_in_profiles(group).values()


def built_in_kinds(name: str) -> tuple[GroupKind, ...]:
    """Return the kinds of a name that have a built-in profile, in whichever group; no file is parsed."""
    return tuple(GroupKind(group, name) for group, text in _texts().items() if f"\n  {name}:" in text)


@cache
def _texts() -> Mapping[str, str]:
    return {group: _text_of(group) for group in sorted(built_in_groups())}


def _text_of(group: str) -> str:
    with open(f"{_DATA}/{group}{_SUFFIX}", encoding="utf-8") as file:  # noqa: PTH123 (see `_DATA`)
        return file.read()


@cache
def built_in_groups() -> frozenset[str]:
    """Return the groups with a built-in file. No group from the input, which may be any text, becomes a file name."""
    return frozenset(name.removesuffix(_SUFFIX) for name in os.listdir(_DATA))  # noqa: PTH208 (see `_DATA`)


def load_profiles(path: Path) -> tuple[PolicyKindProfile, ...]:
    """Return the profiles in a user's file, or in the YAML and JSON files of a folder in the order of their names.

    Raises `ProfileError` with file, line and field for anything malformed.
    """
    from kubectl_policy.profiles.contradictions import contradictions  # noqa: PLC0415 (no built-in file has any)

    profiles: list[PolicyKindProfile] = []
    for file in _files(path):
        document = read_file(file, _HINT)
        check(document, ProfileFile, _HINT)
        _refuse_first(contradictions(cast("dict[str, Any]", document.value)), document, _HINT)
        for profile in profiles_in(cast("dict[str, Any]", document.value), Origin(document.source)):
            _require_evaluation(profile, document)
            line = document.line_of(("kinds", profile.group_kind.kind))
            profiles.append(replace(profile, origin=Origin(document.source, line)))
    return tuple(profiles)


def _require_evaluation(profile: PolicyKindProfile, document: Configuration) -> None:
    """Refuse `attachment: connections` for kinds whose rules are not evaluated: only built-in files know which are."""
    kind = profile.group_kind
    known = built_in_profiles(kind.group).get(kind)
    if profile.attachment == "connections" and (known is None or known.attachment != "connections"):
        message = f"connections is for kinds whose rules are evaluated, and those of {kind} are not; use none"
        document.refuse(("kinds", kind.kind, "attachment"), message, _HINT)


def read_file(path: Path, hint: str) -> Configuration:
    """Read a user's YAML file. Raises `ProfileError` with the line that cannot be read."""
    try:
        text = read_named_text(str(path), MAX_SIZE)
    except OSError as error:
        raise _unreadable(path, error, hint) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ProfileError(f"{path}:{line}: not UTF-8 text", hint) from error
    return read_configuration(text, str(path), hint)


def check(document: Configuration, wanted: type[Struct], hint: str) -> None:
    """Raise `ProfileError` with the line and the field of the first problem."""
    _refuse_first(problems(document.value, wanted), document, hint)


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        files = [file for file in path.iterdir() if file.suffix in _SUFFIXES and not file.name.startswith(".")]
    except OSError as error:
        raise _unreadable(path, error, _HINT) from error
    if not files:
        raise ProfileError(f"{path}: no *.yaml, *.yml or *.json in this folder", "subfolders are not searched")
    return sorted(files)


def _unreadable(path: Path, error: OSError, hint: str) -> ProfileError:
    return ProfileError(f"{path}: cannot be read: {error.strerror}", hint)


def _refuse_first(problems_found: Iterable[Problem], document: Configuration, hint: str) -> None:
    for problem in problems_found:
        document.refuse(cast("tuple[str | int, ...]", problem.field.steps), problem.message, hint)
