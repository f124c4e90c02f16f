"""Names in a cluster, as kubectl completes them: kubectl has the credentials and remembers what is served."""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.completion.known import ALL_ROLES, KnownInput
from kubectl_policy.cli.overview import CLUSTER
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import TARGET_KINDS
from kubectl_policy.model.kinds import BUILT_IN, KindNames, is_kubernetes_own, plural
from kubectl_policy.profiles.load import built_in_profiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.cli.completion.known import KindRole
    from kubectl_policy.cli.completion.line import CommandLine

# Options of a cluster that kubectl, or an older one, does not have, or that are set for it.
_NOT_FOR_KUBECTL: Final = frozenset({"--all-contexts", "--as-user-extra", "--chunk-size", "--request-timeout"})
_POLICIES: Final = "policies"
# The characters of type names; a type name must not be an option of kubectl.
_TYPE_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.,-")
_SECRETS: Final = frozenset({"secret", "secrets"})


class ClusterInput(KnownInput):
    """The objects of a cluster, for which kubectl is asked until a deadline; after it there are none."""

    def __init__(self, line: CommandLine, deadline: float) -> None:
        """Keep the options for kubectl that the line has, and the deadline by `time.monotonic`."""
        super().__init__(line)
        self._deadline = deadline
        self._options = [
            option.names[0] if option.number == "flag" else f"{option.names[0]}={value}"
            for option in line.options
            if option.heading == CLUSTER and _NOT_FOR_KUBECTL.isdisjoint(option.names)
            for value in line.values.get(option.parameter, ())
        ]

    @cached_property
    def _kinds(self) -> Mapping[KindRole, Sequence[KindNames]]:
        """The kinds that are served, or built-in kinds without an answer in time.

        A policy kind is known by its profile or by its name.
        """
        kinds: dict[KindRole, list[KindNames]] = {role: [] for role in ALL_ROLES}
        built_in = {f"{names.plural}.{names.group_kind.group}".removesuffix("."): names for names in BUILT_IN}
        for resource in sorted(self._ask("get", "")) or built_in:
            plural_name, _, group = resource.partition(".")
            profiles = built_in_profiles(group).values()
            profile = next((known for known in profiles if plural(known.group_kind.kind.lower()) == plural_name), None)
            kind = profile.group_kind if profile else GroupKind(group, f"{plural_name.removesuffix(_POLICIES)}policy")
            names = built_in.get(resource) or KindNames(kind, plural_name, profile.short_names if profile else ())
            if names.group_kind in TARGET_KINDS:
                kinds["targets"].append(names)
            elif profile or (plural_name.endswith(_POLICIES) and not is_kubernetes_own(names.group_kind)):
                kinds["policies"].append(names)
            elif resource in built_in:
                kinds["unrelated"].append(names)
        return kinds

    def names(self, types: str, namespace: str) -> tuple[Iterable[str], Iterable[str]]:
        """Return the names of objects in a namespace, or in that of the context, and none with their namespaces.

        Names of Secrets are not returned, since kubectl reads their data to list them.
        """
        lower = types.lower()
        names = {name.partition(".")[0] for name in lower.split(",")}
        if not lower[:1].isalpha() or not _TYPE_CHARACTERS.issuperset(lower) or not names.isdisjoint(_SECRETS):
            return (), ()
        return self._ask(*([f"--namespace={namespace}"] if namespace else []), "get", lower, ""), ()

    def namespaces(self) -> Iterable[str]:
        """Return the names of all namespaces."""
        return self._ask("get", "namespaces", "")

    def kubeconfig(self, option: str) -> Iterable[str]:
        """Return the names that kubectl completes for `--context`, `--cluster` or `--user`."""
        return self._ask(option, "")

    def _ask(self, *arguments: str) -> list[str]:
        """Return the candidates that kubectl prints for arguments, or none if kubectl takes too long.

        kubectl has no terminal, so that a credential plugin cannot ask for a password. At the deadline its process
        group is killed.
        """
        import signal
        import subprocess

        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            return []
        command = ["kubectl", "__complete", *self._options, "--request-timeout=1s", *arguments]
        try:
            kubectl = subprocess.Popen(  # noqa: S603 (no shell; values stand behind their flags, and types are checked)
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return []
        with kubectl:
            try:
                out, _ = kubectl.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(kubectl.pid, signal.SIGKILL)
                return []
        *lines, directive = out.decode("utf-8", "replace").splitlines() or [""]
        has_answered = not kubectl.returncode and directive.startswith(":")
        return [line.partition("\t")[0] for line in lines] if has_answered else []
