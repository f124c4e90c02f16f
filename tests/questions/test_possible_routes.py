"""Routes of which it is not known whether they are attached: no policy above them is said to have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, SERVICE
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.blind_spots.unknowns import FILL_IN, BlindSpot
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.object_rows import object_row
from kubectl_policy.questions.policy_rows import policy_row
from kubectl_policy.questions.shared.reasons import possible_phrase
from kubectl_policy.questions.why_not.answer import why_not
from tests import build
from tests.render.shown import document_of, headline, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, Resource

COLOURS: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
    stanzas="none",
)
POLICY: Final = build.ref("ColorPolicy", "p", group="example.com")
ROUTE: Final = build.node("HTTPRoute", "r")
SELECTED: Final = build.allow("Selector", {"matchLabels": {"team": "edge"}})
UNKNOWN: Final = "whether HTTPRoute default/r is attached to listener http of Gateway infra/g is not known"
WHY: Final = "whether listener http of Gateway infra/g selects it is unknown: Namespace default is not in the input"


def world(*objects: Resource, routes: Json = SELECTED, target: Json = None, section: str = "") -> Analysis:
    """A Gateway with a policy in one namespace, and a route to it in another one of which no labels were read."""
    gateway = build.gateway("g", build.listener(allowedRoutes=routes), build.listener("b", port=81), namespace="infra")
    policy = build.policy("p", target or build.ON_GATEWAY, namespace="infra", colour="red")  # type: ignore[arg-type]
    route = build.route(parents=[build.parent(section=section or "http", namespace="infra")])
    state = build.snapshot(gateway, policy, route, build.service(), *objects)
    return analyze(state, profiles=[COLOURS])


THERE: Final = build.ref("ColorPolicy", "p", "infra", "example.com")


class TestOfTheRoute:
    def test_it_may_be_affected(self) -> None:
        answer = describe(world(), ROUTE)
        assert answer.policies == ()
        (possible,) = answer.possible
        assert (possible.policy, possible.route, str(possible.parent)) == (THERE, ROUTE.object, "Gateway infra/g#http")
        assert possible.message == WHY
        expected = "ColorPolicy infra/p may affect HTTPRoute default/r: whether it is attached to listener http of"
        assert headline(answer).startswith(expected)
        document: Any = document_of(answer)
        assert document["possible"][0]["policy"]["name"] == "p"
        text = " ".join(shown(answer, "tree").split())
        assert (
            f"ColorPolicy infra/p, if HTTPRoute default/r is attached to listener http of Gateway infra/g: {WHY}"
            in text
        )

    def test_of_its_backend(self) -> None:
        answer = describe(world(), build.node("Service", "s", group=""))
        assert [possible.policy for possible in answer.possible] == [THERE]
        assert f"may affect Service default/s: {UNKNOWN}" in headline(answer)

    def test_one_that_is_replaced(self) -> None:
        """Wherever the route is attached, the policy on itself is in force."""
        near = build.policy("near", build.ON_ROUTE, size=1)
        assert describe(world(near), ROUTE).possible == ()

    def test_beside_others(self) -> None:
        near = build.policy("near", build.ON_ROUTE, kind="SizePolicy", size=1)
        answer = describe(world(near), ROUTE)
        assert [policy.name for policy in answer.policies] == ["near"]
        assert "may be affected by 2 policies" in headline(answer)

    def test_beside_filters(self) -> None:
        """They are counted as what they are."""
        named = {"group": "gateway.envoyproxy.io", "kind": "HTTPRouteFilter", "name": "f"}
        rule = build.rule(build.backend(), filters=[{"type": "ExtensionRef", "extensionRef": named}])
        route = build.route(parents=[build.parent(section="http", namespace="infra")], rules=[rule])
        rewrite = {"urlRewrite": {"hostname": {"type": "Backend"}}}
        used = build.resource("HTTPRouteFilter", "f", rewrite, group="gateway.envoyproxy.io")
        assert "may be affected by 1 policy and 1 filter" in headline(describe(world(route, used), ROUTE))

    @pytest.mark.parametrize("routes", [build.allow("All"), build.allow("Same")], ids=["attached", "refused"])
    def test_where_it_is_known(self, routes: Json) -> None:
        answer = describe(world(routes=routes), ROUTE)
        assert answer.possible == ()
        assert bool(answer.policies) is (routes == build.allow("All"))

    def test_of_another_listener(self) -> None:
        """Only what the route may be attached to counts."""
        assert describe(world(target=build.target("g", section="b")), ROUTE).possible == ()
        assert len(describe(world(target=build.target("g", section="http")), ROUTE).possible) == 1

    def test_in_a_list(self) -> None:
        analysis = world()
        row = object_row(analysis, "routes", analysis.index.of_kind(HTTP_ROUTE)[0]).listed
        assert (row.policies, row.undecided_policies, row.possible_policies) == ((), (), (THERE,))


class TestOfTheGateway:
    @pytest.mark.parametrize(("section", "undecided"), [("", ["r"]), ("http", ["r"]), ("b", [])])
    def test_it_may_have_the_route(self, section: str, undecided: list[str]) -> None:
        answer = describe(world(), build.node("Gateway", "g", section, "infra"))
        assert [route.name for route in answer.requests.undecided_routes] == undecided
        perhaps = " and perhaps 1 more" if undecided else ""
        assert headline(answer).endswith(f"0 routes attached{perhaps}.")
        assert len(document_of(answer)["undecidedRoutes"]) == len(undecided)  # type: ignore[arg-type]  # a list

    def test_which_the_route_may_lose(self) -> None:
        answer = blast_radius(world(), build.ref("Gateway", "g", "infra"))
        lost = "Routes that lose parents\n  HTTPRoute default/r: perhaps Gateway infra/g, listener http"
        assert lost in shown(answer, "tree")

    def test_where_it_is_known(self) -> None:
        answer = describe(world(routes=build.allow("All")), build.node("Gateway", "g", "", "infra"))
        assert (answer.requests.routes, answer.requests.undecided_routes) == (1, ())
        lost = blast_radius(world(routes=build.allow("All")), build.ref("Gateway", "g", "infra"))
        assert "perhaps" not in shown(lost, "tree")


class TestOfThePolicy:
    @pytest.mark.parametrize("section", ["", "http"])
    def test_it_is_unknown(self, section: str) -> None:
        analysis = world(target=build.target("g", section=section))
        row = policy_row(analysis, analysis.index.get(THERE))  # type: ignore[arg-type]  # it is there
        assert (row.enforcement.state, row.affected, row.reason) == ("Unknown", None, UNKNOWN)
        assert headline(describe_policy(analysis, THERE)) == (
            f"Whether ColorPolicy infra/p has an effect is unknown: {UNKNOWN}."
        )

    def test_of_another_listener(self) -> None:
        analysis = world(target=build.target("g", section="b"))
        assert analysis.enforcement(THERE).state == "NoEffect"

    def test_where_it_affects_others(self) -> None:
        other = build.route("other", parents=[build.parent()], namespace="infra")
        analysis = world(build.service(namespace="infra"), other)
        enforcement = analysis.enforcement(THERE)
        assert (enforcement.state, enforcement.possible_routes) == ("Enforced", ())

    def test_of_kinds_for_other_routes(self) -> None:
        """One that takes effect at GRPCRoutes alone affects no HTTPRoute."""
        other = replace(COLOURS, effective_targets=(TargetLevel(GRPC_ROUTE, section=True),))
        analysis = analyze(world().snapshot, profiles=[other])
        assert analysis.enforcement(THERE).state == "NoEffect"

    def test_why_not(self) -> None:
        answer = why_not(world(), THERE, ROUTE)
        assert headline(answer).startswith(
            "Whether ColorPolicy infra/p has an effect on HTTPRoute default/r is unknown"
        )

    def test_blast_radius(self) -> None:
        answer = blast_radius(world(), THERE)
        assert f"is unknown: {UNKNOWN}" in headline(answer)
        assert not answer.complete
        assert answer.possibly_affected == (ROUTE.object,)
        assert "\nMay affect\n  kinds        1 HTTPRoute\n  namespaces   default 1\n" in shown(answer, "tree")

    def test_the_routes_that_it_may_affect(self) -> None:
        answer = describe_policy(world(), THERE)
        assert (answer.affected, answer.possibly_affected) == ((), (ROUTE.object,))
        assert "\nMay affect\n  1 HTTPRoute: default/r\n" in shown(answer, "tree")
        document: Any = document_of(answer)
        assert [route["name"] for route in document["possiblyAffected"]] == ["r"]

    def test_of_kinds_for_backends(self) -> None:
        """What takes effect at Services alone does not affect the route."""
        other = replace(COLOURS, effective_targets=(TargetLevel(SERVICE),))
        answer = describe_policy(analyze(world().snapshot, profiles=[other]), THERE)
        assert (answer.enforcement.state, answer.possibly_affected) == ("Unknown", ())


class TestPlaceholders:
    def test_in_the_name_of_the_parent(self) -> None:
        """Each Gateway that may be meant counts."""
        objects = (build.gateway(), build.policy("p", build.ON_GATEWAY, colour="red"), build.service())
        route = build.route(parents=[build.parent("${GATEWAY}")])
        analysis = analyze(build.snapshot(*objects, route), profiles=[COLOURS])
        assert [possible.policy for possible in describe(analysis, ROUTE).possible] == [POLICY]
        assert analysis.enforcement(POLICY).state == "Unknown"

    def test_in_the_namespace_of_the_gateway(self) -> None:
        objects = (
            build.gateway("g", build.listener(allowedRoutes=build.allow()), namespace="?apps.net"),
            build.policy("p", build.ON_GATEWAY, namespace="?apps.net", colour="red"),
            build.route(parents=[build.parent(namespace="net")]),
            build.service(),
        )
        analysis = analyze(build.snapshot(*objects), profiles=[COLOURS])
        enforcement = analysis.enforcement(build.ref("ColorPolicy", "p", "?apps.net", "example.com"))
        assert enforcement.state == "Unknown"
        assert [possible.policy.name for possible in describe(analysis, ROUTE).possible] == ["p"]

    def test_in_a_hostname(self) -> None:
        gateway = build.gateway("g", build.listener(hostname="*.example.com"))
        route = build.route(hostnames=["${HOST}.example.${TLD}"])
        policy = build.policy("p", build.ON_GATEWAY, colour="red")
        analysis = analyze(build.snapshot(gateway, route, policy, build.service()), profiles=[COLOURS])
        assert analysis.enforcement(POLICY).state == "Unknown"
        reason = (
            "whether hostname ${HOST}.example.${TLD} matches *.example.com of listener http of Gateway default/g"
            " cannot be known yet: a name contains a placeholder"
        )
        # Every answer says it once, and of the route.
        expected = (BlindSpot(what="HTTPRoute default/r", reason=reason, remedy=FILL_IN),)
        assert describe(analysis, ROUTE).unseen == expected
        assert describe_policy(analysis, POLICY).unseen == expected
        assert why_not(analysis, POLICY, ROUTE).unseen == expected
        assert describe(analysis, build.node("Gateway", "g")).unseen == expected
        hedge = "as far as could be read: placeholders are to be filled in"
        assert hedge in headline(blast_radius(analysis, POLICY))


def test_a_listener_set_that_may_be_admitted() -> None:
    """The policies of the Gateway count as well."""
    gateway = build.gateway("g", build.listener(), namespace="infra", allowedListeners=SELECTED)
    listener_set = build.listener_set("ls", build.listener("x", port=90), parent_namespace="infra")
    route = build.route(parents=[build.parent("ls", kind="ListenerSet")])
    policy = build.policy("p", build.ON_GATEWAY, namespace="infra", colour="red")
    analysis = analyze(build.snapshot(gateway, listener_set, route, build.service(), policy), profiles=[COLOURS])
    assert [possible.policy for possible in describe(analysis, ROUTE).possible] == [THERE]
    assert analysis.enforcement(THERE).state == "Unknown"


def test_where_no_route_is_possible_nothing_is_said_of_any() -> None:
    assert not possible_phrase(())
