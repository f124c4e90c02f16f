"""Profile files: YAML in, profiles out; a malformed one is refused with file, line, field and what is allowed."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.profiles.contradictions import contradictions
from kubectl_policy.profiles.decode import decode
from kubectl_policy.profiles.validate import flaws
from kubectl_policy.text.documents import read_configuration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.profiles.implementation import DelegationProfile
    from kubectl_policy.profiles.profile import PolicyKindProfile
    from kubectl_policy.profiles.validate import Flaw, Schema
    from kubectl_policy.text.documents import Configuration

# Larger than any file that a person writes; what is given by mistake is not read to its end.
MAX_SIZE: Final = 4 * 2**20
# importlib.resources would read a zip file as well, but takes as long to import as reading a profile does.
_HERE: Final = Path(__file__).parent
_HTTP_ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")

_SUFFIX: Final = ".yaml"
_SUFFIXES: Final = frozenset({_SUFFIX, ".yml", ".json"})
_DELEGATION: Final = "\ndelegation:"
_GATEWAYS: Final = "\ngateways:"
_HINT: Final = "docs/profiles.md describes every field"


@cache
def built_in_profiles(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
    """The built-in profiles of one API group, read when the group first occurs; empty for a group without any."""
    if group not in built_in_groups():
        return {}
    text = (_data() / f"{group}{_SUFFIX}").read_text("utf-8")
    found = _profiles(read_configuration(text, f"built-in profile {group}", ""))
    return {profile.group_kind: profile for profile in found}


def built_in_delegations(kinds: Collection[GroupKind]) -> tuple[DelegationProfile, ...]:
    """How routes delegate, from the built-in files that say it, if a reference of these kinds may stand for routes.

    That may be one to an HTTPRoute, or of a group that such a file mentions; else no file is taken apart.
    """
    texts = _delegating_files()
    if not any(kind == _HTTP_ROUTE or any(kind.group in text for text in texts.values()) for kind in kinds):
        return ()
    found = (profile.delegation for group in texts for profile in built_in_profiles(group).values())
    return tuple(dict.fromkeys(delegation for delegation in found if delegation))


def built_in_profiles_of(names: Collection[str]) -> Iterator[PolicyKindProfile]:
    """The profiles of files that say how Gateways are treated and mention one of some names; no others are read."""
    for group, text in _texts().items():
        if _GATEWAYS in text and any(name in text for name in names):
            yield from built_in_profiles(group).values()


def _delegating_files() -> Mapping[str, str]:
    """The built-in files that say how routes delegate, as text, by their groups."""
    return {group: text for group, text in _texts().items() if _DELEGATION in text}


@cache
def _texts() -> Mapping[str, str]:
    """The built-in files as text, by their groups."""
    return {group: (_data() / f"{group}{_SUFFIX}").read_text("utf-8") for group in sorted(built_in_groups())}


@cache
def built_in_groups() -> frozenset[str]:
    """The groups with a file; a group from the input, which may be any text, is never made a file's name."""
    return frozenset(file.name.removesuffix(_SUFFIX) for file in _data().iterdir())


def _data() -> Path:
    return _HERE / "data"


def load_profiles(path: Path) -> tuple[PolicyKindProfile, ...]:
    """The profiles in a user's file, or in the YAML and JSON files of a folder in the order of their names.

    Raises `ProfileError` with file, line and field for anything malformed.
    """
    return tuple(profile for file in _files(path) for profile in _profiles(_valid(file)))


def read_file(path: Path, hint: str) -> Configuration:
    """What a user's YAML file says. Raises `ProfileError` with the line of what cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise _unreadable(path, error, hint) from error
    if len(content) > MAX_SIZE:
        raise ProfileError(f"{path}: larger than {MAX_SIZE >> 20} MiB: this is another kind of file", hint)
    try:
        return read_configuration(content.decode("utf-8-sig"), str(path), hint)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ProfileError(f"{path}:{line}: not UTF-8 text", hint) from error


def check(document: Configuration, wanted: Schema, hint: str) -> None:
    """Raise `ProfileError` with the line and the field of the first thing that a schema does not allow."""
    _refuse_first(flaws(document.value, wanted, wanted), document, hint)


@cache
def schema() -> Schema:
    """The JSON Schema of a profile file."""
    text = (_HERE / "schema.json").read_text("utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        found = [file for file in path.iterdir() if file.suffix in _SUFFIXES and not file.name.startswith(".")]
    except OSError as error:
        raise _unreadable(path, error, _HINT) from error
    if not found:
        raise ProfileError(f"{path}: no *.yaml, *.yml or *.json in this folder", "folders in it are not looked into")
    return sorted(found)


def _valid(path: Path) -> Configuration:
    document = read_file(path, _HINT)
    check(document, schema(), _HINT)
    _refuse_first(contradictions(cast("dict[str, Any]", document.value)), document, _HINT)
    return document


def _unreadable(path: Path, error: OSError, hint: str) -> ProfileError:
    return ProfileError(f"{path}: cannot be read: {error.strerror}", hint)


def _refuse_first(found: Iterable[Flaw], document: Configuration, hint: str) -> None:
    for flaw in found:
        document.refuse(flaw.path, flaw.message, hint)


def _profiles(document: Configuration) -> Iterator[PolicyKindProfile]:
    for profile in decode(cast("dict[str, Any]", document.value), Origin(document.source)):
        line = document.line_of(("kinds", profile.group_kind.kind))
        yield replace(profile, origin=Origin(document.source, line))
