"""Selectors of target references: labels, namespaces, and selectors that ask for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Snapshot, Topology, analyze
from kubectl_policy.attachment import Attachment, attach
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.world import Loaded
from tests.build import gateway, grant, index, listed, namespace, policy, ref, resource, route, snapshot, target

FREE: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", grant_required=False)
GRANTED: Final = replace(FREE, grant_required=True)
EDGE: Final[dict[str, Json]] = {"from": "Selector", "selector": {"matchLabels": {"team": "edge"}}}
ROUTES: Final = tuple(
    route(name, namespace=place, labels={"tier": tier})
    for place in ("blue", "default", "azure")
    for name, tier in (("r", "web"), ("other", "db"))
)


def selecting(namespaces: Json) -> Resource:
    """A policy in `default` that selects routes by a label, in those namespaces."""
    labels: Json = {"tier": "web"}
    selector: Json = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": labels, "namespaces": namespaces}
    return policy("p", targetSelectors=[selector])


def attachments(
    namespaces: Json,
    *objects: Resource,
    profile: PolicyKindProfile = FREE,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> tuple[Attachment, ...]:
    """What a policy in `default` selects among the objects, with that `namespaces` in its selector."""
    found = selecting(namespaces)
    return attach(found, profile, Topology(index(found, *objects, complete=complete, gaps=gaps)))


def outcomes(found: Sequence[Attachment]) -> list[tuple[str, str]]:
    """The namespace of each target and the state of its attachment, in their order."""
    return [(one.target.object.namespace if one.target else "", one.state) for one in found]


@pytest.mark.parametrize("namespaces", [None, 7, [], {}, {"from": None}, {"from": "Same"}], ids=str)
def test_its_own_namespace_alone(namespaces: Json) -> None:
    """`Same` is the default, also where something unreadable stands."""
    assert outcomes(attachments(namespaces, *ROUTES)) == [("default", "attached")]


@pytest.mark.parametrize("namespaces", [{"from": "None"}, {"from": "Nonsense"}, {"from": "Selector"}], ids=str)
def test_no_namespace_at_all(namespaces: Json) -> None:
    """A selector of namespaces that is missing selects none, and a word that is not known means none."""
    (found,) = attachments(namespaces, *ROUTES)
    assert (found.target, found.state) == (None, "target missing")
    assert found.message == "spec.targetSelectors[0] selects no HTTPRoute"


def test_all_namespaces() -> None:
    """Its own first, then the others by name; what has other labels is not selected anywhere."""
    assert outcomes(attachments({"from": "All"}, *ROUTES)) == [
        ("default", "attached"),
        ("azure", "attached"),
        ("blue", "attached"),
    ]


class TestNamespacesByLabel:
    """`from: Selector`."""

    def test_those_with_the_labels(self) -> None:
        labelled = (namespace("azure"), namespace("blue", {"team": "edge"}), namespace("default"))
        assert outcomes(attachments(EDGE, *labelled, *ROUTES)) == [("blue", "attached")]
        labelled = (namespace("azure"), namespace("blue", {"team": "edge"}), namespace("default", {"team": "edge"}))
        assert outcomes(attachments(EDGE, *labelled, *ROUTES)) == [("default", "attached"), ("blue", "attached")]

    def test_labels_that_were_not_read(self) -> None:
        """Nobody knows whether the policy reaches such a namespace, so it is attached to nothing in it."""
        found = attachments(EDGE, namespace("azure"), namespace("blue", {"team": "edge"}), *ROUTES)
        assert outcomes(found) == [("default", "target unknown"), ("blue", "attached")]
        assert found[0].message == (
            "whether spec.targetSelectors[0] selects in namespace default is unknown: "
            "Namespace default is not in the input"
        )

    def test_the_label_that_every_namespace_has(self) -> None:
        by_name: Json = {"from": "Selector", "selector": {"matchLabels": {"kubernetes.io/metadata.name": "azure"}}}
        assert outcomes(attachments(by_name, *ROUTES)) == [("azure", "attached")]


class TestGrants:
    """A selector that reaches another namespace needs what a reference by name needs."""

    lets_in = grant(
        namespace="azure", sources=[("example.com", "ColorPolicy", "default")], targets=[(GATEWAY_API, "HTTPRoute")]
    )

    def test_without_one(self) -> None:
        """Permitted at home; the message names what is missing."""
        found = attachments({"from": "All"}, self.lets_in, *ROUTES, profile=GRANTED)
        assert outcomes(found) == [("default", "attached"), ("azure", "attached"), ("blue", "not permitted")]
        assert found[2].message == (
            "no ReferenceGrant in namespace blue lets ColorPolicy of default target HTTPRoute blue/r"
        )

    def test_whether_there_is_one_is_unknown(self) -> None:
        gaps = [Gap("ReferenceGrant", "blue", "forbidden")]
        found = attachments({"from": "All"}, self.lets_in, *ROUTES, profile=GRANTED, gaps=gaps)
        assert outcomes(found) == [("default", "attached"), ("azure", "attached"), ("blue", "target unknown")]

    def test_a_kind_that_names_its_own_namespace_alone(self) -> None:
        """Its selectors reach others all the same, if a grant lets them."""
        local = replace(GRANTED, cross_namespace=False)
        found = attachments({"from": "All"}, self.lets_in, *ROUTES, profile=local)
        assert outcomes(found) == [("default", "attached"), ("azure", "attached"), ("blue", "not permitted")]

    def test_whether_the_namespace_is_meant_comes_first(self) -> None:
        found = attachments(EDGE, namespace("default"), namespace("blue"), *ROUTES, profile=GRANTED)
        assert outcomes(found) == [("azure", "target unknown")]


class TestNothingIsSelected:
    @pytest.mark.parametrize("source", ["Same", "All"])
    def test_in_a_complete_world(self, source: str) -> None:
        assert outcomes(attachments({"from": source})) == [("", "target missing")]

    @pytest.mark.parametrize("source", ["Same", "All"])
    def test_in_an_open_world(self, source: str) -> None:
        assert outcomes(attachments({"from": source}, complete=False)) == [("", "target unknown")]

    def test_its_own_namespace_was_listed(self) -> None:
        """Others were not: from all of them something may be selected, from its own nothing."""
        other, found = route("other", labels={"tier": "db"}), selecting({"from": "Same"})
        assert outcomes(attachments({"from": "Same"}, other, complete=False)) == [("", "target unknown")]
        assert outcomes(attachments({"from": "All"}, other, complete=False)) == [("", "target unknown")]
        alone = Topology(Index(listed(snapshot(found, other))))
        assert outcomes(attach(found, FREE, alone)) == [("", "target missing")]

    def test_another_namespace_could_not_be_read(self) -> None:
        """What is forbidden there may be selected from all namespaces; what is forbidden of another kind is not."""
        gaps = [Gap("HTTPRoute", "blue", "forbidden")]
        assert outcomes(attachments({"from": "Same"}, gaps=gaps)) == [("", "target missing")]
        assert outcomes(attachments({"from": "All"}, gaps=gaps)) == [("", "target unknown")]
        assert outcomes(attachments({"from": "All"}, gaps=[Gap("", "", "offline")])) == [("", "target unknown")]
        others = [Gap("Gateway", "blue", "forbidden")]
        assert outcomes(attachments({"from": "All"}, gaps=others)) == [("", "target missing")]


class TestGlobalNamespace:
    """Policies of the `globalNamespace` select in every namespace."""

    everywhere = replace(FREE, global_namespace="default", grant_required=True, cross_namespace=False)

    @pytest.mark.parametrize("namespaces", [None, {"from": "Same"}, {"from": "All"}, {"from": "None"}, EDGE], ids=str)
    def test_every_namespace(self, namespaces: Json) -> None:
        """Whatever the selector says of namespaces, and without grants; sorted by namespace."""
        assert outcomes(attachments(namespaces, *ROUTES, profile=self.everywhere)) == [
            ("azure", "attached"),
            ("blue", "attached"),
            ("default", "attached"),
        ]

    def test_not_from_another_namespace(self) -> None:
        """A policy elsewhere selects in its own; a kind without such a namespace has none by accident."""
        found = attachments({"from": "Same"}, *ROUTES, profile=replace(self.everywhere, global_namespace="blue"))
        assert outcomes(found) == [("default", "attached")]
        cluster_scoped = replace(policy("p", target("r", "HTTPRoute", namespace="blue")), ref=ref("P", "p", ""))
        for profile in (replace(FREE, global_namespace=""), FREE):
            topology = Topology(index(cluster_scoped, *ROUTES))
            assert outcomes(attach(cluster_scoped, profile, topology)) == [("blue", "attached")]

    def test_not_by_name(self) -> None:
        """A reference by name leaves its namespace as those of other policies do."""
        found = policy("p", target("r", "HTTPRoute", namespace="blue"))
        topology = Topology(index(found, *ROUTES, complete=True))
        assert outcomes(attach(found, self.everywhere, topology)) == [("blue", "not permitted")]
        granted = replace(self.everywhere, cross_namespace=None)
        assert outcomes(attach(found, granted, topology)) == [("blue", "not permitted")]
        here = policy("p", target("r", "HTTPRoute"))
        assert outcomes(attach(here, self.everywhere, Topology(index(here, *ROUTES)))) == [("default", "attached")]

    def test_nothing_is_selected(self) -> None:
        (found,) = attachments({"from": "Same"}, route("other", labels={"tier": "db"}), profile=self.everywhere)
        assert (found.state, found.message) == ("target missing", "spec.targetSelectors[0] selects no HTTPRoute")
        (found,) = attachments(None, profile=self.everywhere)
        assert found.message == "spec.targetSelectors[0] selects no HTTPRoute"
        p = policy("p", targetSelectors=[{"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"a": "b"}}])
        for profile, where in ((self.everywhere, ""), (FREE, " in namespace default")):
            (outcome,) = attach(p, profile, Topology(index(p, complete=True)))
            assert outcome.message == f"spec.targetSelectors[0] selects no HTTPRoute{where}"

    def test_nothing_that_was_read_is_selected(self) -> None:
        """What is in namespaces that were not read, or could not be, may be selected."""
        here = route("other", labels={"tier": "db"})
        assert outcomes(attachments(None, here, profile=self.everywhere, complete=False)) == [("", "target unknown")]
        gaps = [Gap("HTTPRoute", "blue", "forbidden")]
        assert outcomes(attachments(None, here, profile=self.everywhere, gaps=gaps)) == [("", "target unknown")]

    def test_cluster_scoped_objects(self) -> None:
        found = policy("p", {"group": "", "kind": "Namespace", "selector": {}})
        topology = Topology(index(found, namespace("azure"), namespace("blue")))
        assert [str(one.target) for one in attach(found, self.everywhere, topology)] == [
            "Namespace azure",
            "Namespace blue",
        ]


def test_a_reference_by_name_takes_no_notice_of_namespaces() -> None:
    named: dict[str, Json] = {"group": GATEWAY_API, "kind": "HTTPRoute", "name": "r", "namespaces": EDGE}
    found = policy("p", named)
    assert outcomes(attach(found, FREE, Topology(index(found, *ROUTES)))) == [("default", "attached")]


def test_objects_without_a_namespace() -> None:
    everything: dict[str, Json] = {"group": "", "kind": "Namespace", "selector": {}, "namespaces": EDGE}
    found = policy("p", everything)
    topology = Topology(index(found, namespace("azure"), resource("Namespace", "blue", group="")))
    assert [one.target.object.name for one in attach(found, FREE, topology) if one.target] == ["azure", "blue"]


@pytest.mark.parametrize("wanted", ["", "web"])
def test_selection_of_cluster_scoped_objects(wanted: str) -> None:
    """Also what has no namespace, and by an empty label, which is written nowhere."""
    objects = [
        resource("GatewayClass", "public", {"controllerName": "c"}, labels={"app": wanted}),
        resource("GatewayClass", "other", {"controllerName": "c"}, labels={"app": "other"}),
        policy("p", {"group": GATEWAY_API, "kind": "GatewayClass", "matchLabels": {"app": wanted}}),
    ]
    analysis = analyze(Snapshot(Loaded(objects)))
    assert [found.policy.name for found in analysis.attachments_to(ref("GatewayClass", "public"))] == ["p"]
    assert not analysis.attachments_to(ref("GatewayClass", "other"))


EVERYTHING = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
NOTHING = replace(EVERYTHING, empty_selector="nothing")


def states(profile: PolicyKindProfile, selector: dict[str, Json], *, complete: bool = True) -> list[str]:
    """What comes of a selector where there is a Gateway."""
    target: Json = {"group": "gateway.networking.k8s.io", "kind": "Gateway", **selector}
    found = policy("p", targetSelectors=[target])
    analysis = analyze(snapshot(found, gateway("g"), complete=complete), profiles=[profile])
    return [attachment.state for attachment in analysis.attachments[found.ref]]


@pytest.mark.parametrize("selector", [{}, {"matchLabels": {}}, {"matchExpressions": []}], ids=str)
def test_by_default_it_selects_everything(selector: dict[str, Json]) -> None:
    """As for Kubernetes; of some kinds it selects nothing, whatever was not read."""
    assert states(EVERYTHING, selector) == ["attached"]
    assert states(NOTHING, selector) == states(NOTHING, selector, complete=False) == ["target missing"]


def test_a_selector_with_a_requirement_is_not_empty() -> None:
    """Not even one that everything without labels meets."""
    absent: Json = [{"key": "team", "operator": "DoesNotExist"}]
    assert states(NOTHING, {"matchExpressions": absent}) == ["attached"]
