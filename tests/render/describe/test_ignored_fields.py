"""Fields that controllers ignore, in text and documents, for the built-in kinds of which they are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.output.text import View
from tests.build import gateway, gateway_class, listener, namespace, node, resource, route, service, snapshot, target
from tests.render.schema import VALIDATOR
from tests.render.shown import shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, Resource
    from tests.render.shown import Answer

KGATEWAY: Final = "gateway.kgateway.dev"
NGINX: Final = "gateway.nginx.org"
LONGER: Final[dict[str, Json]] = {"httpSettings": {"idleTimeout": "3s"}}
IDLE: Final[dict[str, Json]] = {"httpSettings": {"idleTimeout": "1s"}}


def world(controller: str, *policies: Resource, complete: bool = True) -> Analysis:
    """A Gateway with a listener for HTTP and one for HTTPS, and a route to a Service."""
    secret = resource("Secret", "c", group="")
    tls: Json = {"certificateRefs": [{"name": "c"}]}
    edge = gateway("g", listener("http"), listener("https", "HTTPS", 443, tls=tls))
    objects = (namespace("default"), gateway_class("public", controller), edge, route("r"), service("s"), secret)
    return analyze(snapshot(*objects, *policies, complete=complete))


def on(kind: str, group: str, name: str, *targets: dict[str, Json], spec: dict[str, Json]) -> Resource:
    """A policy of a built-in kind."""
    return resource(kind, name, {"targetRefs": list(targets), **spec}, group=group, age=1)


def told(answer: Answer) -> str:
    """What people read, with single spaces."""
    return " ".join(shown(answer, "tree", View()).split())


def loaded(answer: Answer) -> dict[str, Any]:
    """What programs read, which keeps to its schema."""
    document: dict[str, Any] = json.loads(shown(answer, "json", View()))
    VALIDATOR.validate(document)
    return document


class TestListenerPolicy:
    """On listeners for HTTP policies are passed over whole, on others some of their fields."""

    http: Final = on("ListenerPolicy", KGATEWAY, "on-http", target("g", section="http"), spec={"default": IDLE})
    both: Final = on(
        "ListenerPolicy",
        KGATEWAY,
        "both",
        target("g", section="http"),
        target("g", section="https"),
        spec={"default": {**IDLE, "tcpKeepalive": {"keepAliveTime": "1s"}}},
    )
    wide: Final = on(
        "ListenerPolicy", KGATEWAY, "wide", target("g"), spec={"default": {"httpSettings": {"idleTimeout": "3s"}}}
    )
    controller: Final = "kgateway.dev/kgateway"

    @pytest.mark.parametrize("complete", [True, False])
    def test_a_policy_of_which_nothing_counts(self, *, complete: bool) -> None:
        """It has no effect, for nobody's sake, also if there may be more below."""
        answer = describe_policy(world(self.controller, self.http, self.wide, complete=complete), self.http.ref)
        text = told(answer)
        assert "listener http has no effect: controllers ignore everything that it sets there" in text
        assert "in effect nowhere controllers ignore it default.httpSettings.idleTimeout 1s" in text
        data = loaded(answer)
        assert (data["enforcement"], data["affected"]) == ({"state": "NoEffect", "by": [], "undecidedWith": []}, [])
        assert [(field["unheededOn"], field["superseded"], field["rejected"]) for field in data["fields"]] == [
            ([path["number"] for path in data["paths"]], [], False)
        ]

    def test_a_policy_of_which_some_counts_somewhere(self) -> None:
        """Where it does not is said."""
        answer = describe_policy(world(self.controller, self.both), self.both.ref)
        text = told(answer)
        assert "is enforced in part, on 1 of its 2 paths" in text
        # By way of the listener for HTTP nothing, by way of the other one all but a field.
        nowhere = text.partition(" in effect nowhere through ")[2].partition("in effect on")[0]
        assert nowhere.startswith("Gateway default/g, listener http controllers ignore it")
        assert text.count("controllers ignore it") == 2
        assert answer.enforcement.state == "PartiallyEnforced"
        assert "0/2" in shown(answer, "wide", View(200))

    def test_of_the_listener(self) -> None:
        """What would have beaten another value has not, and what nothing stands for has no effect."""
        analysis = world(self.controller, self.http, self.wide)
        with_listener = told(describe(analysis, node("Gateway", "g", "http")))
        assert "instead of 1s, default/on-http → listener http" in with_listener
        assert "(controllers ignore it here)" in with_listener
        unlistened = describe(world(self.controller, self.http), node("Gateway", "g", "http"))
        assert "ListenerPolicy nothing default/on-http is ignored" in told(unlistened)
        assert "default/on-http → listener http has no effect: " in told(unlistened)
        assert "default.httpSettings.idleTimeout 1s (controllers ignore it here)" in told(unlistened)
        (group,) = loaded(unlistened)["inForce"]
        assert (group["policies"], group["settings"]) == ([], [])
        assert [(fate["state"], fate["supersededBy"]) for fate in group["withoutEffect"]] == [("unheeded", [])]

    def test_the_listeners_of_a_gateway_are_told_apart(self) -> None:
        """Also where the same settings come of it."""
        section = on(
            "ListenerPolicy", KGATEWAY, "same", target("g", section="https"), spec={"default": {"tcpKeepalive": {}}}
        )
        groups = describe(world(self.controller, self.wide, section), node("Gateway", "g")).in_force
        assert [(len(group.extent.at), len(group.without_effect)) for group in groups] == [(1, 0), (1, 1)]


class TestRateLimitPolicy:
    """A `dryRun` of false is not written down, so that it does not undo another one."""

    wide: Final = on("RateLimitPolicy", NGINX, "wide", target("g"), spec={"rateLimit": {"dryRun": True}})
    mine: Final = on(
        "RateLimitPolicy",
        NGINX,
        "mine",
        target("r", "HTTPRoute"),
        spec={"rateLimit": {"dryRun": False, "rejectCode": 429}},
    )
    controller: Final = "gateway.nginx.org/nginx-gateway-controller"

    def test_of_the_policy(self) -> None:
        answer = describe_policy(world(self.controller, self.wide, self.mine), self.mine.ref)
        assert "in effect nowhere controllers ignore it rateLimit.dryRun false" in told(answer)
        assert "is enforced in part" in told(answer)
        assert {field["field"]: field["unheededOn"] for field in loaded(answer)["fields"]} == {
            "rateLimit.dryRun": [1, 2],
            "rateLimit.rejectCode": [],
        }

    def test_of_the_route(self) -> None:
        answer = describe(world(self.controller, self.wide, self.mine), node("HTTPRoute", "r"))
        assert "instead of false, default/mine" in told(answer)
        (group,) = loaded(answer)["inForce"]
        (setting,) = [setting_ for setting_ in group["settings"] if setting_["field"] == "rateLimit.dryRun"]
        assert (setting["value"], setting["source"]["object"]["name"]) == (True, "wide")
        assert [fate["state"] for fate in setting["insteadOf"]] == ["unheeded"]

    def test_alone(self) -> None:
        unlistened = on(
            "RateLimitPolicy", NGINX, "mine", target("r", "HTTPRoute"), spec={"rateLimit": {"dryRun": False}}
        )
        analysis = world(self.controller, unlistened)
        assert analysis.enforcement(unlistened.ref).state == "NoEffect"
        assert analysis.affected_by(node("HTTPRoute", "r")) == ()
