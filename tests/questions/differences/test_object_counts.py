"""How many objects there are of each kind, in each namespace and of each owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blast_radius import (
    KindCount,
    NamespaceCount,
    ObjectCounts,
    OwnerCount,
    count_objects,
)
from kubectl_policy.questions.differences.serving import owner
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

KEY: Final = "example.com/team"
R: Final = build.ref("HTTPRoute", "r")
S: Final = build.ref("Service", "s", group="")
FAR: Final = build.ref("Service", "s", "far", group="")


def annotated(kind: str, name: str, value: Json, **labels: str) -> Resource:
    """An object of the core group with an annotation."""
    found = build.resource(kind, name, group="", labels=labels)
    metadata = found.raw["metadata"]
    assert isinstance(metadata, dict)
    metadata["annotations"] = {KEY: value}
    return found


def test_nothing() -> None:
    """No objects, no numbers."""
    nothing = ObjectCounts(total=0, kinds=(), namespaces=(), owners=(), owner_key="")
    assert count_objects(build.index(), ()) == nothing
    assert count_objects(build.index(), (), KEY) == replace(nothing, owner_key=KEY)


def test_the_greatest_number_first_then_by_name() -> None:
    """By kind and by namespace; what is in none is counted as well."""
    others = [build.ref("Gateway", "g", "far"), build.ref("GatewayClass", "c"), build.ref("Service", "t", group="")]
    found = count_objects(build.index(), {R, S, FAR, *others})
    assert found.total == 6
    assert found.kinds == (
        KindCount("", "Service", 3),
        KindCount(GATEWAY_API, "Gateway", 1),
        KindCount(GATEWAY_API, "GatewayClass", 1),
        KindCount(GATEWAY_API, "HTTPRoute", 1),
    )
    assert found.namespaces == (NamespaceCount("default", 3), NamespaceCount("far", 2), NamespaceCount("", 1))
    assert found.owners == ()


class TestOwner:
    """Who owns an object."""

    def test_nobody(self) -> None:
        """It was not read, or says nothing of it."""
        assert owner(build.index(), R, KEY) == ""
        assert owner(build.index(build.route(), build.namespace("default")), R, KEY) == ""

    def test_what_is_no_name_is_passed_over(self) -> None:
        """As an empty text is."""
        for value in ("", 1, None, ["a"]):
            assert owner(build.index(annotated("Service", "s", value)), S, KEY) == ""

    def test_its_label_or_annotation(self) -> None:
        """The label first."""
        assert owner(build.index(build.service(labels={KEY: "us"})), S, KEY) == "us"
        assert owner(build.index(annotated("Service", "s", "us")), S, KEY) == "us"
        assert owner(build.index(annotated("Service", "s", "them", **{KEY: "us"})), S, KEY) == "us"

    def test_that_of_its_namespace(self) -> None:
        """Unless it has its own."""
        space = build.namespace("default", {KEY: "them"})
        assert owner(build.index(space, build.service()), S, KEY) == "them"
        assert owner(build.index(space), S, KEY) == "them"
        assert owner(build.index(space, build.service(labels={KEY: "us"})), S, KEY) == "us"
        assert owner(build.index(annotated("Namespace", "default", "them")), S, KEY) == "them"

    def test_each_is_counted(self) -> None:
        """Those of nobody together."""
        index = build.index(build.namespace("default", {KEY: "us"}), build.service(namespace="far"))
        found = count_objects(index, [R, S, FAR], KEY)
        assert found.owners == (OwnerCount("us", 2), OwnerCount("", 1))
        assert found.owner_key == KEY
