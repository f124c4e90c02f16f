"""What the config file, the environment and the command line say of policy kinds, controllers, owners and the input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.errors import UsageError
from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kubectl_policy import Implementation
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.shapes import Shape
    from kubectl_policy.text.configuration import Configuration

_HINT: Final = "docs/profiles.md describes the config file"


@value()
class PolicyConfig:
    """Profiles, of which the later one of two counts, and settings."""

    profiles: tuple[PolicyKindProfile, ...]
    implementation: Implementation


def read_config(files: Sequence[str] | None, settings: Sequence[str] | None) -> PolicyConfig:
    """What the config file says, and then the command line, which beats it.

    Raises `ProfileError` for a file that cannot be read or is malformed, and `UsageError` for a setting that no profile
    has.
    """
    from kubectl_policy import Implementation
    from kubectl_policy.profiles.load import built_in_groups, built_in_profiles

    document = _config()
    profiles = _profiles(document, files or ()) if document or files else ()
    said = cast("dict[str, Any]", document.value) if document else {}
    configured: dict[str, str] = said.get("settings", {})
    values = dict(configured)
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise UsageError(f'"{setting}" is not a setting', "write --setting NAME=VALUE")
        values[name] = value
    if values:
        built_in = (profile for group in sorted(built_in_groups()) for profile in built_in_profiles(group).values())
        allowed = sorted({name for profile in (*profiles, *built_in) for name in profile.settings})
        if unknown := next((name for name in values if name not in allowed), None):
            raise UsageError(f'no profile has a setting "{unknown}"', f"there are: {', '.join(allowed)}")
    return PolicyConfig(profiles, Implementation(settings=values))


def _profiles(document: Configuration | None, files: Sequence[str]) -> tuple[PolicyKindProfile, ...]:
    """The profiles that the config file names, and those of some files."""
    from pathlib import Path

    from kubectl_policy import load_profiles

    named = _named_in(document, Path(config_file()).parent) if document else ()
    return (*named, *(profile for file in files for profile in load_profiles(Path(file))))


def owner_key() -> str:
    """The label or annotation that names owners, as the config file says; empty if it does not.

    Raises `ProfileError` for a file that cannot be read or is malformed.
    """
    document = _config()
    return cast("dict[str, str]", document.value).get("owner", "") if document else ""


def offline_paths() -> list[str]:
    """The manifests that are read where a call names none: by KUBECTL_POLICY_OFFLINE, else by the config file.

    Those in the file are relative to it, but for `-`. Raises `ProfileError` for a file that cannot be read or is
    malformed.
    """
    named = [path for path in os.environ.get("KUBECTL_POLICY_OFFLINE", "").split(os.pathsep) if path]
    if named:
        return named
    document = _config()
    said: list[str] = cast("dict[str, Any]", document.value).get("offline", []) if document else []
    return [path if path == "-" else os.path.join(os.path.dirname(config_file()), path) for path in said]  # noqa: PTH118, PTH120 (pathlib is slow to load)


def config_file() -> str:
    """Where the config file is, whether or not there is one."""
    named = os.environ.get("KUBECTL_POLICY_CONFIG")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 (pathlib is slow to load)
    return named or f"{home}/kubectl-policy/config.yaml"


def _config() -> Configuration | None:
    """The config file; None if there is none, or nothing is in it."""
    try:
        os.stat(config_file())  # noqa: PTH116 (pathlib is slow to load)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        pass  # What cannot be looked at cannot be read: the reader says why.
    from pathlib import Path

    from kubectl_policy.profiles.load import check, read_file

    document = read_file(Path(config_file()), _HINT)
    # A file in which everything is commented out says nothing, which is allowed.
    if document.value is None:
        return None
    check(document, _shape(), _HINT)
    return document


def _shape() -> Shape:
    """What the config file may say."""
    from kubectl_policy.profiles.shapes import Declaration, Entries, Items, Record, Text

    named = r"^[^\x00]+$"
    return Record(
        dict,
        Declaration(Items(Text(pattern=named, hint="A path is expected.")), name="profiles"),
        Declaration(Entries(Text()), name="settings"),
        Declaration(Text(pattern=named, hint="A label or annotation is expected."), name="owner"),
        Declaration(Items(Text(pattern=named, hint="A path is expected.")), name="offline"),
    )


def _named_in(document: Configuration, folder: Path) -> Iterator[PolicyKindProfile]:
    from kubectl_policy import load_profiles
    from kubectl_policy.errors import ProfileError

    paths = cast("dict[str, Any]", document.value).get("profiles", ())
    for position, path in enumerate(cast("list[str]", paths)):
        try:
            yield from load_profiles(folder / path)
        except ProfileError as error:
            line = document.line_of(("profiles", position))
            raise ProfileError(error.message, f"{document.source}:{line} names it; {error.hint}") from error
