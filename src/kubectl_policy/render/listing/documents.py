"""Lists as versioned documents: everything that their tables say, under the same names as in a description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model.fields import text_at
from kubectl_policy.render.listing.words import list_headline
from kubectl_policy.render.output.parts import (
    API_VERSION,
    condition_data,
    kind_data,
    node_data,
    object_data,
    objects_data,
    origin_data,
    target_data,
    unseen_data,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.questions.listing.lists import AnyRow
    from kubectl_policy.questions.listing.objects import (
        BackendRow,
        GatewayClassRow,
        GatewayRow,
        NamespaceRow,
        ObjectRow,
        Parent,
        RouteRow,
    )
    from kubectl_policy.questions.listing.policies import KindRow, PolicyRow
    from kubectl_policy.questions.shared.selection import Listing, RowSort


def list_document(listing: Listing[AnyRow]) -> dict[str, Json]:
    """The list as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them. Nothing is cut."""
    kind, item = _ITEMS[listing.type.rows]
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "headline": list_headline(listing),
        "complete": not listing.unseen,
        "namespace": listing.namespace,
        "items": [item(row) for row in listing.rows],
        "unseen": [unseen_data(thing) for thing in listing.unseen],
    }


def _policy(row: PolicyRow) -> dict[str, Json]:
    return {
        "policy": object_data(row.ref),
        "origin": origin_data(row.resource.origin),
        "complete": not row.unseen,
        "created": text_at(row.raw, "metadata.creationTimestamp") if row.resource.created else "",
        "class": row.profile.policy_class,
        "knownBy": row.profile.known_by,
        "stanzas": [{"field": name, "strategy": strategy.value} for name, strategy in row.stanzas],
        "targets": [target_data(attachment) for attachment in row.attachments],
        "enforcement": {"state": row.state, "by": objects_data(row.by)},
        "affected": None if row.affected is None else [node_data(node) for node in row.affected],
        "reported": [condition_data(condition) for condition in row.reported],
    }


def _policy_kind(row: KindRow) -> dict[str, Json]:
    profile = row.profile
    return {
        "name": row.name,
        "policyKind": kind_data(profile.group_kind),
        "origin": origin_data(row.definition.origin if row.definition else None),
        "complete": row.complete,
        "namespaced": row.names.namespaced,
        "class": profile.policy_class,
        "knownBy": profile.known_by,
        "strategy": profile.strategy.value if profile.strategy else None,
        "strategyField": profile.strategy_field,
        "stanzas": profile.stanzas,
        "defaultStrategy": profile.default_strategy.value,
        "targetFields": list(profile.target_fields),
        "declaredTargets": [kind_data(kind) for kind in sorted(profile.declared_targets)],
        "effectiveTargets": [
            {**kind_data(level.group_kind), "sections": level.section} for level in profile.effective_targets
        ],
        "assumed": list(profile.assumed),
        "policies": objects_data(row.policies),
    }


def _object(row: ObjectRow, **own: Json) -> dict[str, Json]:
    listed = row.listed
    return {
        "object": object_data(row.ref),
        "origin": origin_data(listed.resource.origin),
        "complete": not row.unseen,
        **own,
        "policies": objects_data(listed.policies),
        "targetedBy": [
            {"policy": object_data(attachment.policy), **target_data(attachment)} for attachment in listed.attachments
        ],
        "reported": [condition_data(condition) for condition in listed.reported],
    }


def _gateway_class(row: GatewayClassRow) -> dict[str, Json]:
    controller = text_at(row.raw, "spec.controllerName")
    return _object(row, controller=controller, gateways=objects_data(row.gateways))


def _gateway(row: GatewayRow) -> dict[str, Json]:
    return _object(
        row,
        above=object_data(row.above) if row.above else None,
        listeners=list(row.listeners),
        routes=objects_data(row.routes),
        undecidedRoutes=objects_data(row.undecided),
    )


def _route(row: RouteRow) -> dict[str, Json]:
    return _object(row, hostnames=list(row.hostnames), parents=[_parent(parent) for parent in row.parents])


def _parent(parent: Parent) -> dict[str, Json]:
    return {
        "object": object_data(parent.object),
        "state": parent.state,
        "listeners": [node_data(listener) for listener in parent.listeners],
        "reason": parent.reason,
        "message": parent.message,
    }


def _backend(row: BackendRow) -> dict[str, Json]:
    return _object(row, referredBy=objects_data(row.referred_by))


def _namespace(row: NamespaceRow) -> dict[str, Json]:
    return _object(row, holds=objects_data(row.holds), affected=objects_data(row.affected))


_ITEMS: Final[Mapping[RowSort, tuple[str, Callable[[Any], dict[str, Json]]]]] = {
    "policies": ("PolicyList", _policy),
    "policy kinds": ("PolicyKindList", _policy_kind),
    "gateway classes": ("GatewayClassList", _gateway_class),
    "gateways": ("GatewayList", _gateway),
    "listener sets": ("ListenerSetList", _gateway),
    "routes": ("RouteList", _route),
    "backends": ("BackendList", _backend),
    "namespaces": ("NamespaceList", _namespace),
}
