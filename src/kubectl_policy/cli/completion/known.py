"""What a command line refers to: manifests or a cluster, and their objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model.values import cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.completion.line import CommandLine
    from kubectl_policy.cli.completion.objects import KindRole, KnownKinds, KnownObjects
    from kubectl_policy.model.kinds import KindNames

_DEFAULT_NAMESPACE: Final = "default"
# The options of `Call` for reading manifests. `--render` is not among them, since it runs programs.
_READING: Final = ("default_namespace", "exclude", "cluster", "variables", "profiles", "setting")


class KnownInput:
    """What a command line refers to. All properties are read when needed, and may raise `PolicyError`."""

    def __init__(self, line: CommandLine, deadline: float) -> None:
        """Keep the line, and the time by `time.monotonic` until which programs may run."""
        self._line, self._deadline = line, deadline

    @property
    def namespace(self) -> str:
        """The namespace of the line, or "" for that of the cluster's context."""
        return self._line.value("namespace") or (_DEFAULT_NAMESPACE if self._paths else "")

    def kinds(self, *roles: KindRole) -> list[KindNames]:
        """Return the kinds in some roles."""
        return [names for role in roles for names in getattr(self._kinds, role)]

    @cached_property
    def _kinds(self) -> KnownKinds:
        return self.objects.kinds()

    @cached_property
    def objects(self) -> KnownObjects:
        """The objects of the manifests that the line names, or of the cluster."""
        if self._paths:
            from kubectl_policy.cli.completion.manifests import ManifestObjects

            return ManifestObjects(self.analysis)
        from kubectl_policy.cli.completion.cluster import ClusterObjects

        return ClusterObjects(self._line, self._deadline)

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the manifests that the line names, without standard input; of a cluster it is empty."""
        from kubectl_policy.cli.config import read_config

        paths = [path for path in self._paths if path != "-"]
        if not paths:
            from kubectl_policy import Snapshot, analyze

            config = read_config(self._line.values.get("profiles"), self._line.values.get("setting"))
            return analyze(Snapshot(), profiles=config.profiles, implementation=config.implementation)
        from kubectl_policy.cli.call import Call

        reading: dict[str, Any] = {
            option.parameter: values if option.number == "repeatable" else values[-1]
            for option in self._line.options
            if option.parameter in _READING and (values := self._line.values.get(option.parameter))
        }
        return Call(offline=paths, **reading).read()

    @cached_property
    def _paths(self) -> Sequence[str]:
        """The manifests that the command would read; none if it would ask a cluster."""
        from kubectl_policy.cli.config import offline_paths

        paths = list(self._line.values.get("offline", ()))
        # `lint` takes manifests as its arguments.
        if self._line.command == "lint":
            paths += [*self._line.arguments, *self._line.values.get("filename", ())]
        return paths or offline_paths()
