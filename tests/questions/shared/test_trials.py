"""Other names for broken references: each is tried, and only one with which the reference works is suggested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from kubectl_policy import analyze
from kubectl_policy.comparison import compare
from kubectl_policy.questions.shared.trials import Trials, near_field, near_names
from kubectl_policy.topology.references import backend_refs, parent_refs
from kubectl_policy.validation import new_evaluator
from tests import build
from tests.questions.build import color_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Resource

PLAIN: Final = build.listener("http")
ENCRYPTED: Final = build.listener("https", port=443, protocol="HTTPS")


class Tried(NamedTuple):
    """A state in which a route or policy names something, and trials in it."""

    analysis: Analysis
    trials: Trials

    def listener(self) -> str:
        """The listener that route `r` may mean."""
        (parent,) = parent_refs(self.analysis.index, ROUTE)
        return self.trials.listener(ROUTE, parent)

    def parent(self) -> str:
        """The Gateway that route `r` may mean."""
        (parent,) = parent_refs(self.analysis.index, ROUTE)
        return self.trials.parent(ROUTE, parent)


ROUTE: Final = build.ref("HTTPRoute", "r")


def route_to(section: str, gateway: str = "g") -> Resource:
    """A route that names a section."""
    return build.route(parents=[build.parent(gateway, section)])


def tried(*resources: Resource, before: Sequence[Resource] = ()) -> Tried:
    """A world that has all there is, after a change of another one if that is given."""
    after = build.snapshot(build.gateway_class(), *resources, complete=True)
    if not before:
        analysis = analyze(after, profiles=[color_kind()])
        return Tried(analysis, Trials(analysis))
    states = compare(build.snapshot(build.gateway_class(), *before, complete=True), after, profiles=[color_kind()])
    return Tried(states.after, Trials(states.after, states.before))


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("webhook", ["webhooks", "web", "hook"], ["webhooks"]),
        ("gg", ["g", "gg"], ["g"]),
        ("catr", ["cart", "card"], ["cart", "card"]),
        ("shop", ["pays"], []),
        ("a", map(str, range(6_000)), []),
    ],
)
def test_near_names(name: str, candidates: Sequence[str], expected: list[str]) -> None:
    assert near_names(name, candidates) == expected


NARROW: Final = build.listener("webs", hostname="*.example.org")
SHUT: Final = build.listener("webs", allowedRoutes=build.allow("None"))


@pytest.mark.parametrize(
    ("section", "listeners", "expected"),
    [
        ("htps", [PLAIN, ENCRYPTED], "https"),
        ("htp", [PLAIN, ENCRYPTED], "http"),
        # What is to be encrypted is not sent in the clear.
        ("https", [PLAIN, build.listener("websecure", port=443, protocol="HTTPS")], ""),
        ("https", [PLAIN, build.listener("https-2", port=443, protocol="HTTPS")], "https-2"),
        # A listener that takes no such route is not meant.
        ("web", [SHUT], ""),
        ("web", [SHUT, build.listener("webb", port=81)], "webb"),
        ("grpc", [PLAIN], ""),
    ],
)
def test_a_listener_is_one_to_which_the_route_attaches(
    section: str, listeners: list[dict[str, Json]], expected: str
) -> None:
    assert tried(build.gateway("g", *listeners), route_to(section)).listener() == expected


@pytest.mark.parametrize(
    ("former", "section", "listeners", "expected"),
    [
        # It has another name now.
        (ENCRYPTED, "https", [PLAIN, {**ENCRYPTED, "name": "public"}], "public"),
        ({**ENCRYPTED, "name": "web"}, "web", [{**PLAIN, "name": "webs"}], ""),
        (PLAIN, "http", [{**PLAIN, "name": "web"}, ENCRYPTED], "web"),
        # What was in the clear may be encrypted.
        (PLAIN, "http", [ENCRYPTED], "https"),
        (ENCRYPTED, "https", [PLAIN], ""),
    ],
)
def test_a_renamed_listener_is_known_by_what_it_serves(
    former: dict[str, Json], section: str, listeners: list[dict[str, Json]], expected: str
) -> None:
    route = route_to(section)
    before = [build.gateway("g", former), route]
    assert tried(build.gateway("g", *listeners), route, before=before).listener() == expected


def test_a_parent_has_the_listener_that_the_route_names() -> None:
    for listener, expected in ((ENCRYPTED, "public"), (PLAIN, "")):
        assert tried(build.gateway("public", listener), route_to("https", "publik")).parent() == expected


def test_a_backend_has_the_port_that_the_route_names() -> None:
    route = build.route(rules=[{"backendRefs": [{"name": "webhook", "port": 80}]}])
    for port, expected in ((80, "webhooks"), (81, "")):
        world = tried(route, build.service("webhooks", port))
        (backend,) = backend_refs(world.analysis.index, ROUTE)
        assert world.trials.backend(ROUTE, backend) == expected


def test_what_another_object_may_be_referred_to() -> None:
    owner, secret = build.ref("Gateway", "g"), build.ref("Secret", "certs", "other", group="")
    trials = tried(build.gateway(), build.resource("Secret", "cert", group="", namespace="other")).trials
    assert trials.referred(owner, secret) == ""
    assert trials.referred(build.ref("Gateway", "g", "other"), secret) == "cert"


@pytest.mark.parametrize(
    ("target", "section", "expected"),
    [
        (build.target("gg"), "", "g"),
        (build.target("g", section="htp"), "http", ""),
        (build.target("g", section="https"), "", ""),
        (build.target("gg", section="htp"), "", ""),
    ],
)
def test_a_target_is_one_to_which_the_policy_attaches(target: dict[str, Json], section: str, expected: str) -> None:
    """No target is found with two mistakes."""
    policy = build.policy("p", target)
    world = tried(build.gateway(), policy, build.namespace("g"))
    (attachment,) = world.analysis.attachments[policy.ref]
    named = attachment.target.object if attachment.target else ROUTE
    assert world.trials.section(policy, attachment.declared, named) == section
    assert world.trials.target(policy, attachment.declared, named) == expected


@pytest.mark.parametrize(
    ("holder", "expected"),
    [
        ({"hostnam": "a"}, "hostname"),
        ({"hostnam": "a", "hostname": "b"}, ""),
        ({"hostnam": 1}, ""),
        ({"other": 1}, ""),
        ({"ports": 1}, ""),
    ],
)
def test_a_field_is_free_and_takes_the_value(holder: dict[str, Json], expected: str) -> None:
    schemas: dict[str, Json] = {"hostname": {"type": "string"}, "port": True}
    assert near_field(next(iter(holder)), holder, schemas, new_evaluator()) == expected
