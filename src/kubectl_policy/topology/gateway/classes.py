"""Which controller a Gateway belongs to, by its GatewayClass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import text_at
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS, gateway_of

if TYPE_CHECKING:
    from kubectl_policy.model.index import Index


def controller_in(index: Index, obj: ObjectRef) -> str | None:
    """The controller of a GatewayClass, a Gateway or a ListenerSet; empty if there is none, None where it is unknown.

    GatewayClass.spec.controllerName: "the name of the controller that is managing Gateways of this class".
    """
    presence = index.presence(obj)
    if presence != "present":
        return None if presence == "unknown" else ""
    if obj.group_kind in LISTENER_SETS:
        gateway = gateway_of(index, obj, index.raw(obj))
        return controller_in(index, gateway) if gateway else ""
    if obj.group_kind == GATEWAY:
        name = text_at(index.raw(obj), "spec.gatewayClassName")
        return controller_in(index, ObjectRef(GATEWAY_CLASS, "", name)) if name else ""
    return text_at(index.raw(obj), "spec.controllerName")
