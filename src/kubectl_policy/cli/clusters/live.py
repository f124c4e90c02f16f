"""A cluster as the state that a command asks about: the command is run until nothing is left to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.cli import terminal
from kubectl_policy.errors import ClusterError, NoClusterError, PolicyError, UsageError
from kubectl_policy.model.values import cached_property, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.model import Snapshot
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.sources.cluster.api.connection import Connection
    from kubectl_policy.sources.cluster.api.served import Discovery
    from kubectl_policy.sources.cluster.asking import Cluster
    from kubectl_policy.sources.cluster.changing import Changes
    from kubectl_policy.sources.cluster.options import ClusterOptions
    from kubectl_policy.sources.cluster.reaching.access import Access
    from kubectl_policy.sources.options import Progress

# Seconds after which somebody at a terminal wants to know what is waited for.
PATIENCE: Final = 1.0


class _NotYet(Exception):  # noqa: N818 (nothing is wrong: there is more to be asked)
    """Something that was asked for is still to be read."""


class Live:
    """The cluster of a command, reached when it is first asked."""

    def __init__(
        self, options: Callable[[], ClusterOptions], namespace: str, assumed: Sequence[AssumedObjects]
    ) -> None:
        """Reach it as the options say; without a `namespace`, the context says which one is asked about."""
        self._told, self._namespace, self._assumed = options, namespace, assumed
        self._access: Access | None = None
        self._cluster: Cluster | None = None
        self.progress: Progress | None = None

    @cached_property
    def _options(self) -> ClusterOptions:
        return self._told()

    @property
    def access(self) -> Access:
        """How the cluster is reached. Raises `ClusterError` where nothing says so."""
        if self._access is None:
            from kubectl_policy.sources.cluster.reaching.access import access_to

            self._access = access_to(self._options)
        return self._access

    @property
    def namespace(self) -> str:
        """The namespace that is asked about. Raises `ClusterError` where nothing says how to reach a cluster."""
        return self._namespace or self.access.namespace

    def snapshot(self, profiles: Sequence[PolicyKindProfile], *, optional: bool, routes: bool) -> Snapshot:
        """What was read so far, if asked first all `routes`; nothing if it is `optional` and there is nobody to ask.

        Raises `ClusterError` if it cannot.
        """
        try:
            self._cluster = self._cluster or self._reach(profiles, routes=routes)
        except ClusterError as error:
            if not optional:
                raise
            if not isinstance(error, NoClusterError):
                terminal.complain(f"no cluster was asked: {error.message}")
            from kubectl_policy.model import Snapshot

            return Snapshot()
        return self._cluster.snapshot(self._assumed)

    def _reach(self, profiles: Sequence[PolicyKindProfile], *, routes: bool) -> Cluster:
        from kubectl_policy.model.grants import REFERENCE_GRANT
        from kubectl_policy.model.kinds import NAMESPACE, SERVICE, is_kubernetes_own
        from kubectl_policy.profiles.load import built_in_groups, built_in_profiles
        from kubectl_policy.sources.cluster.asking import Cluster, Interests, Place
        from kubectl_policy.sources.cluster.world import EVENT
        from kubectl_policy.topology.gateway.certificates import SECRET
        from kubectl_policy.topology.references import GATEWAY_CLASS, ROUTES, WITH_LISTENERS, WITH_PORTS

        own, served = {profile.group_kind for profile in profiles}, self._served
        if isinstance(served, PolicyError):
            raise served
        few = (GATEWAY_CLASS, *WITH_LISTENERS, REFERENCE_GRANT)
        singly = {NAMESPACE, *WITH_PORTS, SECRET, EVENT}
        # Filters, parameters and backends of an implementation are in the groups of its policies.
        groups = {*built_in_groups(), *(kind.group for kind in own)}
        interests = Interests(
            few=few,
            first=(*few, *ROUTES, SERVICE, NAMESPACE) if routes else few,
            # Routes lead to these, by names that cannot be asked for before the routes are there.
            alongside=dict.fromkeys(ROUTES, (SERVICE, NAMESPACE)),
            below=dict.fromkeys(WITH_LISTENERS, tuple(ROUTES)),
            is_profiled=lambda kind: kind in own or kind in built_in_profiles(kind.group),
            groups=groups,
            matters=lambda kind: kind in singly or (kind.group in groups and not is_kubernetes_own(kind)),
        )
        place = Place(name=self.name, server=self.access.server, namespace=self.namespace)
        return Cluster(*served, interests, place, self._options.chunk_size)

    @property
    def name(self) -> str:
        """What the cluster is called: by its context, if there is one."""
        return self.access.context or self.access.cluster or self.access.server

    @cached_property
    def _served(self) -> tuple[Connection, Discovery] | PolicyError:
        """The connection to the cluster, and what it serves; or why it cannot be asked."""
        from kubectl_policy.sources.cluster.api.connection import Connection
        from kubectl_policy.sources.cluster.api.discovery import discover
        from kubectl_policy.sources.cluster.api.refusals import RequestRefused
        from kubectl_policy.sources.cluster.cluster_errors import cluster_error

        try:
            server = self.access.server
            # From here on the server is waited for, and nobody who would be asked anything.
            if self.progress:
                self.progress(0, 0, "what it serves")
            connection = Connection(self.access, timeout=self._options.request_timeout)
            return connection, discover(connection, server, self._options.cache_dir)
        except RequestRefused as refusal:
            return cluster_error(self.name, self.access.server, refusal)
        except PolicyError as error:
            return error

    def look_up(self) -> None:
        """Ask the cluster what it serves; what goes wrong with that is told to whoever asks a question."""
        _ = self._served

    def everything(self, profiles: Sequence[PolicyKindProfile]) -> Snapshot:
        """All that any question may ask for, once it was read. Raises `ClusterError` if the cluster cannot be asked."""
        snapshot = self.snapshot(profiles, optional=False, routes=True)
        if self._cluster:
            self._cluster.want_everything()
        self.settle()
        return replace(snapshot, resources=tuple(snapshot.resources))

    @property
    def version(self) -> str:
        """The version of the API server; empty where it is not known."""
        return self._cluster.version() if self._cluster else ""

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for so far was read, or cannot be."""
        return self._cluster is None or self._cluster.is_settled

    def settle(self) -> None:
        """Nothing, unless there is more to be read: then what was found out so far is no answer."""
        if not self.is_settled:
            raise _NotYet

    def fetch(self) -> None:
        """Read what is still to be read."""
        if self._cluster:
            self._cluster.fetch(self.progress)

    def afresh(self) -> Live:
        """The same cluster, reached in the same way, of which nothing is read yet."""
        other = Live(self._told, self._namespace, self._assumed)
        other._access = self.access
        return other

    def watch(self, changes: Changes) -> None:
        """Have changes of all that was read be told, and of nothing else."""
        if self._cluster and not isinstance(self._served, PolicyError):
            changes.follow(self._served[0], self._cluster.watched)

    def refresh(self) -> bool:
        """Ask the cluster what it serves, where that was only remembered: whether it was."""
        return self._cluster is not None and self._cluster.refresh()


def answered(live: Live, ask: Callable[[], int]) -> int:
    """What a command returns that may ask a cluster; what it says counts once all that it asked for was read."""
    said, end = settled(live, ask)
    said.let_go()
    if isinstance(end, PolicyError):
        raise end
    return end


def settled(live: Live, ask: Callable[[], int]) -> tuple[terminal.Held, int | PolicyError]:
    """What a command says, and its code or why there is no answer, once there is nothing left to be read.

    Raises `ClusterError` where nothing can be read.
    """
    with terminal.progress("asking the cluster:", after=PATIENCE) as live.progress:
        said, end = attempt(ask)
        while not counts(live, end):
            said, end = attempt(ask)
        return said, end


def attempt(ask: Callable[[], int]) -> tuple[terminal.Held, int | PolicyError]:
    """What a command says, and its code or why there is no answer, by what was read so far."""
    with terminal.held() as said:
        try:
            return said, ask()
        except _NotYet:
            return said, 0
        except PolicyError as error:
            return said, error


def counts(live: Live, end: int | PolicyError) -> bool:
    """Whether that is how a command ends, as nothing is left to be read; if anything was, it is read for the next time.

    Raises `ClusterError` if that cannot be done.
    """
    if not live.is_settled:
        live.fetch()
        return False
    # A type that nobody knew some hours ago may be there now.
    return not (isinstance(end, UsageError) and live.refresh())
