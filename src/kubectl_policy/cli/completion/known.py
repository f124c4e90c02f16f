"""Objects to which a command line refers: those of manifests, or those of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.completion.line import CommandLine
    from kubectl_policy.model import Json
    from kubectl_policy.model.kinds import KindNames

KindRole: TypeAlias = Literal["policies", "targets", "unrelated"]
ALL_ROLES: Final[Sequence[KindRole]] = ("policies", "targets", "unrelated")
_DEFAULT_NAMESPACE: Final = "default"
# The options of `Call` for reading manifests. `--render` is not among them, since it runs programs.
_READING: Final = ("default_namespace", "exclude", "cluster", "variables", "profiles", "setting")


class KnownInput:
    """Objects of the input of a command line. Methods may raise `PolicyError`, as for a type that does not exist."""

    def __init__(self, line: CommandLine, paths: Sequence[str] = ()) -> None:
        """Keep the line and the manifests that its command would read; none if it would ask a cluster."""
        self.line, self._paths = line, paths

    @property
    def namespace(self) -> str:
        """The namespace of the line, or "" for that of the cluster's context."""
        return self.line.value("namespace") or (_DEFAULT_NAMESPACE if self._paths else "")

    def kinds(self, *roles: KindRole) -> list[KindNames]:
        """Return the kinds in some roles."""
        return [names for role in roles for names in self._kinds[role]]

    @cached_property
    def _kinds(self) -> Mapping[KindRole, Sequence[KindNames]]:
        """The kinds of objects, by what they are to policies."""
        from kubectl_policy.model.kind_roles import TARGET_KINDS
        from kubectl_policy.model.kinds import is_kubernetes_own

        kinds: dict[KindRole, list[KindNames]] = {role: [] for role in ALL_ROLES}
        registry = self._analysis.registry
        for kind in self._analysis.index.group_kinds:
            is_unrelated = kind not in TARGET_KINDS and is_kubernetes_own(kind)
            role: KindRole = "policies" if registry.profile_of(kind) else "unrelated" if is_unrelated else "targets"
            kinds[role].append(registry.names_of(kind))
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

    def kubeconfig(self, option: str) -> Iterable[str]:  # noqa: ARG002 (manifests need none)
        """Return the names in the kubeconfig for `--context`, `--cluster` or `--user`."""
        return ()

    @cached_property
    def _analysis(self) -> Analysis:
        """The analysis of the manifests that the line names, without standard input."""
        from kubectl_policy.cli.call import Call

        paths = [path for path in self._paths if path != "-"]
        if not paths:
            raise UsageError("no manifests are read of a cluster, or of standard input")
        reading: dict[str, Any] = {
            option.parameter: values if option.number == "repeatable" else values[-1]
            for option in self.line.options
            if option.parameter in _READING and (values := self.line.values.get(option.parameter))
        }
        return Call(offline=paths, **reading).read()


def _fields(settings: Mapping[str, Json]) -> Iterator[str]:
    for key, setting in settings.items():
        yield key
        if isinstance(setting, Mapping):
            yield from (f"{key}.{field}" for field in _fields(setting))
