"""Tiny builders of Kubernetes objects for tests: each returns a `Resource`, with the fields that a test names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from kubectl_policy.model import Diagnostic, Gap, GroupKind, NodeRef, ObjectRef, Origin, Resource, Snapshot
from kubectl_policy.model.fields import Json, mapping_at
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_CLASS, LISTENER_HOLDERS, REFERENCE_GRANT, ROUTES
from kubectl_policy.model.kinds import BUILT_IN
from kubectl_policy.topology import Topology, shape_problems_of
from kubectl_policy.topology.problems import dangling_references

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
ORIGIN: Final = Origin("test.yaml", 1)
_CLUSTER_SCOPED: Final = frozenset(names.group_kind for names in BUILT_IN if not names.namespaced)
_API_VERSIONS: Final = {
    "": "v1",
    "apps": "apps/v1",
    GATEWAY_API: f"{GATEWAY_API}/v1",
    "apiextensions.k8s.io": "apiextensions.k8s.io/v1",
}


def ref(kind: str, name: str, namespace: str = "default", group: str = GATEWAY_API) -> ObjectRef:
    """The reference to an object; kinds known to be cluster-scoped lose their namespace."""
    group_kind = GroupKind(group, kind)
    return ObjectRef(group_kind, "" if group_kind in _CLUSTER_SCOPED else namespace, name)


def node(kind: str, name: str, section: str = "", namespace: str = "default", group: str = GATEWAY_API) -> NodeRef:
    """The node of an object, or of one of its sections."""
    return NodeRef(ref(kind, name, namespace, group), section)


def resource(  # noqa: PLR0913 - a builder is read by its keywords
    kind: str,
    name: str,
    spec: Json = None,
    *,
    group: str = GATEWAY_API,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    age: int | None = None,
    **top: Json,
) -> Resource:
    """Any object, created `age` minutes after a fixed instant (None: unknown); `top` are further top-level fields."""
    reference = ref(kind, name, namespace, group)
    metadata: dict[str, Json] = {"name": name}
    if reference.namespace:
        metadata["namespace"] = reference.namespace
    if labels is not None:
        metadata["labels"] = dict(labels)
    created = None if age is None else EPOCH + timedelta(minutes=age)
    if created is not None:
        metadata["creationTimestamp"] = created.isoformat().replace("+00:00", "Z")
    raw: dict[str, Json] = {
        "apiVersion": _API_VERSIONS.get(group, f"{group}/v1alpha1"),
        "kind": kind,
        "metadata": metadata,
    }
    if spec is not None:
        raw["spec"] = spec
    raw.update((key, value) for key, value in top.items() if value is not None)
    return Resource(reference, ORIGIN, raw, created)


def with_metadata(built: Resource, **fields: Json) -> Resource:
    """The same object with other, or more, fields of its metadata."""
    return replace(built, raw={**built.raw, "metadata": {**mapping_at(built.raw, "metadata"), **fields}})


def namespace(name: str, labels: Mapping[str, str] | None = None) -> Resource:
    """A Namespace with the label that an API server adds."""
    return resource("Namespace", name, group="", labels={"kubernetes.io/metadata.name": name, **(labels or {})})


def gateway_class(
    name: str = "public", controller: str = "example.com/gateway", status: Json = None, **spec: Json
) -> Resource:
    """A GatewayClass."""
    return resource("GatewayClass", name, {"controllerName": controller, **spec}, status=status)


def listener(name: str = "http", protocol: str = "HTTP", port: int = 80, **fields: Json) -> dict[str, Json]:
    """A listener of a Gateway or a ListenerSet; `allowedRoutes` is `Same` unless given."""
    allowed: dict[str, Json] = {"namespaces": {"from": "Same"}}
    return {"name": name, "protocol": protocol, "port": port, "allowedRoutes": allowed, **fields}


def allow(
    source: str = "All", selector: Json = None, kinds: Sequence[tuple[str, str] | str] | None = None
) -> dict[str, Json]:
    """A listener's `allowedRoutes`; a kind is a kind of the Gateway API or a (group, kind)."""
    namespaces: dict[str, Json] = {"from": source}
    if selector is not None:
        namespaces["selector"] = selector
    allowed: dict[str, Json] = {"namespaces": namespaces}
    if kinds is not None:
        pairs = [(GATEWAY_API, kind) if isinstance(kind, str) else kind for kind in kinds]
        allowed["kinds"] = [{"group": group, "kind": kind} for group, kind in pairs]
    return allowed


def gateway(
    name: str = "g",
    *listeners: Mapping[str, Json],
    class_name: str = "public",
    namespace: str = "default",
    age: int | None = None,
    **spec: Json,
) -> Resource:
    """A Gateway; with one HTTP listener on port 80 for routes of its own namespace unless listeners are given."""
    fields: dict[str, Json] = {"gatewayClassName": class_name, "listeners": list(listeners) or [listener()], **spec}
    return resource("Gateway", name, fields, namespace=namespace, age=age)


def listener_set(  # noqa: PLR0913 - a builder is read by its keywords
    name: str = "ls",
    *listeners: Mapping[str, Json],
    parent: str = "g",
    parent_namespace: str | None = None,
    namespace: str = "default",
    age: int | None = None,
    group: str = GATEWAY_API,
) -> Resource:
    """A ListenerSet (an XListenerSet in the experimental group) with its parent Gateway."""
    parent_ref: dict[str, Json] = {"group": GATEWAY_API, "kind": "Gateway", "name": parent}
    if parent_namespace is not None:
        parent_ref["namespace"] = parent_namespace
    spec: dict[str, Json] = {"parentRef": parent_ref, "listeners": list(listeners) or [listener()]}
    kind = "ListenerSet" if group == GATEWAY_API else "XListenerSet"
    return resource(kind, name, spec, group=group, namespace=namespace, age=age)


def parent(
    name: str = "g", section: str = "", *, kind: str = "Gateway", group: str = GATEWAY_API, **fields: Json
) -> dict[str, Json]:
    """A parentRef of a route."""
    reference: dict[str, Json] = {"group": group, "kind": kind, "name": name, **fields}
    return {**reference, "sectionName": section} if section else reference


def service_parent(name: str = "s", **fields: Json) -> dict[str, Json]:
    """A parentRef to a Service (mesh)."""
    return {**parent(name, kind="Service", group=""), **fields}


def backend(
    name: str = "s", port: int | None = 8080, *, kind: str = "Service", group: str = "", **fields: Json
) -> dict[str, Json]:
    """A backendRef."""
    reference: dict[str, Json] = {"group": group, "kind": kind, "name": name, "weight": 1, **fields}
    return reference if port is None else {**reference, "port": port}


def rule(*backends: Mapping[str, Json], name: str = "", **fields: Json) -> dict[str, Json]:
    """A rule of a route."""
    built: dict[str, Json] = {"backendRefs": list(backends), **fields}
    return {"name": name, **built} if name else built


def route(  # noqa: PLR0913 - a builder is read by its keywords
    name: str = "r",
    *,
    parents: Sequence[Mapping[str, Json]] | None = None,
    rules: Sequence[Mapping[str, Json]] | None = None,
    hostnames: Sequence[str] | None = None,
    kind: str = "HTTPRoute",
    namespace: str = "default",
    age: int | None = None,
    labels: Mapping[str, str] | None = None,
) -> Resource:
    """A route, to Gateway `g` and with one rule to Service `s` port 8080 unless told otherwise."""
    spec: dict[str, Json] = {
        "parentRefs": [parent()] if parents is None else list(parents),
        "rules": [rule(backend())] if rules is None else list(rules),
    }
    if hostnames is not None:
        spec["hostnames"] = list(hostnames)
    return resource(kind, name, spec, namespace=namespace, age=age, labels=labels)


def service(
    name: str = "s",
    *ports: int | tuple[str, int] | Mapping[str, Json],
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
) -> Resource:
    """A Service; a port is a number, a (name, number) or a mapping; without any it has the unnamed port 8080."""
    return resource(
        "Service",
        name,
        {"ports": [_port(item) for item in ports or (8080,)]},
        group="",
        namespace=namespace,
        labels=labels,
    )


def _port(port: int | tuple[str, int] | Mapping[str, Json]) -> dict[str, Json]:
    if isinstance(port, int):
        return {"port": port}
    if isinstance(port, tuple):
        return {"name": port[0], "port": port[1]}
    return dict(port)


def grant(
    name: str = "grant",
    *,
    namespace: str = "default",
    sources: Sequence[tuple[str, str, str]] = ((GATEWAY_API, "HTTPRoute", "default"),),
    targets: Sequence[tuple[str, str] | tuple[str, str, str]] = (("", "Service"),),
) -> Resource:
    """A ReferenceGrant: sources are (group, kind, namespace), targets are (group, kind) or (group, kind, name)."""
    spec: dict[str, Json] = {
        "from": [{"group": group, "kind": kind, "namespace": where} for group, kind, where in sources],
        "to": [dict(zip(("group", "kind", "name"), target, strict=False)) for target in targets],
    }
    return resource("ReferenceGrant", name, spec, namespace=namespace)


def names(name: str, kind: str = "ColorPolicy", group: str = "example.com", **fields: Json) -> dict[str, Json]:
    """A filter of a route that names an object; `fields` are more, or others, of the filter."""
    return {"type": "ExtensionRef", "extensionRef": {"group": group, "kind": kind, "name": name}, **fields}


def target(
    name: str, kind: str = "Gateway", section: str = "", *, group: str = GATEWAY_API, **fields: Json
) -> dict[str, Json]:
    """A targetRef of a policy."""
    reference: dict[str, Json] = {"group": group, "kind": kind, "name": name, **fields}
    return {**reference, "sectionName": section} if section else reference


ON_GATEWAY: Final = target("g")
ON_ROUTE: Final = target("r", "HTTPRoute")
ON_SERVICE: Final = target("s", "Service", group="")


def policy(  # noqa: PLR0913 - a builder is read by its keywords
    name: str = "p",
    *targets: Mapping[str, Json],
    kind: str = "ColorPolicy",
    group: str = "example.com",
    namespace: str = "default",
    age: int | None = None,
    labels: Mapping[str, str] | None = None,
    **spec: Json,
) -> Resource:
    """A policy with `targetRefs` and whatever else its spec holds."""
    fields: dict[str, Json] = {"targetRefs": list(targets), **spec} if targets else dict(spec)
    return resource(kind, name, fields, group=group, namespace=namespace, age=age, labels=labels)


def crd(  # noqa: PLR0913 - a builder is read by its keywords
    kind: str,
    group: str = "example.com",
    *,
    schema: Json = None,
    cluster_scoped: bool = False,
    labels: Mapping[str, str] | None = None,
    version: str = "v1alpha1",
    plural: str = "",
) -> Resource:
    """A CustomResourceDefinition; `schema` is its openAPIV3Schema, `plural` the kind with an s unless given."""
    plural = plural or kind.lower() + "s"
    served: dict[str, Json] = {"name": version, "served": True, "storage": True}
    if schema is not None:
        served["schema"] = {"openAPIV3Schema": schema}
    spec: dict[str, Json] = {
        "group": group,
        "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
        "scope": "Cluster" if cluster_scoped else "Namespaced",
        "versions": [served],
    }
    return resource("CustomResourceDefinition", f"{plural}.{group}", spec, group="apiextensions.k8s.io", labels=labels)


def snapshot(*resources: Resource, complete: bool = False, gaps: Sequence[Gap] = ()) -> Snapshot:
    """A snapshot of the given objects."""
    return Snapshot(tuple(resources), tuple(gaps), complete=complete)


def listed(read: Snapshot) -> Snapshot:
    """A snapshot of which a cluster gave out each kind in a namespace as a whole, and all ReferenceGrants there."""
    parts = {(resource.ref.group_kind, resource.ref.namespace) for resource in read.resources}
    grants = {(REFERENCE_GRANT, namespace) for _, namespace in parts}
    return replace(read, listed=frozenset(parts | grants))


def index(*resources: Resource, complete: bool = False, gaps: Sequence[Gap] = ()) -> Index:
    """The index of a snapshot of the given objects."""
    return Index(snapshot(*resources, complete=complete, gaps=gaps))


def dangling(topology: Topology, *refs: ObjectRef) -> tuple[Diagnostic, ...]:
    """The diagnostics for the references of some objects that lead nowhere; without any, of all, by kind and name."""
    kinds = (GATEWAY_CLASS, *LISTENER_HOLDERS, *ROUTES)
    all_resources = [resource for kind in kinds for resource in topology.index.of_kind(kind)]
    resources = [resource for resource in all_resources if not refs or resource.ref in refs]
    return tuple(
        diagnostic for resource in resources for diagnostic in dangling_references(topology.relations, resource)
    )


def wrong_shapes(world: Index) -> tuple[Diagnostic, ...]:
    """The diagnostics for fields of the wrong type, by kind and name of the object."""
    resources = (resource for kind in world.group_kinds for resource in world.of_kind(kind))
    return tuple(problem for resource in resources for problem in shape_problems_of(resource))
