"""Which kinds an API server serves: asked all at once, or remembered from some hours ago."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar
from urllib.parse import quote

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.sources.cluster.api.answers import Refusal
from kubectl_policy.sources.cluster.api.remembered import remember, remembered
from kubectl_policy.sources.cluster.api.served import EVERY_GROUP, Discovery, Served, UnknownGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.fields import Json
    from kubectl_policy.sources.cluster.api.answers import Answer

__all__ = ["EVERY_GROUP", "Asked", "Discovery", "Served", "UnknownGroup", "discover"]

# Newer servers (1.26, 1.30) answer with everything at once; older ones know only the last of these.
# https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
_AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)
_PARALLEL: Final = 8

Found = TypeVar("Found")


class Asked(Protocol):
    """What a server can be asked through: a `Connection`."""

    def get(self, path: str, query: Mapping[str, str] = ..., accept: str = ...) -> Answer:
        """What there is at a path. Raises Refusal."""
        ...

    def hurried(self) -> Asked:
        """The same, but it leaves half of the time for what is asked later."""
        ...


def discover(connection: Asked, server: str, cache_dir: str = "") -> Discovery:
    """What a server serves, as it was some hours ago if that was written down; `refresh` asks the server.

    What it answers is written down below `cache_dir` (see `remembered`) unless something is missing from it. Raises
    Refusal if nothing is written down and the server does not answer.
    """

    def ask() -> Discovery:
        found = _asked(connection)
        if not found.gaps:
            remember(found, server, cache_dir)
        return found

    served = remembered(server, cache_dir)
    return Discovery(served, (), ask) if served else ask()


def _asked(connection: Asked) -> Discovery:
    """What a server serves, by two requests, or of old servers by one more for each version of a group.

    A group that does not answer is a gap. Raises Refusal if nothing answers at all.
    """
    core, groups = _in_parallel((partial(_core, connection), partial(_groups, connection)))
    if isinstance(core, Refusal) and isinstance(groups, Refusal):
        raise core
    served: list[Served] = []
    gaps: list[UnknownGroup] = []
    for group, part in (("", core), (EVERY_GROUP, groups)):
        if isinstance(part, Refusal):
            gaps.append(UnknownGroup(group, part.reason))
        else:
            served += part.kinds.values()
            gaps += part.gaps
    return Discovery(served, gaps)


def _core(connection: Asked) -> Discovery:
    body = connection.get("/api", accept=_AGGREGATED).body
    if body.get("kind") == "APIGroupDiscoveryList":
        return _aggregated(body)
    return _asked_singly(connection, [("", version) for version in strings_at(body, "versions")])


def _groups(connection: Asked) -> Discovery:
    body = connection.get("/apis", accept=_AGGREGATED).body
    if body.get("kind") == "APIGroupDiscoveryList":
        return _aggregated(body)
    versions: list[tuple[str, str]] = []
    for group in mappings_at(body, "groups"):
        name, preferred = text_at(group, "name"), text_at(group, "preferredVersion.version")
        others = [text_at(each, "version") for each in mappings_at(group, "versions")]
        versions += ((name, each) for each in sorted(others, key=lambda each: each != preferred))
    return _asked_singly(connection, versions)


def _aggregated(body: Mapping[str, Json]) -> Discovery:
    served: list[Served] = []
    gaps: dict[str, UnknownGroup] = {}
    for item in mappings_at(body, "items"):
        group = text_at(item, "metadata.name")
        for version in mappings_at(item, "versions"):
            if text_at(version, "freshness") == "Stale":
                gaps[group] = UnknownGroup(group, "the server behind this API group does not answer")
            served += _each_served(group, text_at(version, "version"), mappings_at(version, "resources"))
    return Discovery(served, [*gaps.values()])


def _asked_singly(connection: Asked, versions: Sequence[tuple[str, str]]) -> Discovery:
    def resources(group: str, version: str) -> list[Mapping[str, Json]]:
        root = f"/apis/{quote(group, safe='')}" if group else "/api"
        return mappings_at(connection.get(f"{root}/{quote(version, safe='')}").body, "resources")

    connection = connection.hurried()
    served: list[Served] = []
    gaps: dict[str, UnknownGroup] = {}
    answers = _in_parallel([partial(resources, *each) for each in versions])
    for (group, version), found in zip(versions, answers, strict=True):
        if isinstance(found, Refusal):
            gaps.setdefault(group, UnknownGroup(group, found.reason))
        else:
            served += _each_served(group, version, found)
    return Discovery(served, [*gaps.values()])


def _each_served(group: str, version: str, resources: Iterable[Mapping[str, Json]]) -> Iterator[Served]:
    """What can be read of the resources of a version, in either form; subresources have a slash in their names."""
    for each in resources:
        found = Served(
            group=group,
            version=version,
            kind=text_at(each, "kind") or text_at(each, "responseKind.kind"),
            plural=text_at(each, "resource") or text_at(each, "name"),
            singular=text_at(each, "singularResource") or text_at(each, "singularName"),
            namespaced=each.get("namespaced") is True or each.get("scope") == "Namespaced",
            short_names=tuple(strings_at(each, "shortNames")),
            verbs=tuple(strings_at(each, "verbs")),
            categories=tuple(strings_at(each, "categories")),
        )
        if found.is_possible:
            yield found


def _in_parallel(questions: Sequence[Callable[[], Found]]) -> list[Found | Refusal]:
    """The answers in the order of the questions, or why there are none."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (what is remembered needs none)

    def answer(question: Callable[[], Found]) -> Found | Refusal:
        try:
            return question()
        except Refusal as refusal:
            return refusal

    with ThreadPoolExecutor(_PARALLEL) as threads:
        return [*threads.map(answer, questions)]
