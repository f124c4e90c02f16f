"""The policy of a person for credential plugins: which of them kubectl, and so this program, may run.

https://kubernetes.io/docs/reference/kubectl/kuberc/. The kubernetes package knows no kuberc.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import yaml

from kubectl_policy.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPE: Final = "see https://kubernetes.io/docs/reference/kubectl/kuberc/, or set KUBERC=off"


class PluginPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """What a kuberc says of credential plugins."""

    credential_plugin_policy: Literal["", "AllowAll", "DenyAll", "Allowlist"] = ""
    # Each entry has a `command`, before Kubernetes 1.36 a `name`.
    credential_plugin_allowlist: list[dict[str, str]] = []


def require_allowed(command: str) -> None:
    """Raise `ClusterError` if the kuberc does not allow a plugin, or if it cannot be known what it allows."""
    path = os.environ.get("KUBERC", "")
    is_off = path == "off" or os.environ.get("KUBECTL_KUBERC", "") == "false"
    named, path = bool(path), path or os.path.expanduser("~/.kube/kuberc")  # noqa: PTH111 (pathlib is slow to import)
    if is_off or not (named or os.path.lexists(path)):
        return
    policy = _read_policy(path)
    allowed = [entry.get("command") or entry.get("name", "") for entry in policy.credential_plugin_allowlist]
    if not all(allowed):
        raise ClusterError(f"{path}: credentialPluginAllowlist: each entry has to have a command", _SHAPE)
    match policy.credential_plugin_policy:
        case "DenyAll":
            is_allowed = False
        case "Allowlist":
            is_allowed = shutil.which(command) in {*map(shutil.which, allowed)} - {None}
        case _:
            is_allowed = True
    if not is_allowed:
        raise ClusterError(
            f"the credential plugin {command} is not run: credentialPluginPolicy is "
            f"{policy.credential_plugin_policy} in {path}",
            "add it to credentialPluginAllowlist there, or use other credentials, such as --token",
        )


def _read_policy(path: str) -> PluginPolicy:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 (pathlib is slow to import)
            preferences = [content for content in _mappings(file.read()) if content.get("kind") == "Preference"]
        return msgspec.convert(preferences[0], PluginPolicy) if preferences else PluginPolicy()
    except OSError as error:
        raise ClusterError(f"{path} cannot be read: {error.strerror or error}", _SHAPE) from None
    except (msgspec.ValidationError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise ClusterError(f"{path}: {' '.join(str(error).split())}", _SHAPE) from None


def _mappings(text: str) -> Iterator[dict[str, Any]]:
    for content in yaml.safe_load_all(text):
        if content is not None:
            fields = msgspec.convert(content, dict[Any, Any])
            # A member that is null counts as absent.
            yield {str(key): member for key, member in fields.items() if member is not None}
