"""Discovery: ask an API server for all kinds that it serves, or read them from a cache."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.sources.cluster.api.discovery_cache import read_cache, write_cache
from kubectl_policy.sources.cluster.api.refusals import RequestRefused
from kubectl_policy.sources.cluster.api.served import EVERY_GROUP, Discovery, Served, UnknownGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.fields import Json
    from kubectl_policy.sources.cluster.api.connection import Connection

# Newer servers (1.26, 1.30) answer with everything at once; older ones know only the last of these.
# https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
_AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)
_MAX_THREADS: Final = 8

Result = TypeVar("Result")


def discover(connection: Connection, server: str, cache_dir: str = "") -> Discovery:
    """Return what a server serves, as it was some hours ago if that is cached; `refresh` asks the server.

    What it answers is cached below `cache_dir` (see `discovery_cache`) unless something is missing from it. Raises
    RequestRefused if nothing is cached and the server does not answer.
    """

    def ask() -> Discovery:
        discovery = _ask(connection)
        if not discovery.gaps:
            write_cache(discovery, server, cache_dir)
        return discovery

    cached = read_cache(server, cache_dir)
    return Discovery(cached, (), ask) if cached else ask()


def _ask(connection: Connection) -> Discovery:
    """Ask for what a server serves, by two requests, and of old servers by one more for each version of a group.

    A group that does not answer is a gap. Raises RequestRefused if nothing answers at all.
    """
    core, groups = _ask_in_parallel((partial(_ask_core, connection), partial(_ask_groups, connection)))
    if isinstance(core, RequestRefused) and isinstance(groups, RequestRefused):
        raise core
    served: list[Served] = []
    gaps: list[UnknownGroup] = []
    for group, part in (("", core), (EVERY_GROUP, groups)):
        if isinstance(part, RequestRefused):
            gaps.append(UnknownGroup(group, part.reason))
        else:
            served += part.kinds.values()
            gaps += part.gaps
    return Discovery(served, gaps)


def _ask_core(connection: Connection) -> Discovery:
    body = connection.get("/api", accept=_AGGREGATED).body
    if body.get("kind") == "APIGroupDiscoveryList":
        return _aggregated_discovery(body)
    return _ask_versions(connection, [("", version) for version in strings_at(body, "versions")])


def _ask_groups(connection: Connection) -> Discovery:
    body = connection.get("/apis", accept=_AGGREGATED).body
    if body.get("kind") == "APIGroupDiscoveryList":
        return _aggregated_discovery(body)
    versions: list[tuple[str, str]] = []
    for group in mappings_at(body, "groups"):
        name, preferred = text_at(group, "name"), text_at(group, "preferredVersion.version")
        names = [text_at(version, "version") for version in mappings_at(group, "versions")]
        versions += ((name, version) for version in sorted(names, key=lambda version: version != preferred))
    return _ask_versions(connection, versions)


def _aggregated_discovery(body: Mapping[str, Json]) -> Discovery:
    served: list[Served] = []
    gaps: dict[str, UnknownGroup] = {}
    for item in mappings_at(body, "items"):
        group = text_at(item, "metadata.name")
        for version in mappings_at(item, "versions"):
            if text_at(version, "freshness") == "Stale":
                gaps[group] = UnknownGroup(group, "the server behind this API group does not answer")
            served += _served_kinds(group, text_at(version, "version"), mappings_at(version, "resources"))
    return Discovery(served, [*gaps.values()])


def _ask_versions(connection: Connection, versions: Sequence[tuple[str, str]]) -> Discovery:
    def ask(group: str, version: str) -> list[Mapping[str, Json]]:
        root = f"/apis/{quote(group, safe='')}" if group else "/api"
        return mappings_at(hurried.get(f"{root}/{quote(version, safe='')}").body, "resources")

    hurried = connection.hurried()
    served: list[Served] = []
    gaps: dict[str, UnknownGroup] = {}
    answers = _ask_in_parallel([partial(ask, group, version) for group, version in versions])
    for (group, version), resources in zip(versions, answers, strict=True):
        if isinstance(resources, RequestRefused):
            gaps.setdefault(group, UnknownGroup(group, resources.reason))
        else:
            served += _served_kinds(group, version, resources)
    return Discovery(served, [*gaps.values()])


def _served_kinds(group: str, version: str, resources: Iterable[Mapping[str, Json]]) -> Iterator[Served]:
    """Read the kinds of a version, in either form; subresources, which have a slash in their names, are left out."""
    for resource in resources:
        kind = Served(
            group=group,
            version=version,
            kind=text_at(resource, "kind") or text_at(resource, "responseKind.kind"),
            plural=text_at(resource, "resource") or text_at(resource, "name"),
            singular=text_at(resource, "singularResource") or text_at(resource, "singularName"),
            namespaced=resource.get("namespaced") is True or resource.get("scope") == "Namespaced",
            short_names=tuple(strings_at(resource, "shortNames")),
            verbs=tuple(strings_at(resource, "verbs")),
            categories=tuple(strings_at(resource, "categories")),
        )
        if kind.is_possible:
            yield kind


def _ask_in_parallel(questions: Sequence[Callable[[], Result]]) -> list[Result | RequestRefused]:
    """Return the answers in the order of the questions, or why there are none."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (what is cached needs none)

    def ask(question: Callable[[], Result]) -> Result | RequestRefused:
        try:
            return question()
        except RequestRefused as refusal:
            return refusal

    with ThreadPoolExecutor(_MAX_THREADS) as threads:
        return [*threads.map(ask, questions)]
