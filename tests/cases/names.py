"""The names that the recorded cases of several implementations have for objects, listeners and references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import integer_at, items_at, text_at

if TYPE_CHECKING:
    from kubectl_policy import Analysis, NodeRef, ObjectRef


def identity(ref: ObjectRef) -> dict[str, object]:
    """The fields that say which object an entry is about."""
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def slashed(ref: ObjectRef) -> str:
    """`Kind/namespace/name`, with a dash for the namespace of what has none."""
    return f"{ref.kind}/{ref.namespace or '-'}/{ref.name}"


def reference(ref: ObjectRef, section: str = "", port: int | None = None) -> str:
    """`Kind/namespace/name#section:port`, without what is not given."""
    return slashed(ref) + (f"#{section}" if section else "") + ("" if port is None else f":{port}")


def parent_reference(analysis: Analysis, route: ObjectRef, position: int, parent: ObjectRef) -> str:
    """The name of an entry of a route's `spec.parentRefs` that names a parent."""
    declared = items_at(analysis.index.raw(route), "spec.parentRefs")[position]
    return reference(parent, text_at(declared, "sectionName"), integer_at(declared, "port"))


def listener_name(gateway: ObjectRef, listener: NodeRef) -> str:
    """`namespace/gateway/listener`, with the ListenerSet in between if the listener is one of its own."""
    owner = "" if listener.object == gateway else f"/{listener.object.qualified_name}"
    return f"{gateway.qualified_name}{owner}/{listener.section}"


def scoped_name(node: NodeRef) -> str:
    """`namespace/name`, with `/section` for a section."""
    return node.object.qualified_name + (f"/{node.section}" if node.section else "")
