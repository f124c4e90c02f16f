"""Objects that complete a command line: those in manifests, or those in a cluster, which kubectl lists."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from kubectl_policy.cli.syntax import CLUSTER
from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import TARGET_KINDS, WORKLOADS
from kubectl_policy.model.kinds import BUILT_IN, KindNames, is_kubernetes_own, plural
from kubectl_policy.profiles.load import built_in_profiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.syntax import CommandLine
    from kubectl_policy.model import Json

KindUse: TypeAlias = Literal["policies", "targets", "unrelated"]
ALL_ROLES: Final[Sequence[KindUse]] = ("policies", "targets", "unrelated")
_DEFAULT_NAMESPACE: Final = "default"
# Kinds that policies are about.
_LISTED: Final = frozenset({*TARGET_KINDS, *WORKLOADS})
# The options of `CommandCall` for reading manifests. To render these takes too long.
_READING: Final = ("default_namespace", "exclude", "cluster", "variables", "profiles", "setting")


class ManifestObjects:
    """Objects of the input of a command line. Methods may raise `PolicyError`, as for a type that does not exist."""

    def __init__(self, line: CommandLine, paths: Sequence[str] = ()) -> None:
        """Keep the line and the manifests that its command would read; none if it would ask a cluster."""
        self.line, self._paths = line, paths

    @property
    def namespace(self) -> str:
        """The namespace of the line, or "" for that of the cluster's context."""
        return self.line.value("namespace") or (_DEFAULT_NAMESPACE if self._paths else "")

    def kinds(self, *roles: KindUse) -> list[KindNames]:
        """Return the kinds in some roles."""
        return [names for role in roles for names in self._kinds[role]]

    @cached_property
    def _kinds(self) -> Mapping[KindUse, Sequence[KindNames]]:
        """The kinds of objects, by what they are to policies."""
        kinds: dict[KindUse, list[KindNames]] = {role: [] for role in ALL_ROLES}
        registry = self._analysis.registry
        for kind in self._analysis.index.group_kinds:
            is_unrelated = kind not in _LISTED and is_kubernetes_own(kind)
            role: KindUse = "policies" if registry.profile_of(kind) else "unrelated" if is_unrelated else "targets"
            kinds[role].append(registry.kind_names(kind))
        return kinds

    def names(self, types: str, namespace: str) -> tuple[Iterable[str], Iterable[str]]:
        """Return the names of objects of `TYPE[,TYPE]` in a namespace, and `NAMESPACE/NAME` of those in any one."""
        from kubectl_policy.questions.shared.selection import type_named

        kinds = [kind for name in types.split(",") if name for kind in type_named(self._analysis, name).kinds]
        refs = [resource.ref for kind in kinds for resource in self._analysis.index.of_kind(kind)]
        return [ref.name for ref in refs if ref.namespace in {"", namespace}], [ref.qualified_name for ref in refs]

    def namespaces(self) -> Iterable[str]:
        """Return the names of all namespaces."""
        index = self._analysis.index
        refs = [resource.ref for kind in index.group_kinds for resource in index.of_kind(kind)]
        return {ref.name if ref.group_kind.kind == "Namespace" else ref.namespace for ref in refs}

    def sections(self, type_name: str, name: str, namespace: str) -> Iterable[str]:
        """Return the names of an object's sections."""
        from kubectl_policy.questions.shared.selection import find

        return self._analysis.topology.sections(find(self._analysis, type_name, name, namespace))

    def fields(self, kinds: Iterable[str]) -> Iterator[str]:
        """Yield the fields that policies of some kinds set, or policies of all kinds."""
        from kubectl_policy.questions.shared.selection import kinds_meant
        from kubectl_policy.resolution.contributions import stanzas_of

        wanted = {kind for name in kinds for kind in kinds_meant(self._analysis, name)}
        for profile in self._analysis.registry.policy_kinds:
            if not wanted or profile.group_kind in wanted:
                for resource in self._analysis.index.of_kind(profile.group_kind):
                    for stanza in stanzas_of(resource.raw, profile):
                        yield from _fields(stanza.spec)

    def labels(self, types: str) -> set[str]:
        """Return the keys of the labels that objects of `TYPE[,TYPE]` have."""
        from kubectl_policy.model.fields import labels_of
        from kubectl_policy.questions.shared.selection import type_named

        kinds = [kind for name in types.split(",") if name for kind in type_named(self._analysis, name).kinds]
        return {key for kind in kinds for obj in self._analysis.index.of_kind(kind) for key in labels_of(obj.raw)}

    def kubeconfig(self, option: str) -> Iterable[str]:  # noqa: ARG002 (manifests need none)
        """Return the names in the kubeconfig for `--context`, `--cluster` or `--user`."""
        return ()

    @cached_property
    def _analysis(self) -> Analysis:
        """The analysis of the manifests that the line names, without standard input."""
        from kubectl_policy.cli.call import CommandCall

        paths = [path for path in self._paths if path != "-"]
        if not paths:
            raise UsageError("no manifests are read of a cluster, or of standard input")
        reading: dict[str, Any] = {
            option.parameter: values if option.number == "repeatable" else values[-1]
            for option in self.line.options
            if option.parameter in _READING and (values := self.line.values.get(option.parameter))
        }
        return CommandCall(offline=paths, render=False, **reading).read()


def _fields(settings: Mapping[str, Json]) -> Iterator[str]:
    for key, setting in settings.items():
        yield key
        if isinstance(setting, Mapping):
            yield from (f"{key}.{field}" for field in _fields(setting))


# Options of a cluster that kubectl, or an older one, does not have, or that are set for it.
_NOT_FOR_KUBECTL: Final = frozenset({"--all-contexts", "--as-user-extra", "--chunk-size", "--request-timeout"})
_POLICIES: Final = "policies"
# The characters of type names; a type name must not be an option of kubectl.
_TYPE_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.,-")
_SECRETS: Final = frozenset({"secret", "secrets"})


class ClusterObjects(ManifestObjects):
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
    def _kinds(self) -> Mapping[KindUse, Sequence[KindNames]]:
        """The kinds that are served, or built-in kinds without an answer in time.

        A policy kind is known by its profile or by its name.
        """
        kinds: dict[KindUse, list[KindNames]] = {role: [] for role in ALL_ROLES}
        built_in = {f"{names.plural}.{names.group_kind.group}".removesuffix("."): names for names in BUILT_IN}
        for resource in sorted(self._ask("get", "")) or built_in:
            plural_name, _, group = resource.partition(".")
            profiles = built_in_profiles(group).values()
            profile = next((known for known in profiles if plural(known.group_kind.kind.lower()) == plural_name), None)
            kind = profile.group_kind if profile else GroupKind(group, f"{plural_name.removesuffix(_POLICIES)}policy")
            names = built_in.get(resource) or KindNames(kind, plural_name, profile.short_names if profile else ())
            if names.group_kind in _LISTED:
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
