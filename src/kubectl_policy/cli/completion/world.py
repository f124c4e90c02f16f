"""The world that a line is about, as far as it is typed: manifests that it names, or a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model.values import cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.completion.known import Kinds, Known, Sort
    from kubectl_policy.cli.completion.typed import Typed
    from kubectl_policy.cli.parameters import Parameter
    from kubectl_policy.model.kinds import KindNames

_DEFAULT_NAMESPACE: Final = "default"
# The options that say how manifests are read and understood. What would run programs for that is none of them.
_READING: Final = ("default_namespace", "exclude", "cluster", "variables", "profiles", "setting")


class World:
    """What is known of the world, found out when it is asked for. All of it may raise `PolicyError`."""

    def __init__(self, parameters: Sequence[Parameter], line: Typed, deadline: float) -> None:
        """Keep what says where to look, and until when, by `time.monotonic`."""
        self._parameters, self._given, self._deadline = parameters, line.given, deadline
        self._line = line

    @property
    def namespace(self) -> str:
        """The namespace that is asked about; empty for that of the context of a cluster."""
        return self._line.last("namespace") or (_DEFAULT_NAMESPACE if self._paths else "")

    def kinds(self, *sorts: Sort) -> list[KindNames]:
        """The kinds of some sorts that there are."""
        return [names for sort in sorts for names in getattr(self._kinds, sort)]

    @cached_property
    def _kinds(self) -> Kinds:
        return self.known.kinds()

    @cached_property
    def known(self) -> Known:
        """What is known."""
        if self._paths:
            from kubectl_policy.cli.completion.manifests import Manifests

            return Manifests(self.analysis)
        from kubectl_policy.cli.completion.cluster import OF_KUBECTL, Cluster

        options: list[str] = []
        for parameter in self._parameters:
            for name in OF_KUBECTL.intersection(parameter.names):
                values = self._given.get(parameter.name, ())
                options += [f"{name}={value}" if parameter.takes("=") else name for value in values]
        return Cluster(options, self._deadline)

    @cached_property
    def analysis(self) -> Analysis:
        """What the command would read of manifests; nothing of a cluster, nor of the shell's standard input."""
        from kubectl_policy.cli.config import known

        told = known(self._given.get("profiles"), self._given.get("setting"))
        files = [path for path in self._paths if path != "-"]
        if not files:
            from kubectl_policy import Snapshot, analyze

            return analyze(Snapshot(), profiles=told.profiles, implementation=told.implementation)
        from kubectl_policy.cli.options import Call

        reading: dict[str, Any] = {
            each.name: each.meant(self._given[each.name])
            for each in self._parameters
            if each.name in _READING and each.name in self._given
        }
        return Call(offline=files, **reading).read()

    @cached_property
    def _paths(self) -> Sequence[str]:
        """The manifests that are read instead of asking a cluster."""
        from kubectl_policy.cli.config import offline_paths

        named = list(self._given.get("offline", ()))
        # One command takes manifests as its words.
        if any(each.name == "paths" for each in self._parameters):
            named += [*self._line.words, *self._given.get("filename", ())]
        return named or offline_paths()
