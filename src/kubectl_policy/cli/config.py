"""The user's configuration: profiles, controller settings, owner key and manifests, from file, environment, options."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy import Implementation
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.text.configuration import Configuration

_HINT: Final = "docs/profiles.md describes the config file"


PathName: TypeAlias = Annotated[str, Meta(extra={"pattern": r"^[^\x00]+$", "hint": "A path is expected."})]
_Owner: TypeAlias = Annotated[str, Meta(extra={"pattern": r"^[^\x00]+$", "hint": "A label or annotation is expected."})]


class _ConfigFile(Struct, frozen=True):
    """The fields of the config file."""

    profiles: tuple[PathName, ...] = ()
    settings: dict[str, str] = {}
    owner: _Owner = ""
    offline: tuple[PathName, ...] = ()


class PolicyConfig(Struct, frozen=True):
    """The user's profiles and controller settings."""

    profiles: tuple[PolicyKindProfile, ...]  # a later profile of a kind replaces an earlier one
    implementation: Implementation


def read_config(files: Sequence[str] | None, settings: Sequence[str] | None) -> PolicyConfig:
    """Read the config file, and merge it with options of the command line, which win.

    Raise `ProfileError` for a file that cannot be read or is malformed, and `UsageError` for a setting that no profile
    declares.
    """
    from kubectl_policy import Implementation
    from kubectl_policy.profiles.load import built_in_groups, built_in_profiles

    document, config = _config()
    profiles = tuple(_profiles(document, config.profiles, files or ()))
    values = dict(config.settings)
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


def _profiles(
    document: Configuration | None, named: Sequence[str], files: Sequence[str]
) -> Iterator[PolicyKindProfile]:
    """Load the profiles that are named in the config file, and then those of other files."""
    from pathlib import Path

    from kubectl_policy import load_profiles
    from kubectl_policy.errors import ProfileError

    for position, path in enumerate(named):
        try:
            yield from load_profiles(Path(config_file()).parent / path)
        except ProfileError as error:
            line = f"{document.source}:{document.line_of(('profiles', position))}" if document else config_file()
            raise ProfileError(error.message, f"{line} names it; {error.hint}") from error
    for file in files:
        yield from load_profiles(Path(file))


def owner_key() -> str:
    """Return the label or annotation that names owners in the config file, or "".

    Raise `ProfileError` for a file that cannot be read or is malformed.
    """
    return _config()[1].owner


def offline_paths() -> list[str]:
    """Return the manifests to read if options name none: from KUBECTL_POLICY_OFFLINE, else from the config file.

    Paths in the file are relative to it, except `-`. Raise `ProfileError` for a file that is unreadable or malformed.
    """
    paths = [path for path in os.environ.get("KUBECTL_POLICY_OFFLINE", "").split(os.pathsep) if path]
    if paths:
        return paths
    files = _config()[1].offline
    return [path if path == "-" else os.path.join(os.path.dirname(config_file()), path) for path in files]  # noqa: PTH118, PTH120 (pathlib is slow to load)


def config_file() -> str:
    """Return the path of the config file, which need not exist."""
    path = os.environ.get("KUBECTL_POLICY_CONFIG")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 (pathlib is slow to load)
    return path or f"{home}/kubectl-policy/config.yaml"


def _config() -> tuple[Configuration | None, _ConfigFile]:
    """Read the config file; without one, and for an empty one, the content is empty."""
    try:
        os.stat(config_file())  # noqa: PTH116 (pathlib is slow to load)
    except (FileNotFoundError, NotADirectoryError):
        return None, _ConfigFile()
    except OSError:
        pass  # The reader reports why the file cannot be read.
    from pathlib import Path

    from kubectl_policy.profiles.load import check, read_file
    from kubectl_policy.profiles.reading import read

    document = read_file(Path(config_file()), _HINT)
    # A file may have nothing but comments.
    if document.value is None:
        return None, _ConfigFile()
    check(document, _ConfigFile, _HINT)
    return document, read(document.value, _ConfigFile)
