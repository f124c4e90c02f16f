"""What comes of a parentRef that names a route: that one has to delegate to the route that names it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kubectl_policy.topology.references import backend_refs

if TYPE_CHECKING:
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.delegation import Delegations
    from kubectl_policy.topology.handshake import Binding


def delegated_binding(index: Index, delegations: Delegations, binding: Binding) -> Binding:
    """The outcome of a parentRef to a route, in the place of one that says that it is not known."""
    presence = index.presence(binding.parent)
    if presence == "missing":
        return replace(binding, state="refused", reason="NoMatchingParent", message=f"{binding.parent} does not exist")
    if presence == "unknown":
        return replace(binding, message=f"{binding.parent} was not read")
    found = [one for one in delegations.to(binding.route) if one.parent.object == binding.parent]
    if any(one.takes for one in found):
        return replace(binding, state="attached", message="", is_delegated=True)
    if found:
        refused = max(found, key=lambda one: bool(one.reason))
        return replace(binding, state="refused", reason=refused.reason, message=refused.message)
    if any(ref.object == binding.route for ref in backend_refs(index, binding.parent, index.raw(binding.parent))):
        return binding
    message = f"no rule of {binding.parent} delegates to it"
    return replace(binding, state="refused", reason="NoMatchingParent", message=message)
