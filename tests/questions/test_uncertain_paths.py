"""Policies whose targets get requests only through parents that were not read: they may have an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model.kinds import CRD
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.matrix import MatrixOptions, matrix
from kubectl_policy.questions.object_rows import object_row
from kubectl_policy.questions.policy_rows import policy_row
from kubectl_policy.questions.why_not.answer import why_not
from tests import build
from tests.render.shown import document_of, headline, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import NodeRef, Resource

ENVOY: Final = "gateway.envoyproxy.io"
CLASS: Final = build.gateway_class("public", controllerName="gateway.envoyproxy.io/gatewayclass-controller")
IN_SET: Final = (build.parent("ls", kind="ListenerSet"),)
LISTENER_SET: Final = build.listener_set("ls", build.listener("x", port=90))
MESH: Final = (build.parent("front", kind="Service", group=""),)
SERVICE: Final = build.node("Service", "s", group="")
ON_SET: Final = build.target("ls", kind="ListenerSet")


def limit(target: Any = build.ON_ROUTE) -> Resource:  # noqa: ANN401 (as a builder takes it)
    return build.policy(
        "p", target, kind="BackendTrafficPolicy", group=ENVOY, timeout={"http": {"requestTimeout": "5s"}}
    )


def colour(target: Any = build.ON_ROUTE) -> Resource:  # noqa: ANN401 (as a builder takes it)
    return build.policy("p", target, colour="red")


def world(policy: Resource, *objects: Resource) -> Analysis:
    return analyze(build.snapshot(policy, build.service(), *objects))


ROUTE: Final = build.route()
UNATTACHED: Final = "whether HTTPRoute default/r is attached to {} is not known"
UNMANAGED: Final = "which controller acts on Gateway default/g is not known"
UNREAD: Final = [
    pytest.param((limit(), ROUTE), UNATTACHED.format("Gateway default/g"), id="a Gateway"),
    pytest.param((colour(), ROUTE), UNATTACHED.format("Gateway default/g"), id="a Gateway, any controller"),
    pytest.param((limit(), ROUTE, build.gateway()), UNMANAGED, id="a GatewayClass"),
    pytest.param((limit(build.ON_GATEWAY), ROUTE, build.gateway()), UNMANAGED, id="the class of the target"),
    pytest.param((colour(), build.route(parents=IN_SET)), UNATTACHED.format("ListenerSet default/ls"), id="a set"),
    pytest.param(
        (colour(), build.route(parents=IN_SET), LISTENER_SET),
        UNATTACHED.format("listener x of ListenerSet default/ls"),
        id="the Gateway of a ListenerSet",
    ),
    pytest.param((colour(), build.route(parents=MESH)), UNATTACHED.format("Service default/front"), id="a Service"),
]


class TestOfThePolicy:
    @pytest.mark.parametrize(("objects", "why"), UNREAD)
    def test_it_is_unknown(self, objects: tuple[Resource, ...], why: str) -> None:
        analysis = world(*objects)
        row = policy_row(analysis, objects[0])
        assert (row.enforcement.state, row.affected, row.reason) == ("Unknown", None, why)
        answer = describe_policy(analysis, objects[0].ref)
        assert headline(answer).endswith(f"has an effect is unknown: {why}.")
        assert (answer.unknown, {field.effective_on for field in answer.all_fields}) == (True, {()})

    @pytest.mark.parametrize(
        "objects",
        [
            (limit(), ROUTE, build.gateway(), CLASS),
            # Which controller there is does not matter to this kind.
            (colour(), ROUTE, build.gateway()),
            (colour(), build.route(parents=IN_SET), LISTENER_SET, build.gateway(allowedListeners=build.allow("Same"))),
            (colour(), build.route(parents=MESH), build.service("front")),
            # Another parent was read.
            (colour(), build.route(parents=[build.parent(), build.parent("unread")]), build.gateway()),
        ],
    )
    def test_of_parents_that_were_read(self, objects: tuple[Resource, ...]) -> None:
        analysis = world(*objects)
        assert analysis.enforcement(objects[0].ref).state == "Enforced"
        assert not describe_policy(analysis, objects[0].ref).unknown

    def test_of_a_listener_set_without_its_gateway(self) -> None:
        """It takes effect at the listeners, if a controller serves them."""
        policy = build.policy("p", ON_SET, kind="ClientTrafficPolicy", group=ENVOY, tls={"minVersion": "1.2"})
        row = policy_row(world(policy, LISTENER_SET), policy)
        why = "which controller acts on ListenerSet default/ls is not known"
        assert (row.enforcement.state, row.reason) == ("Unknown", why)

    def test_one_that_loses_everywhere(self) -> None:
        """It has no effect, whatever the Gateway is."""
        other = build.policy("q", build.ON_ROUTE, kind="BackendTrafficPolicy", group=ENVOY, age=2)
        older = build.policy("p", build.ON_ROUTE, kind="BackendTrafficPolicy", group=ENVOY, age=1)
        assert world(other, older, ROUTE).enforcement(other.ref).state == "Conflicted"

    def test_on_one_of_its_paths(self) -> None:
        """What is known of one path is known."""
        policy = colour(build.target("default", "Namespace", group=""))
        far = build.route("far", parents=[build.parent("unread")])
        analysis = world(policy, ROUTE, far, build.gateway(), build.namespace("default"))
        assert analysis.enforcement(policy.ref).state == "Enforced"
        (field,) = describe_policy(analysis, policy.ref).all_fields
        assert field.effective_on
        assert field.undecided_on


class TestOfTheRoute:
    @pytest.mark.parametrize("node", [build.node("HTTPRoute", "r"), SERVICE], ids=str)
    def test_it_may_be_affected(self, node: NodeRef) -> None:
        analysis = world(colour(), ROUTE)
        answer = describe(analysis, node)
        assert headline(answer).startswith(f"{node.object} may be affected by 1 policy, as far as could be read: ")
        document: Any = document_of(answer)
        (group,) = document["inForce"]
        assert (group["doubt"], len(group["undecided"])) == ("requests", 1)
        assert [setting["certain"] for setting in group["settings"]] == [False]
        assert "(may hold)" in shown(answer, "tree")

    def test_what_is_behind_a_gateway(self) -> None:
        analysis = world(limit(build.ON_GATEWAY), build.gateway())
        answer = describe(analysis, build.node("Gateway", "g"))
        assert headline(answer).startswith("1 policy may take effect on what is behind Gateway default/g")

    def test_in_lists(self) -> None:
        analysis = world(colour(), ROUTE)
        row = object_row(analysis, "routes", ROUTE).listed
        assert (row.policies, row.undecided_policies) == ((), ())
        assert [policy.name for policy in row.possible_policies] == ["p"]

    @pytest.mark.parametrize(
        ("objects", "missing"), [((limit(), ROUTE), 0), ((limit(), ROUTE, build.gateway()), 1)], ids=["route", "class"]
    )
    def test_settings_that_all_requests_get_are_not_missing(self, objects: tuple[Resource, ...], missing: int) -> None:
        """If none come, they miss nothing; another controller may ignore the policy."""
        every = matrix(world(*objects), MatrixOptions(kinds=("backendtrafficpolicy",)))
        assert [part.certain for row in every.items for part in row.cells[0].parts] == [False]
        lacking = matrix(world(*objects), MatrixOptions(kinds=("backendtrafficpolicy",), missing=True))
        assert len(lacking.items) == missing


class TestOfBoth:
    @pytest.mark.parametrize(
        ("objects", "rule"),
        [((limit(), ROUTE), "parent-unknown"), ((limit(), ROUTE, build.gateway()), "controller-unknown")],
    )
    def test_why_not(self, objects: tuple[Resource, ...], rule: str) -> None:
        answer = why_not(world(*objects), objects[0].ref, build.node("HTTPRoute", "r"))
        assert [reason.rule for reason in answer.reasons] == [rule]
        assert (answer.unknown, answer.has_effect) == (True, False)

    def test_blast_radius(self) -> None:
        answer = blast_radius(world(colour(), ROUTE), colour().ref)
        assert "may affect" in headline(answer)
        assert "Deleting it may change" in headline(answer)
        assert "\nMay affect\n" in shown(answer, "tree")

    def test_a_difference(self) -> None:
        """Settings may change; the values say that they may hold."""
        changed = diff(what_if(world(colour(), ROUTE), applied=[build.policy("p", build.ON_ROUTE, colour="blue")]))
        assert headline(changed).startswith("2 objects in namespace default may get other values (1 object updated)")
        values = [
            value for effect in changed.effects for field in effect.fields for value in (field.before, field.after)
        ]
        assert [value.certain for value in values if value] == [False, False]

    def test_several_differences(self) -> None:
        far = build.route("far", parents=[build.parent("unread")], rules=[build.rule()])
        on_far = build.policy("q", build.target("far", "HTTPRoute"), size=1)
        blue = build.policy("p", build.ON_ROUTE, colour="blue")
        changed = diff(what_if(world(colour(), on_far, ROUTE, far), applied=[blue], deleted=[on_far.ref]))
        expected = "3 objects may change in namespace default: 1 may lose settings and 2 may get other values"
        assert headline(changed).startswith(expected)

    def test_a_deletion_of_something_else(self) -> None:
        analysis = world(colour(), ROUTE, build.crd("ColorPolicy"))
        answer = blast_radius(analysis, analysis.index.of_kind(CRD)[0].ref)
        assert "may change settings of 2 objects" in headline(answer)
