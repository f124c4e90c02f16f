"""Discovery: the kinds that an API server serves, and how to ask it for them; they are cached for some hours."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.model.kinds import why_impossible
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.sources.cluster.request_failures import RequestFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.fields import Json
    from kubectl_policy.sources.cluster.connection import Connection


# Newer servers (1.26, 1.30) answer with everything at once; older ones know only the last of these.
# https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
_AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)
_MAX_THREADS: Final = 8
_NEEDED: Final = frozenset({"get", "list"})
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
# The group of a gap where it is not even known which groups there are.
EVERY_GROUP: Final = "*"
_NO_GAPS: Final[Mapping[str, RequestFailed]] = MappingProxyType({})
# As long as kubectl keeps its own: cli-runtime, pkg/genericclioptions/config_flags.go, `ToDiscoveryClient`.
_SECONDS: Final = 6 * 3600.0
# Clocks of file systems may be ahead by as many seconds.
_MAX_AHEAD: Final = 60
_MAX_BYTES: Final = 2**24
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9.-]")


class Served(Struct, frozen=True, gc=False):
    """A kind whose objects can be got and listed, in the version in which the server prefers to give them."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()

    @property
    def group_kind(self) -> GroupKind:
        """The kind without its version."""
        return GroupKind(self.group, self.kind)

    @property
    def is_possible(self) -> bool:
        """Whether there can be such a kind."""
        return all(map(_NAME.fullmatch, (self.plural, self.version))) and not why_impossible(self.group_kind)

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of the objects everywhere or in a namespace, or of the one of a name."""
        steps = ["apis", self.group, self.version] if self.group else ["api", self.version]
        steps += ["namespaces", namespace] if namespace and self.namespaced else []
        steps += [self.plural, *([name] if name else [])]
        return "/" + "/".join(quote(step, safe="") for step in steps)


class Discovery:
    """Kinds that a server serves, in its order, and the refusal of each group of which that is not known.

    The group is `EVERY_GROUP` where it is not even known which groups there are.
    """

    def __init__(
        self,
        served: Iterable[Served],
        gaps: Mapping[str, RequestFailed] = _NO_GAPS,
        ask_again: Callable[[], Discovery] | None = None,
    ) -> None:
        """Keep the first version of each kind; without a way to ask again, the server was asked just now."""
        kinds: dict[GroupKind, Served] = {}
        for kind in served:
            kinds.setdefault(kind.group_kind, kind)
        self.kinds: Mapping[GroupKind, Served] = kinds
        self.gaps, self._ask_again = gaps, ask_again

    @property
    def is_remembered(self) -> bool:
        """Whether the kinds come from the cache, so that the server may serve more by now."""
        return self._ask_again is not None

    def refresh(self) -> Discovery:
        """Return what the server serves now: this, unless it comes from the cache. Raises RequestRefused."""
        return self._ask_again() if self._ask_again else self


def ask_server(connection: Connection) -> Discovery:
    """Ask for what a server serves, by two requests, and of old servers by one more for each version of a group.

    A group that does not answer is a gap. Raises RequestRefused if nothing answers at all.
    """
    paths = {"": "/api", EVERY_GROUP: "/apis"}
    discovery = _ask_in_parallel([(group, partial(_ask_root, connection, path)) for group, path in paths.items()])
    if discovery.gaps.keys() >= paths.keys():
        raise discovery.gaps[""]
    return discovery


def _ask_root(connection: Connection, path: str) -> Discovery:
    body = connection.get(path, accept=_AGGREGATED)
    if body.get("kind") == "APIGroupDiscoveryList":
        return _read_aggregated(body)
    # Below /api there is one group, the versions of which have no groups around them.
    versions = [("", version) for version in strings_at(body, "versions")]
    for group in mappings_at(body, "groups"):
        name, preferred = text_at(group, "name"), text_at(group, "preferredVersion.version")
        names = [text_at(version, "version") for version in mappings_at(group, "versions")]
        versions += ((name, version) for version in sorted(names, key=lambda version: version != preferred))
    hurried = connection.hurried()
    return _ask_in_parallel([(group, partial(_ask_version, hurried, group, version)) for group, version in versions])


def _read_aggregated(body: Mapping[str, Json]) -> Discovery:
    served: list[Served] = []
    gaps: dict[str, RequestFailed] = {}
    for group_item in mappings_at(body, "items"):
        group = text_at(group_item, "metadata.name")
        for version in mappings_at(group_item, "versions"):
            if text_at(version, "freshness") == "Stale":
                gaps[group] = RequestFailed(HTTPStatus.OK, "the server behind this API group does not answer")
            served += _read_kinds(group, text_at(version, "version"), mappings_at(version, "resources"))
    return Discovery(served, gaps)


def _ask_version(connection: Connection, group: str, version: str) -> Discovery:
    root = f"/apis/{quote(group, safe='')}" if group else "/api"
    body = connection.get(f"{root}/{quote(version, safe='')}")
    return Discovery(_read_kinds(group, version, mappings_at(body, "resources")))


def _read_kinds(group: str, version: str, resources: Iterable[Mapping[str, Json]]) -> Iterator[Served]:
    """Read the kinds of a version, in either form; subresources, which have a slash in their names, are left out."""
    for resource in resources:
        kind = Served(
            group=group,
            version=version,
            kind=text_at(resource, "kind") or text_at(resource, "responseKind.kind"),
            plural=text_at(resource, "resource") or text_at(resource, "name"),
            namespaced=resource.get("namespaced") is True or resource.get("scope") == "Namespaced",
            short_names=tuple(strings_at(resource, "shortNames")),
        )
        if _NEEDED.issubset(strings_at(resource, "verbs")) and kind.is_possible:
            yield kind


def _ask_in_parallel(questions: Sequence[tuple[str, Callable[[], Discovery]]]) -> Discovery:
    """Put together the answers to questions, each of which is about a group: one that is refused is a gap."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (what is cached needs none)

    def ask(question: tuple[str, Callable[[], Discovery]]) -> Discovery:
        group, ask_part = question
        try:
            return ask_part()
        except RequestFailed as refusal:
            return Discovery((), {group: refusal})

    with ThreadPoolExecutor(_MAX_THREADS) as threads:
        parts = [*threads.map(ask, questions)]
    gaps = {group: refusal for part in parts for group, refusal in part.gaps.items()}
    return Discovery((kind for part in parts for kind in part.kinds.values()), gaps)


class CachedKinds(msgspec.Struct, frozen=True):
    """The content of the file."""

    server: str
    kinds: tuple[Served, ...]


def discover(connection: Connection, server: str, cache_dir: str = "") -> Discovery:
    """Return what a server serves, as it was some hours ago if that is cached; `refresh` asks the server.

    What it answers is cached below `cache_dir` unless something is missing from it. Raises RequestRefused if nothing is
    cached and the server does not answer.
    """

    def ask() -> Discovery:
        discovery = ask_server(connection)
        if not discovery.gaps:
            write_cache(discovery, server, cache_dir)
        return discovery

    cached = read_cache(server, cache_dir)
    return Discovery(cached, ask_again=ask) if cached else ask()


def cache_path(server: str, cache_dir: str = "") -> Path | None:
    """Return the path of the file about a server; None without a home.

    As with kubectl, a `cache_dir` precedes $KUBECACHEDIR, which precedes ~/.kube/cache; the folder is called like the
    host.
    """
    host = _NOT_IN_NAMES.sub("_", server.partition("://")[2] or server).strip(".")
    with suppress(RuntimeError):
        root = cache_dir or os.environ.get("KUBECACHEDIR") or Path.home() / ".kube" / "cache"
        return Path(root) / "kubectl-policy" / host / "discovery.json" if host else None
    return None


def read_cache(server: str, cache_dir: str = "") -> Sequence[Served]:
    """Return the kinds that a server served some hours ago; none if that is too old, or others could write the file."""
    try:
        # Opening a pipe would wait for who writes into it.
        handle = os.open(cache_path(server, cache_dir) or "", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            is_own = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            is_young = -_MAX_AHEAD < time.time() - status.st_mtime < _SECONDS
            is_usable = stat.S_ISREG(status.st_mode) and is_own and is_young and status.st_size < _MAX_BYTES
            cached = msgspec.json.decode(file.read() if is_usable else b"", type=CachedKinds)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return ()
    return cached.kinds if cached.server == server and all(kind.is_possible for kind in cached.kinds) else ()


def write_cache(discovery: Discovery, server: str, cache_dir: str = "") -> None:
    """Write what a server serves into the file, for nobody else to read; where that is not possible, do nothing."""
    path = cache_path(server, cache_dir)
    if not path:
        return
    with suppress(OSError):
        for parent in reversed(path.parents):
            parent.mkdir(mode=0o700, exist_ok=True)
        # Several commands may write at once: each writes a file of its own, and the last one stays.
        with TemporaryDirectory(dir=path.parent) as folder:
            new = Path(folder) / path.name
            new.touch(mode=0o600)
            new.write_bytes(msgspec.json.encode(CachedKinds(server, tuple(discovery.kinds.values()))))
            new.replace(path)
