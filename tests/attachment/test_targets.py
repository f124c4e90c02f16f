"""Target references in their spellings, also to rules without a name, and targets that are missing or not managed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import Attachment, TargetReference, attach, target_references
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import GatewayProfile, MergingParameter
from tests.build import (
    backend,
    gateway,
    gateway_class,
    grant,
    index,
    listener,
    node,
    parent,
    policy,
    resource,
    route,
    rule,
    service,
    target,
)
from tests.fakes import Controllers

PLAIN: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "shape")


def references(spec: Json, profile: PolicyKindProfile = PLAIN) -> tuple[TargetReference, ...]:
    """The references of a policy with that spec."""
    return target_references(resource("ColorPolicy", "p", spec, group="example.com"), profile)


NO_REFERENCES: Final[list[Json]] = [
    None,
    "text",
    7,
    {},
    {"targetRef": None},
    {"targetRef": "g"},
    {"targetRefs": 7},
    {"targetRefs": ["g", None, [{}]]},
]


@pytest.mark.parametrize("spec", NO_REFERENCES, ids=str)
def test_what_is_no_reference(spec: Json) -> None:
    assert references(spec) == ()


def test_fields_of_another_type_are_empty() -> None:
    spec: Json = {"targetRef": {"group": 1, "kind": None, "name": ["x"], "namespace": {}, "sectionName": True}}
    assert references(spec) == (TargetReference("spec.targetRef", "", ""),)


def test_a_single_reference() -> None:
    """`targetRef`, with everything that it can hold."""
    spec: Json = {"targetRef": {"group": "g", "kind": "K", "name": "n", "namespace": "ns", "sectionName": "s"}}
    assert references(spec) == (TargetReference("spec.targetRef", "g", "K", "n", "ns", "s"),)


def test_many_references_keep_their_places() -> None:
    """`targetRefs`: the index counts what cannot be read."""
    spec: Json = {"targetRefs": [None, {"kind": "K", "name": "n"}]}
    assert references(spec) == (TargetReference("spec.targetRefs[1]", "", "K", "n"),)


def test_all_spellings_at_once() -> None:
    spec: Json = {
        "targetSelectors": [{"kind": "K", "matchLabels": {"a": "b"}}],
        "targetRefs": [{"kind": "K", "name": "m"}],
        "targetRef": {"kind": "K", "name": "n"},
    }
    assert [found.field for found in references(spec)] == [
        "spec.targetRef",
        "spec.targetRefs[0]",
        "spec.targetSelectors[0]",
    ]


def test_the_profile_says_where_references_stand() -> None:
    profile = PolicyKindProfile(
        GroupKind("example.com", "ColorPolicy"), "inherited", "profile", reference_fields=("spec.at.to",)
    )
    spec: Json = {"targetRef": {"kind": "K", "name": "n"}, "at": {"to": {"kind": "K", "name": "m"}}}
    assert references(spec, profile) == (TargetReference("spec.at.to", "", "K", "m"),)


def test_a_group_that_is_left_out() -> None:
    """Is the one that the profile says; one that is present and empty is the core group."""
    spec: Json = {"targetRefs": [{"kind": "K"}, {"group": "", "kind": "K"}, {"group": "g"}, {"group": 7}]}
    groups = [found.group for found in references(spec, replace(PLAIN, target_group="example.org"))]
    assert groups == ["example.org", "", "g", "example.org"]
    assert [found.group for found in references(spec)] == ["", "", "g", ""]


class TestSelectors:
    @pytest.mark.parametrize(
        ("spec", "selector"),
        [
            # A reference by name selects nothing, and nor does one without a name and labels.
            ({"targetRef": {"kind": "K", "name": "n", "matchLabels": {"a": "b"}}}, None),
            ({"targetRef": {"kind": "K"}}, None),
            # Labels beside the kind, as in Envoy Gateway's `targetSelectors`; without any, all objects of the kind.
            (
                {"targetSelectors": [{"kind": "K", "matchLabels": {"a": "b"}, "matchExpressions": []}]},
                {"matchLabels": {"a": "b"}, "matchExpressions": []},
            ),
            ({"targetSelectors": [{"kind": "K"}]}, {}),
            # A selector in a field of its own; what has another shape is read as an empty one.
            ({"targetRef": {"kind": "K", "selector": {"matchLabels": {"a": "b"}}}}, {"matchLabels": {"a": "b"}}),
            ({"targetRef": {"kind": "K", "selector": {}}}, {}),
            ({"targetRef": {"kind": "K", "selector": "a=b"}}, {}),
            # One that is to be filled in does not ask for nothing.
            ({"targetRef": {"kind": "K", "selector": "${LABELS}"}}, {"matchLabels": "${LABELS}"}),
        ],
        ids=str,
    )
    def test_what_a_reference_selects(self, spec: Json, selector: Json) -> None:
        (found,) = references(spec)
        assert found.selector == selector

    @pytest.mark.parametrize("namespaces", [None, "All", {"from": "All"}], ids=str)
    def test_which_namespaces(self, namespaces: Json) -> None:
        """What is no mapping is read as an empty one; without the field it is not asked."""
        (found,) = references({"targetSelectors": [{"kind": "K", "namespaces": namespaces}]})
        assert found.namespaces == (namespaces if isinstance(namespaces, dict) else {})
        (found,) = references({"targetSelectors": [{"kind": "K"}]})
        assert found.namespaces is None


UNNUMBERED: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
NUMBERING: Final = replace(UNNUMBERED, unnamed_rules="rule-{n}")
RULES: Final = [rule(), rule(name="named"), rule(), rule(name="rule-4")]


def at_section(section: str, profile: PolicyKindProfile = NUMBERING) -> Attachment:
    found = policy("p", target("r", "HTTPRoute", section))
    (attachment,) = attach(found, profile, Topology(index(found, route("r", rules=RULES), complete=True)))
    return attachment


@pytest.mark.parametrize("section", ["rule-0", "rule-2", "rule-5", "rule", "rule-01"])
def test_no_rule_of_that_number(section: str) -> None:
    """Nor one that has a name instead; the message calls the others as a reference would."""
    found = at_section(section)
    assert (found.state, found.target) == ("section missing", node("HTTPRoute", "r", section))
    known = "it has rule-1, named, rule-3, rule-4"
    assert found.message == f"HTTPRoute default/r has no section {section}; {known}"


@pytest.mark.parametrize(
    ("section", "expected"),
    [("rule-1", "rule[0]"), ("rule-3", "rule[2]"), ("rule-4", "rule-4"), ("named", "named"), ("", "")],
)
def test_the_rule_of_that_number(section: str, expected: str) -> None:
    """Named as the topology names it; a name that looks like a number is a name."""
    found = at_section(section)
    assert (found.state, found.target) == ("attached", node("HTTPRoute", "r", expected))


def test_other_kinds_do_not_number_them() -> None:
    found = at_section("rule-1", UNNUMBERED)
    assert found.message == "HTTPRoute default/r has no section rule-1; it has rule[0], named, rule[2], rule-4"


def test_of_two_rules_of_one_name_the_named_one_is_meant() -> None:
    """A rule without a name gives way to one that is called like it."""
    found = policy("p", target("r", "HTTPRoute", "rule-1"))
    topology = Topology(index(found, route("r", rules=[rule(), rule(name="rule-1")]), complete=True))
    (attachment,) = attach(found, NUMBERING, topology)
    assert attachment.target == node("HTTPRoute", "r", "rule-1")


def test_sections_of_other_objects_are_no_rules() -> None:
    """A listener that is called like an unnamed rule has that name and no number."""
    found = policy("p", target("g", section="rule[1]"))
    topology = Topology(index(found, gateway("g", listener("rule[0]")), complete=True))
    (attachment,) = attach(found, replace(UNNUMBERED, unnamed_rules="rule[{n}]"), topology)
    assert attachment.state == "section missing"


REFERRED: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "direct",
    "profile",
    controllers=frozenset({"example.com/gateway"}),
    targets_exist="whenReferred",
)
OURS: Final = (gateway_class(), gateway("g"))
THEIRS: Final = (gateway_class("theirs", "example.org/gateway"), gateway("far", class_name="theirs"))
NOT_REFERRED: Final = (
    "target missing",
    "no route that example.com/gateway acts on sends requests to Service default/s",
)


def outcome(
    *objects: Resource,
    profile: PolicyKindProfile = REFERRED,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
    section: str = "",
) -> tuple[str, str]:
    """State and message of a policy on a Service in a world with these objects and two Gateways."""
    found = policy("p", target("s", "Service", section, group=""))
    world = index(found, *OURS, *THEIRS, *objects, complete=complete, gaps=gaps)
    (attachment,) = attach(found, profile, Topology(world))
    return attachment.state, attachment.message


def test_a_service_to_which_nothing_refers() -> None:
    """Though it exists; for other kinds that is what counts."""
    assert outcome(service("s")) == NOT_REFERRED
    assert outcome(service("s"), profile=replace(REFERRED, targets_exist="whenRead")) == ("attached", "")


def test_a_service_to_which_a_route_sends_requests() -> None:
    assert outcome(service("s"), route("r")) == outcome(route("r")) == ("attached", "")
    gone = ("target missing", "Service default/s does not exist")
    assert outcome(route("r"), profile=replace(REFERRED, targets_exist="whenRead")) == gone


def test_a_route_need_not_be_attached() -> None:
    """The controller acts on it as soon as it names one of its Gateways."""
    assert outcome(route("r", parents=[parent("g", "ghost")])) == ("attached", "")


def test_a_route_of_another_controller() -> None:
    assert outcome(service("s"), route("r", parents=[parent("far")])) == NOT_REFERRED
    assert outcome(service("s"), route("r", parents=[])) == NOT_REFERRED


def test_a_reference_that_is_not_permitted() -> None:
    away = route(
        "r", namespace="away", parents=[parent("g", namespace="default")], rules=[rule(backend(namespace="default"))]
    )
    assert outcome(service("s"), away) == NOT_REFERRED
    lets_in = grant(sources=[("gateway.networking.k8s.io", "HTTPRoute", "away")])
    assert outcome(service("s"), away, lets_in) == ("attached", "")


def test_a_kind_of_every_controller() -> None:
    """Takes any route for one of its own, and has no controllers to name."""
    free = replace(REFERRED, controllers=frozenset())
    assert outcome(service("s"), route("r", parents=[parent("far")]), profile=free) == ("attached", "")
    assert outcome(profile=free) == ("target missing", "no route sends requests to Service default/s")
    unknown = "no route in the input sends requests to Service default/s"
    assert outcome(profile=free, complete=False) == ("target unknown", unknown)


def test_a_section_of_what_does_not_exist() -> None:
    """Known to be none where the Service is known not to exist, and not known where it was not read."""
    missing = "Service default/s has no section web; it does not exist"
    assert outcome(route("r"), section="web") == ("section missing", missing)
    unknown = "whether Service default/s has a section web is unknown: it is not in the input"
    assert outcome(route("r"), section="web", complete=False) == ("target unknown", unknown)
    assert outcome(route("r"), service("s", ("web", 8080)), section="web") == ("attached", "")


def test_an_open_world() -> None:
    unknown = (
        "target unknown",
        "no route in the input that example.com/gateway acts on sends requests to Service default/s",
    )
    assert outcome(service("s"), complete=False) == unknown
    assert outcome(service("s"), route("r", parents=[parent("far")]), complete=False) == unknown
    assert outcome(route("r", parents=[parent("g", namespace="unread")]), complete=False) == ("attached", "")


@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", ""])
def test_routes_that_could_not_be_read(kind: str) -> None:
    """Of any kind and in any namespace: they may send requests to the target."""
    for place in ("default", "away", ""):
        state, _ = outcome(service("s"), gaps=[Gap(kind, place, "forbidden")])
        assert state == "target unknown"


def test_something_else_that_could_not_be_read() -> None:
    assert outcome(service("s"), gaps=[Gap("Secret", "", "forbidden")]) == NOT_REFERRED


MANAGED: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"), "inherited", "profile", controllers=frozenset({"b.com/c", "a.com/c"})
)
FOREIGN: Final = gateway_class("public", "example.org/c")


def managed_outcome(*objects: Resource, to: Mapping[str, Json], complete: bool = True) -> tuple[str, str]:
    """State and message of a policy's only attachment."""
    found = policy("p", to)
    (attachment,) = attach(found, MANAGED, Topology(index(found, *objects, complete=complete)))
    return attachment.state, attachment.message


@pytest.mark.parametrize(
    ("to", "what"),
    [
        (target("public", "GatewayClass"), "and GatewayClass public is managed by example.org/c"),
        (target("g", section="ghost"), "and Gateway default/g is managed by example.org/c"),
        (target("r", "HTTPRoute"), "which includes no parent of HTTPRoute default/r"),
    ],
    ids=str,
)
def test_not_managed(to: Mapping[str, Json], what: str) -> None:
    message = f"ColorPolicy applies only to what a.com/c or b.com/c manages, {what}"
    assert managed_outcome(FOREIGN, gateway("g"), route("r"), to=to) == ("not managed", message)


def test_managed_by_nobody() -> None:
    message = "ColorPolicy applies only to what a.com/c or b.com/c manages, which does not include Gateway default/g"
    assert managed_outcome(gateway("g"), to=target("g")) == ("not managed", message)


def test_it_has_to_exist() -> None:
    """What is missing is nobody's."""
    assert managed_outcome(FOREIGN, to=target("g"))[0] == "target missing"


def test_managed_by_one_of_ours() -> None:
    world = (gateway_class("public", "b.com/c"), gateway("g"))
    assert managed_outcome(*world, to=target("g", section="http")) == ("attached", "")
    assert managed_outcome(*world, to=target("g", section="ghost"))[0] == "section missing"


def test_what_belongs_to_no_gateway() -> None:
    """Cannot be told apart."""
    assert managed_outcome(FOREIGN, service("s"), to=target("s", "Service", group="")) == ("attached", "")


def test_whose_it_is_is_unknown() -> None:
    assert managed_outcome(gateway("g"), to=target("g"), complete=False) == ("attached", "")


class TestIgnored:
    """Routes of Gateways that are theirs and that they ignore, being invalid."""

    ignoring: Final = Controllers({"b.com/c": GatewayProfile(invalid_parents="passedOver")})
    parameters: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}

    def outcome(self, *objects: Resource, profiles: Controllers = ignoring) -> tuple[str, str]:
        """State and message of a policy on a route, with two Gateways, ours and theirs, that lack their parameters."""
        broken = gateway("broken", class_name="ours", infrastructure=self.parameters)
        theirs = gateway("theirs", infrastructure=self.parameters)
        found = policy("p", target("r", "HTTPRoute"))
        world = index(gateway_class("ours", "b.com/c"), FOREIGN, broken, theirs, found, *objects, complete=True)
        (attachment,) = attach(found, MANAGED, Topology(world, profiles=profiles))
        return attachment.state, attachment.message

    def test_the_message_says_why_no_parent_counts(self) -> None:
        """Of each Gateway of theirs once, and of no other one."""
        parents = [parent("broken"), parent("theirs"), parent("broken", port=80)]
        message = (
            "ColorPolicy applies only to what a.com/c or b.com/c manages, and no parent of HTTPRoute default/r counts: "
            "Gateway default/broken is not valid: spec.infrastructure.parametersRef: Settings default/s does not exist"
        )
        assert self.outcome(route("r", parents=parents)) == ("not managed", message)

    def test_where_such_gateways_are_served(self) -> None:
        """Nothing is amiss, nor where a listener is named."""
        assert self.outcome(route("r", parents=[parent("broken")]), profiles=Controllers()) == ("attached", "")
        assert self.outcome(route("r", parents=[parent("broken", "http")])) == ("attached", "")


MERGED: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    controllers=frozenset({"example.com/gateway"}),
    merged_targets=frozenset({GroupKind(GATEWAY_API, "GatewayClass")}),
)
MERGING: Final = Controllers(
    others=GatewayProfile(merged_by=MergingParameter(GroupKind("example.com", "Settings"), "merge"))
)


@pytest.mark.parametrize(
    ("kind", "merge", "message"),
    [
        ("Gateway", True, "ColorPolicy cannot target a Gateway where Gateways of a class are merged"),
        ("Gateway", False, ""),
        ("GatewayClass", True, ""),
        ("GatewayClass", False, "ColorPolicy cannot target a GatewayClass where Gateways of a class are not merged"),
        ("Gateway", None, ""),
        ("GatewayClass", None, ""),
    ],
)
def test_merged_gateways_are_targeted_by_their_class(kind: str, merge: Json, message: str) -> None:
    """Nobody is refused as long as it is not known whether they are merged."""
    parameters: Json = {"group": "example.com", "kind": "Settings", "name": "s", "namespace": "default"}
    settings = resource("Settings", "s", {"merge": merge}, group="example.com")
    found = policy("p", target("x", kind))
    objects = [gateway_class("x", parametersRef=parameters), gateway("x", class_name="x"), found]
    world = index(*objects, *([] if merge is None else [settings]), complete=merge is not None)
    (attachment,) = attach(found, MERGED, Topology(world, profiles=MERGING))
    assert (attachment.state, attachment.message) == ("kind unsupported" if message else "attached", message)
    assert attachment.target == node(kind, "x")
