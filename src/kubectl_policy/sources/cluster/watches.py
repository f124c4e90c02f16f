"""Watch a cluster for changes to what was read of it, each scope in a thread of its own."""

from __future__ import annotations

import time
from threading import Event as Signal
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import text_at
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.cluster.connection import METADATA
from kubectl_policy.sources.cluster.request_failures import RequestFailed
from kubectl_policy.sources.cluster.world import Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.sources.cluster.connection import Connection
    from kubectl_policy.sources.cluster.discovery import Served
    from kubectl_policy.sources.cluster.responses import Watch

# Each watch is a connection to the server.
_MAX_WATCHES: Final = 64
_GONE: Final = 410
# Seconds between two watches of one scope, as some servers end a watch at once.
_PAUSE: Final = 1.0


class WatchScope(Struct, frozen=True):
    """Objects that one watch covers: those at a path or, with a field selector, those of them that it selects."""

    path: str
    selector: str = ""


class ReadVersions(Struct, frozen=True):
    """The versions in which the objects of a scope were read."""

    # The version of the list from which on changes count; "" where single objects were read.
    listed: str = ""
    # The version of each single object by namespace and name, "" for an object that is absent; None for a list.
    objects: Mapping[tuple[str, str], str] | None = None

    def is_outdated_by(self, changed: Mapping[str, Json]) -> bool:
        """Whether a changed object of the scope is one that was read, in another version."""
        if self.objects is None:
            return True
        name = (text_at(changed, "metadata.namespace"), text_at(changed, "metadata.name"))
        version = self.objects.get(name)
        return version is not None and version != text_at(changed, "metadata.resourceVersion")


class _ScopeWatch:
    """The watch of a scope, which goes on as another one whenever the server ends it."""

    def __init__(self, scope: WatchScope, versions: ReadVersions) -> None:
        self.scope, self.versions = scope, versions
        self.current: Watch | None = None
        self.is_closed = False

    def close(self) -> None:
        """Stop watching. A watch that is about to begin goes on for some minutes, and nobody listens."""
        self.is_closed = True
        if self.current:
            self.current.close()


class ClusterWatches:
    """The watches on what a cluster was asked for, for somebody who waits for a change."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._signal, self._lock = Signal(), Lock()
        self._running: dict[WatchScope, _ScopeWatch] = {}
        self._refused: set[WatchScope] = set()
        # Whether every change is noticed: some scopes may not be watched.
        self.is_complete = True

    def follow(self, connection: Connection, scopes: Mapping[WatchScope, ReadVersions]) -> None:
        """Watch some scopes, and nothing else from now on; a scope that is watched already stays so."""
        followed = dict([*scopes.items()][:_MAX_WATCHES])
        with self._lock:
            for scope in self._running.keys() - followed.keys():
                self._running.pop(scope).close()
            started: list[_ScopeWatch] = []
            for scope, versions in followed.items():
                if scope in self._running:
                    self._running[scope].versions = versions
                elif scope not in self._refused:
                    self._running[scope] = _ScopeWatch(scope, versions)
                    started.append(self._running[scope])
            self.is_complete = len(followed) == len(scopes) and self._refused.isdisjoint(followed)
        for watch in started:
            Thread(target=self._run, args=(watch, connection), daemon=True).start()

    def wait(self, seconds: float | None) -> bool:
        """Wait until something changes or may have changed, for some seconds at most; return whether it did."""
        has_changed = self._signal.wait(seconds)
        self._signal.clear()
        return has_changed

    def _run(self, watch: _ScopeWatch, connection: Connection) -> None:
        # Without a version of a list, the server begins with the objects that there are.
        version = watch.versions.listed
        try:
            while not watch.is_closed:
                query = {"resourceVersion": version, "fieldSelector": watch.scope.selector}
                query = {key: text for key, text in query.items() if text}
                watch.current = connection.watch(watch.scope.path, query, METADATA)
                for changed in watch.current:
                    if watch.versions.is_outdated_by(changed):
                        self._signal.set()
                version = watch.current.resource_version
                time.sleep(_PAUSE)
        except RequestFailed as refusal:
            with self._lock:
                if watch.is_closed:
                    return
                self._running.pop(watch.scope, None)
                if not watch.current and refusal.status != _GONE:
                    self._refused.add(watch.scope)
                    self.is_complete = False
            # What changed in the meantime is unknown: the cluster has to be asked.
            self._signal.set()


def watch_scopes(
    versions: Mapping[Query, str], served: Mapping[GroupKind, Served]
) -> Mapping[WatchScope, ReadVersions]:
    """Return one scope for each kind that was read, in the version of what was read.

    A kind that was listed in single namespaces, as it may not be listed everywhere, has one scope for each of them.
    """
    scopes: dict[WatchScope, ReadVersions] = {}
    for kind, queries in grouped((query.kind, query) for query in versions).items():
        scopes.update(_scopes_of_kind(served[kind], queries, versions))
    return scopes


def _scopes_of_kind(
    served: Served, queries: Sequence[Query], versions: Mapping[Query, str]
) -> Iterator[tuple[WatchScope, ReadVersions]]:
    whole = Query(served.group_kind)
    if whole in queries:
        yield WatchScope(served.path(), whole.field_selector), ReadVersions(versions[whole])
        return
    lists = grouped((query.namespace, query) for query in queries if not query.name)
    for namespace, listed in lists.items():
        selecting = listed[0] if len(listed) == 1 else whole
        yield WatchScope(served.path(namespace), selecting.field_selector), ReadVersions(versions[listed[0]])
    single = [query for query in queries if query.name and query.namespace not in lists]
    if single:
        namespaces = {query.namespace for query in single}
        path = served.path(single[0].namespace if len(namespaces) == 1 else "")
        read = {(query.namespace, query.name): versions[query] for query in single}
        yield WatchScope(path, single[0].field_selector if len(single) == 1 else ""), ReadVersions(objects=read)
