"""Run a command on a cluster until everything was read that it asks for; ask several clusters the same question."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.cli import terminal
from kubectl_policy.errors import (
    FOUND,
    INCOMPLETE,
    ClusterError,
    NoClusterError,
    PolicyError,
    StillToBeRead,
    UsageError,
)
from kubectl_policy.render.output.formats import OF_CI, PICTURES, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Snapshot
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.render.output.cluster_answers import ClusterAnswer
    from kubectl_policy.sources.cluster.access import Access, ClusterOptions
    from kubectl_policy.sources.cluster.cluster import Cluster
    from kubectl_policy.sources.cluster.connection import Connection
    from kubectl_policy.sources.cluster.discovery import Discovery
    from kubectl_policy.sources.cluster.world import Interests
    from kubectl_policy.sources.options import Progress

# Seconds after which a terminal shows what is waited for.
PATIENCE: Final = 1.0


class AskedCluster:
    """The cluster of a command, reached when it is first asked."""

    def __init__(
        self, options: ClusterOptions, namespace: str, assumed: Sequence[AssumedObjects], access: Access | None = None
    ) -> None:
        """Keep the options; without a `namespace`, that of the context is meant."""
        self._options, self._namespace, self._assumed, self._access = options, namespace, assumed, access
        # The objects that were read so far; None before the first question.
        self.cluster: Cluster | None = None
        self.progress: Progress | None = None
        self._served: tuple[Connection, Discovery] | PolicyError | None = None

    def unread_copy(self) -> AskedCluster:
        """Return the same cluster, reached in the same way, of which nothing is read yet."""
        return AskedCluster(self._options, self._namespace, self._assumed, self.access)

    @property
    def access(self) -> Access:
        """Return how the cluster is reached. Raises `ClusterError` where nothing says so."""
        if self._access is None:
            from kubectl_policy.sources.cluster.access import access_to

            self._access = access_to(self._options)
        return self._access

    @property
    def namespace(self) -> str:
        """Return the namespace that the question is about. Raises `ClusterError` where there is no context."""
        return self._namespace or self.access.namespace

    def snapshot(self, profiles: Sequence[PolicyKindProfile], *, optional: bool, routes: bool) -> Snapshot:
        """Return the objects that were read so far; none if the cluster is `optional` and cannot be asked.

        All `routes` are requested at once. Raises `ClusterError` if the cluster cannot be asked.
        """
        try:
            self.cluster = self.cluster or self._reach(_interests(profiles, routes=routes))
        except ClusterError as error:
            if not optional:
                raise
            if not isinstance(error, NoClusterError):
                terminal.write_remarks(f"no cluster was asked: {error.message}")
            from kubectl_policy.model import Snapshot

            return Snapshot()
        return self.cluster.snapshot(self._assumed)

    def everything(self, profiles: Sequence[PolicyKindProfile]) -> Snapshot:
        """Return all objects that any question may ask for, once they were read.

        Raises `ClusterError` if the cluster cannot be asked.
        """
        snapshot = self.snapshot(profiles, optional=False, routes=True)
        if self.cluster:
            self.cluster.want_everything()
        self.require_all_read()
        return replace(snapshot, resources=tuple(snapshot.resources))

    def require_all_read(self) -> None:
        """Raise `StillToBeRead` unless everything was read that the command asked for."""
        if self.cluster and not self.cluster.is_settled:
            raise StillToBeRead(self.access.name)

    def _reach(self, interests: Interests) -> Cluster:
        from kubectl_policy.sources.cluster.cluster import Cluster

        served = self.look_up()
        if isinstance(served, PolicyError):
            raise served
        return Cluster(*served, interests, self.namespace, self._options.chunk_size)

    def look_up(self) -> tuple[Connection, Discovery] | PolicyError:
        """Return the connection to the cluster and the kinds that it serves; or why it cannot be asked.

        Clusters are asked at the same time; before Python 3.12, `cached_property` lets one thread at a time compute.
        """
        if self._served is None:
            self._served = self._connect()
        return self._served

    def _connect(self) -> tuple[Connection, Discovery] | PolicyError:
        from kubectl_policy.sources.cluster.connection import Connection
        from kubectl_policy.sources.cluster.discovery import discover
        from kubectl_policy.sources.cluster.request_failures import RequestFailed, cluster_error

        try:
            server = self.access.server
            # Whoever had to log in has done so: from here on only the server is waited for.
            if self.progress:
                self.progress(0, 0, "what it serves")
            connection = Connection(self.access, timeout=self._options.request_timeout)
            return connection, discover(connection, server, self._options.cache_dir)
        except RequestFailed as refusal:
            return cluster_error(self.access, refusal)
        except PolicyError as error:
            return error


def _interests(profiles: Sequence[PolicyKindProfile], *, routes: bool) -> Interests:
    """Return the kinds to read, by profiles and the Gateway API; all `routes` are requested at once."""
    from kubectl_policy.model.kind_roles import (
        GATEWAY_CLASS,
        LISTENER_HOLDERS,
        NAMESPACE,
        NODE,
        POD,
        PORT_HOLDERS,
        REFERENCE_GRANT,
        ROUTES,
        SERVICE,
        WORKLOADS,
    )
    from kubectl_policy.model.kinds import is_kubernetes_own
    from kubectl_policy.profiles.load import built_in_groups, built_in_profiles
    from kubectl_policy.sources.cluster.world import EVENT, Interests
    from kubectl_policy.topology.gateway.certificates import SECRET

    by_kind = {profile.group_kind: profile for profile in profiles}

    def profile_of(kind: GroupKind) -> PolicyKindProfile | None:
        return by_kind.get(kind) or built_in_profiles(kind.group).get(kind)

    def is_for_workloads(kind: GroupKind) -> bool:
        profile = profile_of(kind)
        if profile and profile.connections:
            return True
        targets = profile.declared_targets if profile and profile.attachment == "none" else ()
        return bool(targets) and {POD, NODE}.issuperset(targets)

    small_kinds = (GATEWAY_CLASS, *LISTENER_HOLDERS, REFERENCE_GRANT)
    singly = {NAMESPACE, *PORT_HOLDERS, SECRET, EVENT}
    # Filters, parameters and backends of an implementation are in the groups of its policies.
    groups = {*built_in_groups(), *(kind.group for kind in by_kind)}
    return Interests(
        small_kinds=small_kinds,
        first=(*small_kinds, *ROUTES, SERVICE, NAMESPACE) if routes else small_kinds,
        # Routes lead to these, by names that cannot be asked for before the routes are there.
        alongside={**dict.fromkeys(ROUTES, (SERVICE, NAMESPACE)), POD: (NAMESPACE,)},
        # Which policies select a Pod, and which Pods are its peers, depends on the labels of all.
        descendants={**dict.fromkeys(LISTENER_HOLDERS, tuple(ROUTES)), **dict.fromkeys(WORKLOADS, (POD,))},
        is_profiled=lambda kind: profile_of(kind) is not None,
        is_for_workloads=is_for_workloads,
        groups=groups,
        matters=lambda kind: kind in singly or (kind.group in groups and not is_kubernetes_own(kind)),
    )


def run_command(live: AskedCluster, command: Callable[[], int]) -> int:
    """Run a command that may ask a cluster; print what it prints, and return its exit code.

    Raises `PolicyError` if there is no answer.
    """
    output, end = run_until_settled(live, command)
    output.release()
    if isinstance(end, PolicyError):
        raise end
    return end


def run_until_settled(live: AskedCluster, command: Callable[[], int]) -> tuple[terminal.HeldOutput, int | PolicyError]:
    """Run a command until everything is read that it asks for; return its last output, and its exit code or error.

    Raises `ClusterError` if the cluster cannot be asked.
    """
    with terminal.progress("asking the cluster:", after=PATIENCE) as live.progress:
        while True:
            output, end = attempt(command)
            if not fetch_wanted(live, end):
                return output, end


def attempt(command: Callable[[], int]) -> tuple[terminal.HeldOutput, int | PolicyError]:
    """Run a command once, on what was read so far; return its output, and its exit code or error."""
    with terminal.hold_output() as output:
        try:
            return output, command()
        except StillToBeRead:
            return output, 0
        except PolicyError as error:
            return output, error


def fetch_wanted(live: AskedCluster, end: int | PolicyError) -> bool:
    """Read what an attempt that ended so asked for and lacked. Return False if it lacked nothing.

    Raises `ClusterError` if the cluster cannot be asked.
    """
    cluster = live.cluster
    if cluster and not cluster.is_settled:
        cluster.fetch(live.progress)
        return True
    # A type that was unknown some hours ago may be served now.
    return bool(cluster and isinstance(end, UsageError) and cluster.refresh())


# Exit codes, from the best to the worst.
_CODES: Final = (0, FOUND, INCOMPLETE, UsageError.exit_code, PolicyError.exit_code)
_MAX_THREADS: Final = 16


# By context a cluster, and what asks it and returns an exit code.
Questions: TypeAlias = "Mapping[str, tuple[AskedCluster, Callable[[], int]]]"


def ask_clusters(questions: Questions, collected: Mapping[str, ClusterAnswer], output_format: str) -> int:
    """Ask each cluster, show the answers that are collected by then in a format, and return the worst exit code.

    A cluster that gives no answer is an error on standard error. Raises `PolicyError` if all give none for the same
    reason, or if the format has no place for the cluster.
    """
    from kubectl_policy.render.output.cluster_answers import Unanswered, render_answers

    if not questions:
        raise ClusterError("there is no context in the kubeconfig", "`kubectl config get-contexts` lists them")
    if format_of(output_format).part in {"names", *PICTURES, *OF_CI}:
        message = f"-o {output_format} does not say which cluster an object is in"
        raise UsageError(message, "ask one --context, or use -o json")
    ends = _ask_all(questions)
    errors = {context: end for context, (_, end) in ends.items() if isinstance(end, PolicyError)}
    if len(errors) == len(questions) and len({(error.message, error.hint) for error in errors.values()}) == 1:
        raise next(iter(errors.values()))
    answers = tuple(collected[context] for context in ends if context in collected and context not in errors)
    unanswered = tuple(
        Unanswered(context=context, message=_message_in(context, error), hint=error.hint)
        for context, error in errors.items()
    )
    if answers:
        shown = render_answers(answers, unanswered, output_format)
        terminal.show(shown, answers[0].view.width, coloured=answers[0].view.coloured)
    for context, (output, _) in ends.items():
        output.release(f"{context}: ")
    for context, error in errors.items():
        message = f"error: {context}: {_message_in(context, error)}"
        terminal.write_remarks(message, *([f"hint: {error.hint}"] if error.hint else []))
    codes = [end.exit_code if isinstance(end, PolicyError) else end for _, end in ends.values()]
    return max(codes, key=_CODES.index)


def _message_in(context: str, error: PolicyError) -> str:
    """Return the message of an error next to the name of its cluster, which the message may begin with."""
    return error.message.removeprefix(f"{context}: ")


def _ask_all(questions: Questions) -> dict[str, tuple[terminal.HeldOutput, int | PolicyError]]:
    """Return the output of each command beside its answer, and its exit code or error, by context.

    Clusters are read at the same time; everything else is done for one after another.
    """
    from concurrent.futures import ThreadPoolExecutor

    lives = [live for live, _ in questions.values()]
    for live in lives:
        # Whoever has to log in is asked for one cluster after another.
        with suppress(PolicyError):
            _ = live.access
    ends: dict[str, tuple[terminal.HeldOutput, int | PolicyError]] = {}
    with (
        terminal.progress("asking the clusters:", after=PATIENCE) as progress,
        ThreadPoolExecutor(min(len(questions), _MAX_THREADS)) as threads,
    ):
        for live in lives:
            live.progress = progress
        list(threads.map(AskedCluster.look_up, lives))
        while waiting := {context: question for context, question in questions.items() if context not in ends}:
            attempts = [attempt(ask) for _, ask in waiting.values()]
            asked = [live for live, _ in waiting.values()]
            settled = threads.map(_end_if_complete, asked, [end for _, end in attempts])
            for context, (output, _), end in zip(waiting, attempts, settled, strict=True):
                if end is not None:
                    ends[context] = output, end
    return {context: ends[context] for context in questions}


def _end_if_complete(live: AskedCluster, end: int | PolicyError) -> int | PolicyError | None:
    """Return the end of an attempt; None if there was more to be read for the next attempt."""
    try:
        return None if fetch_wanted(live, end) else end
    except PolicyError as error:
        return error
