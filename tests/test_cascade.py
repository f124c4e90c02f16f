"""What is deleted with an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.states import cascade
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json, ObjectRef, Resource


def owned(name: str, *owners: tuple[str, str, str], kind: str = "Service", namespace: str = "default") -> Resource:
    """An object with owners: their apiVersions, kinds and names; each has some uid."""
    references: list[Json] = [
        {"apiVersion": version, "kind": owner, "name": called, "uid": f"uid-{place}"}
        for place, (version, owner, called) in enumerate(owners)
    ]
    built = build.resource(kind, name, {}, group="" if kind == "Service" else "example.com", namespace=namespace)
    metadata = built.raw["metadata"]
    assert isinstance(metadata, dict)
    metadata["ownerReferences"] = references
    return built


def with_it(*resources: Resource, deleted: ObjectRef, complete: bool = False) -> set[str]:
    """What is deleted with an object, in words."""
    found = cascade(build.index(*resources, complete=complete), [deleted])
    assert deleted in found
    return {str(ref) for ref in found - {deleted}}


GATEWAY = ("gateway.networking.k8s.io/v1", "Gateway", "g")
G = build.ref("Gateway", "g")


def test_what_only_refers_to_an_object_stays() -> None:
    """A route outlives its Gateway and its Service."""
    assert with_it(build.gateway(), build.route(), build.service(), deleted=G) == set()
    assert with_it(build.route(), build.service(), deleted=build.ref("Service", "s", group="")) == set()


def test_what_was_not_read_can_be_deleted() -> None:
    """It is deleted alone."""
    assert with_it(deleted=G) == set()


def test_with_a_namespace_goes_what_is_in_it() -> None:
    """And nothing else: neither what is elsewhere nor what is in none."""
    found = with_it(
        build.namespace("a"),
        build.gateway(namespace="a"),
        build.policy("p", namespace="a"),
        build.gateway(namespace="b"),
        build.namespace("b"),
        build.gateway_class("a"),
        deleted=build.ref("Namespace", "a", group=""),
    )
    assert found == {"Gateway a/g", "ColorPolicy a/p"}


def test_with_a_definition_goes_every_object_of_its_kind() -> None:
    """In all namespaces; a kind of that name in another group stays, and so does a kind of that group."""
    definition = build.crd("ColorPolicy")
    found = with_it(
        definition,
        build.policy("p"),
        build.policy("p", namespace="b"),
        build.policy("p", group="other.com"),
        build.policy("p", kind="OtherPolicy"),
        deleted=definition.ref,
    )
    assert found == {"ColorPolicy default/p", "ColorPolicy b/p"}


def test_with_a_definition_that_defines_nothing_goes_nothing() -> None:
    """Nor with one that was not read."""
    broken = build.resource("CustomResourceDefinition", "broken", {}, group="apiextensions.k8s.io")
    assert with_it(broken, build.policy("p"), deleted=broken.ref) == set()
    assert with_it(build.policy("p"), deleted=broken.ref) == set()


def test_with_an_owner_goes_what_it_owns_and_what_that_owns() -> None:
    """In its namespace; a uid is not looked at, since manifests have none."""
    found = with_it(
        build.gateway(),
        owned("s", GATEWAY),
        owned("deep", ("v1", "Service", "s")),
        owned("s", GATEWAY, namespace="b"),
        owned("other", ("gateway.networking.k8s.io/v1", "Gateway", "other")),
        owned("route", ("gateway.networking.k8s.io/v1", "HTTPRoute", "g")),
        deleted=G,
    )
    assert found == {"Service default/s", "Service default/deep"}


def test_what_has_another_owner_stays() -> None:
    """Until the last one is deleted."""
    second = build.gateway("second")
    shared = owned("s", GATEWAY, ("gateway.networking.k8s.io/v1", "Gateway", "second"))
    assert with_it(build.gateway(), second, shared, deleted=G) == set()
    found = cascade(build.index(build.gateway(), second, shared), [G, second.ref])
    assert shared.ref in found


def test_an_owner_that_is_missing_keeps_nothing() -> None:
    """The one that is deleted is then the last one; what is only unknown may be there."""
    shared = owned("s", GATEWAY, ("example.com/v1", "Widget", "gone"))
    assert with_it(build.gateway(), shared, deleted=G) == set()
    assert with_it(build.gateway(), shared, deleted=G, complete=True) == {"Service default/s"}
    orphan = owned("s", ("example.com/v1", "Widget", "gone"))
    assert with_it(build.gateway(), orphan, deleted=G, complete=True) == set()


def test_an_owner_without_a_namespace() -> None:
    """A GatewayClass may own what is in a namespace."""
    found = with_it(
        build.gateway_class("public"),
        owned("s", ("gateway.networking.k8s.io/v1", "GatewayClass", "public")),
        deleted=build.ref("GatewayClass", "public"),
    )
    assert found == {"Service default/s"}


def test_one_leads_to_the_other() -> None:
    """With a Namespace goes a definition's owner, if somebody is so bold."""
    definition = build.crd("ColorPolicy")
    metadata = definition.raw["metadata"]
    assert isinstance(metadata, dict)
    metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Namespace", "name": "a"}]
    found = with_it(build.namespace("a"), definition, build.policy("p"), deleted=build.ref("Namespace", "a", group=""))
    assert found == {"CustomResourceDefinition colorpolicys.example.com", "ColorPolicy default/p"}
