"""Whose business an object is: why a policy has no say where another controller acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.topology.controllers import controller_of, managed
from kubectl_policy.topology.references import ROUTES, parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Topology


def not_managed(topology: Topology, ref: ObjectRef, kind: str, controllers: Collection[str]) -> str:
    """Why none of the controllers of a policy kind acts on an object, in words; empty if one does or may."""
    if managed(topology, ref, controllers) is not False:
        return ""
    ours = " or ".join(sorted(controllers))
    if ref.group_kind in ROUTES:
        invalid = "; ".join(dict.fromkeys(_invalid_parents(topology, ref, controllers)))
        counts = f"counts: {invalid}" if invalid else "is"
        return f"{kind} acts on what {ours} manages, and no parent of {ref} {counts}"
    theirs = controller_of(topology, ref)
    return f"{kind} acts on what {ours} manages, and {ref} is " + (f"managed by {theirs}" if theirs else "not")


def _invalid_parents(topology: Topology, route: ObjectRef, controllers: Collection[str]) -> Iterator[str]:
    """Why the controllers pass over parents of a route, or of routes that delegate to it, although these are theirs."""
    for above in topology.relations.delegating_routes(route):
        for parent in parent_refs(topology.index, above, topology.index.raw(above)):
            found = topology.relations.passed_over(NodeRef(parent.object))
            if found and managed(topology, parent.object, controllers):
                yield found.message
