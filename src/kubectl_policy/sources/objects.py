"""Documents to Kubernetes objects: what is an object, what is a list of them, and what is neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kubectl_policy.model import Diagnostic, GroupKind, Origin
from kubectl_policy.model.fields import mapping_at, time_at
from kubectl_policy.text import UNRENDERED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from kubectl_policy.model import Json
    from kubectl_policy.text import Document

# API groups of files that command-line tools and components read, and that no API server stores.
_CLIENT_SIDE_GROUPS: Final = frozenset(
    {
        "apiserver.config.k8s.io",
        "audit.k8s.io",
        "builtin",
        "client.authentication.k8s.io",
        "kind.x-k8s.io",
        "krew.googlecontainertools.github.com",
        "kubeadm.k8s.io",
        "kubectl.config.k8s.io",
        "kubelet.config.k8s.io",
        "kubeproxy.config.k8s.io",
        "kubescheduler.config.k8s.io",
        "kustomize.config.k8s.io",
    }
)
_KUBECONFIG: Final = GroupKind("", "Config")


class Named(NamedTuple):
    """An object with what it says of its own name; whether its kind has namespaces is not known yet."""

    group_kind: GroupKind
    namespace: str
    name: str
    origin: Origin
    raw: Mapping[str, Json]


class Unnamed(NamedTuple):
    """An object that no reference can be made to, and why; `kind` is empty where it is not known."""

    kind: str
    namespace: str
    diagnostic: Diagnostic
    may_exist: bool = False


# None stands for what is not a Kubernetes object at all, and is counted only.
Content: TypeAlias = Named | Unnamed | None


def contents_of(document: Document, source: str) -> Iterator[Content]:
    """The objects in a document: itself, or the items of a List however deep it is in other Lists."""
    rest: list[tuple[Json, tuple[int, ...], int]] = [(document.value, (), document.line)]
    while rest:
        value, position, line = rest.pop()
        items = _items_of(value)
        if items is None:
            yield _content(value, Origin(source, line))
        else:
            places = [(item, (*position, number)) for number, item in enumerate(items)]
            rest.extend((item, place, document.item_lines.get(place, line)) for item, place in reversed(places))


def created_at(raw: Mapping[str, Json]) -> datetime | None:
    """`metadata.creationTimestamp` with its time zone; None where it is absent or is no such time."""
    return time_at(raw, "metadata.creationTimestamp")


def _items_of(value: Json) -> list[Json] | None:
    """The items of a List as objects; None of anything else.

    In a List of one kind, as the API itself gives it, the items do not repeat the kind (`HTTPRouteList`).
    """
    if not isinstance(value, dict) or "items" not in value or "apiVersion" not in value:
        return None
    items, kind = value["items"], value.get("kind")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list | None):
        return None
    item_kind = kind.removesuffix("List")
    known: dict[str, Json] = {"apiVersion": value["apiVersion"], "kind": item_kind} if item_kind else {}
    return [{**known, **item} if known and isinstance(item, dict) else item for item in items or ()]


def _content(value: Json, origin: Origin) -> Content:
    if not isinstance(value, dict) or ("apiVersion" not in value and "kind" not in value):
        return None
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if not (api_version and isinstance(api_version, str) and kind and isinstance(kind, str)):
        return None if _is_chart(value) else _without_kind(origin)
    group_kind = GroupKind(api_version.rpartition("/")[0], kind)
    if group_kind.group in _CLIENT_SIDE_GROUPS or group_kind == _KUBECONFIG:
        return None
    return _named(group_kind, value, origin)


def _is_chart(raw: Mapping[str, Json]) -> bool:
    """Whether this is a Helm chart's Chart.yaml, which has an apiVersion although it is nothing of Kubernetes."""
    return "kind" not in raw and {"name", "version"} <= raw.keys()


def _without_kind(origin: Origin) -> Unnamed:
    message = "an object needs both apiVersion and kind, as text: add what is missing, or leave the file out"
    return Unnamed("", "", Diagnostic("no-kind", "warning", message, origin=origin))


def _named(group_kind: GroupKind, raw: Mapping[str, Json], origin: Origin) -> Named | Unnamed:
    metadata = mapping_at(raw, "metadata")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if "{{" in f"{group_kind.group} {group_kind.kind} {name} {namespace}":
        diagnostic = Diagnostic("unrendered-template", "warning", UNRENDERED, origin=origin)
        return Unnamed("", "", diagnostic, may_exist=True)
    if name and isinstance(name, str) and (namespace is None or isinstance(namespace, str)):
        return Named(group_kind, namespace or "", name, origin, raw)
    field = "metadata.namespace" if name and isinstance(name, str) else "metadata.name"
    message = f"{field} must be text: only an object with a fixed name can be referred to"
    return Unnamed(
        group_kind.kind,
        namespace if isinstance(namespace, str) else "",
        Diagnostic("no-name", "warning", message, field=field, origin=origin),
        may_exist=bool(metadata.get("generateName")),
    )
