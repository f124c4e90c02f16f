"""What answers could not see: parameters, routes, ReferenceGrants and namespaces that decide what counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_for_policy, possible_through
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot, cut_paths
from kubectl_policy.questions.shared.effects import covered_paths
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top

if TYPE_CHECKING:
    from kubectl_policy.model import Resource

COLOR: Final = GroupKind("example.com", "ColorPolicy")
SETTINGS: Final = GroupKind("example.com", "Settings")
SWITCHED: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", enabled_by=RequiredParameter(SETTINGS, "colours.enable"), stanzas="none"
)
PARAMETERS: Final = {"group": "example.com", "kind": "Settings", "name": "s"}
PLAIN: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none")
WORLD: Final = (
    build.gateway_class(),
    build.gateway("g", infrastructure={"parametersRef": PARAMETERS}),
    build.route("r"),
    build.service(),
    build.namespace("default"),
)
UNREAD: Final = BlindSpot(
    what="Settings default/s",
    reason="whether spec.colours.enable is set in the parameters of Gateway default/g is unknown; only then does this "
    "count: ColorPolicy",
    remedy="add the manifest that holds it",
)


def unseen(*objects: Resource, profile: PolicyKindProfile = SWITCHED, complete: bool = False) -> list[list[BlindSpot]]:
    """What answers about policy `p`, its route and its Gateway could not see in the world with these objects."""
    analysis = analyze(build.snapshot(*WORLD, *objects, complete=complete), profiles=[profile])
    about_policy = blind_spots_for_policy(
        analysis, analysis.enforcement(build.ref("ColorPolicy", "p", group="example.com"))
    )
    subjects = (NodeRef(build.ref("HTTPRoute", "r")), NodeRef(build.ref("Gateway", "g")))
    about = (blind_spots_for(analysis, subject, analysis.topology.paths(subject)) for subject in subjects)
    return [list(about_policy), *map(list, about)]


def settings(*, enable: bool) -> Resource:
    """The parameters of the Gateway."""
    return build.resource("Settings", "s", {"colours": {"enable": enable}}, group="example.com")


def test_parameters_that_were_not_read() -> None:
    """In every answer in which a policy has something to say that they may forbid."""
    assert unseen(build.policy("p", build.target("r", "HTTPRoute"), age=1, color="red")) == [[UNREAD], [UNREAD], []]
    assert unseen(build.policy("p", build.target("g"), age=1, color="red")) == [[UNREAD], [UNREAD], [UNREAD]]


def test_parameters_that_were_read_or_do_not_exist() -> None:
    """Nothing is in doubt then."""
    p = build.policy("p", build.target("r", "HTTPRoute"), age=1, color="red")
    assert unseen(p, settings(enable=True)) == [[], [], []]
    assert unseen(p, settings(enable=False)) == [[], [], []]
    assert unseen(p, complete=True) == [[], [], []]


def test_a_kind_that_nothing_has_to_enable() -> None:
    """Whatever parameters there are."""
    p = build.policy("p", build.target("r", "HTTPRoute"), age=1, color="red")
    assert unseen(p, profile=replace(SWITCHED, enabled_by=None)) == [[], [], []]


def test_routes_that_would_make_a_target_exist() -> None:
    """Of a kind whose targets exist when a route refers to them; of a section it is the object that was not read."""
    referred = replace(
        SWITCHED, enabled_by=None, targets_exist="whenReferred", controllers=frozenset({"example.com/gateway"})
    )
    p = build.policy("p", build.target("t", "Service", group=""), age=1, color="red")
    ((found,), _, _) = unseen(p, profile=referred)
    assert found == BlindSpot(
        what="routes to Service default/t",
        reason="ColorPolicy default/p targets it, and no route in the input that example.com/gateway acts on sends "
        "requests to Service default/t",
        remedy="add the manifests that hold them",
    )
    to_far = build.route("far", rules=[build.rule(build.backend("u", namespace="far"))])
    lets_in = build.grant(namespace="far")
    on_port = build.target("u", "Service", "web", group="", namespace="far")
    granted = build.grant(
        "g2", namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[("", "Service")]
    )
    ((found,), _, _) = unseen(
        build.policy("p", on_port, age=1, color="red"), to_far, lets_in, granted, profile=referred
    )
    assert (found.what, found.remedy) == ("Service far/u", "add the manifest that holds it")
    ((found,), _, _) = unseen(
        build.policy("p", build.target("u", "Service", group="", namespace="far"), age=1),
        granted,
        profile=replace(referred, targets_exist="whenRead"),
    )
    assert (found.what, found.remedy) == ("Service far/u", "add the manifest that holds it")


def test_a_path_that_is_followed_no_further() -> None:
    """Routes may delegate to each other 40 times: nobody is told that what is below is not affected."""
    middle = [http_route(f"c{at}", passing("/", to(f"c{at + 1}"))) for at in range(1, 40)]
    routes = [top(passing("/", to("c1"))), *middle, http_route("c40", passing("/", build.backend()))]
    objects = (build.gateway_class(controller=CONTROLLER), build.gateway(), build.service(), *routes)
    analysis = analyze(build.snapshot(*objects, complete=True))
    what = "a path of more than 60 nodes"
    for name, (first, last) in {"c40": ("c10", "c40"), "c2": ("", "")}.items():
        node = build.node("HTTPRoute", name)
        found = [(each.what, each.reason) for each in blind_spots_for(analysis, node, analysis.topology.paths(node))]
        reason = f"it is followed only from HTTPRoute default/{first} to HTTPRoute default/{last}"
        assert found == ([(what, reason)] if first else [])
    edge = build.node("Gateway", "g")
    assert [each.what for each in cut_paths(analysis.topology.paths_through(edge))] == [what]


def test_a_route_that_a_listener_may_take() -> None:
    """It would be below a policy on the Gateway, on the listener or on the class; not below one on another route."""
    selecting = build.allow("Selector", {"matchLabels": {"team": "a"}})
    world = (
        build.gateway_class(),
        build.gateway("g", build.listener(allowedRoutes=selecting)),
        build.route("far", parents=[build.parent("g", namespace="default")], namespace="far"),
        build.route("near"),
        build.namespace("default", {"team": "a"}),
    )
    targets = {
        "g": build.target("g"),
        "l": build.target("g", section="http"),
        "c": build.target("public", "GatewayClass"),
        "r": build.target("near", "HTTPRoute"),
    }
    policies = [build.policy(name, target, age=1, a=1) for name, target in targets.items()]
    analysis = analyze(build.snapshot(*world, *policies))
    said = (
        "whether it is attached to Gateway default/g#http is unknown: "
        "whether listener http of Gateway default/g selects it is unknown: Namespace far is not in the input"
    )
    for policy in policies:
        found = blind_spots_for_policy(analysis, analysis.enforcement(policy.ref))
        told = [thing.reason for thing in found if thing.what == "HTTPRoute far/far"]
        assert told == ([said] if policy.ref.name != "r" else [])
        about_one = blind_spots_for_policy(analysis, analysis.enforcement(policy.ref), include_descendants=False)
        assert [thing for thing in about_one if thing.what == "HTTPRoute far/far"] == []


def test_whether_a_route_may_refer_to_a_backend() -> None:
    """Told of everything whose paths lead there, unless it is known."""
    far = build.service("s", namespace="far")
    world = (build.gateway_class(), build.gateway(), far)
    route = build.route(rules=[build.rule(build.backend("s", namespace="far"))])
    policy = build.policy("p", build.target("g"), age=1, a=1)
    reason = "whether HTTPRoute default/r may refer to it is unknown: no ReferenceGrant in the input says so"
    for more, expected in (((), [reason]), ((build.grant(namespace="far"),), [])):
        analysis = analyze(build.snapshot(*world, route, policy, *more))
        subjects = (NodeRef(route.ref), NodeRef(far.ref))
        answers = [blind_spots_for(analysis, subject, covered_paths(analysis, subject)) for subject in subjects]
        for found in (*answers, blind_spots_for_policy(analysis, analysis.enforcement(policy.ref))):
            assert [thing.reason for thing in found if thing.what == "Service far/s"] == expected
        beside = blind_spots_for(analysis, NodeRef(world[1].ref), analysis.topology.paths(NodeRef(world[1].ref)))
        assert [thing for thing in beside if thing.what == "Service far/s"] == []


def test_namespaces_that_nothing_says() -> None:
    """Each is told once, with the first object that is there."""
    world = (
        build.gateway_class(),
        build.gateway("g", build.listener(allowedRoutes=build.allow("All"))),
        build.route("r", parents=[build.parent("g", namespace="default")], namespace="?apps.echo"),
        build.service(namespace="?apps.echo"),
        build.policy("p", build.target("r", "HTTPRoute"), namespace="?apps.echo", age=1, a=1),
    )
    analysis = analyze(build.snapshot(*world))
    subject = NodeRef(world[2].ref)
    found = blind_spots_for(analysis, subject, covered_paths(analysis, subject))
    assert [thing.what for thing in found if thing.what.startswith("the namespace")] == [
        "the namespace of HTTPRoute ?apps.echo/r and 2 more"
    ]
    alone = blind_spots_for(analysis, NodeRef(world[1].ref), analysis.topology.paths(NodeRef(world[1].ref)))
    assert [thing.what for thing in alone if thing.what.startswith("the namespace")] == []


def test_another_policy_of_which_the_section_is_to_be_filled_in() -> None:
    """It may stand beside the policy that is asked about; that one's own is told as its target."""
    open_policy = build.policy("open", build.target("g", section="${SECTION}"), a=1)
    policy = build.policy("p", build.target("g"), a=2)
    analysis = analyze(build.snapshot(*WORLD, open_policy, policy, complete=True), profiles=[PLAIN])
    for asked in (policy, open_policy):
        unseen = blind_spots_for_policy(analysis, analysis.enforcement(asked.ref))
        assert [each.what for each in unseen] == ["Gateway default/g"]


def test_another_policy_that_may_be_on_the_same_gateway() -> None:
    """Which of its listeners that one is about, a placeholder leaves open: it may be the one of the route."""
    p = build.policy("p", build.target("g"), age=1, color="red")
    q = build.policy("q", build.target("g", section="${LISTENER}"), age=2, color="blue")
    about_policy, *_ = unseen(p, q, settings(enable=True))
    which = "which section of Gateway default/g ${LISTENER} is cannot be known yet"
    reason = f"ColorPolicy default/q targets it, and {which}"
    assert [(thing.what, thing.reason) for thing in about_policy] == [("Gateway default/g", reason)]


def test_a_policy_that_may_be_on_one_listener_does_not_doubt_itself() -> None:
    """Its own target is unknown once, as its own; nothing else of its kind is."""
    q = build.policy("q", build.target("g"), build.target("g", section="${LISTENER}"), age=2, color="blue")
    analysis = analyze(build.snapshot(*WORLD, q, settings(enable=True)), profiles=[PLAIN])
    about_policy = blind_spots_for_policy(analysis, analysis.enforcement(q.ref))
    assert [thing.what for thing in about_policy] == ["Gateway default/g"]


def test_routes_that_may_be_attached_to_a_gateway() -> None:
    """A change of the Gateway may matter to a route whose parent is a placeholder; without one, nothing is in doubt."""
    gateway = NodeRef(build.ref("Gateway", "g"))
    assert list(possible_through(analyze(build.snapshot(*WORLD)), gateway)) == []
    open_route = build.route("x", parents=[build.parent("${GATEWAY}")])
    analysis = analyze(build.snapshot(*WORLD, open_route))
    assert {thing.what for thing in possible_through(analysis, gateway)} == {"Gateway default/g", "HTTPRoute default/x"}
