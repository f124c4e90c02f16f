"""What answers could not see: the parameters of Gateways that decide whether a kind may be used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.profiles.requirements import Switch
from kubectl_policy.questions.unseen import Unseen, unseen_for, unseen_for_policy
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Resource

COLOR: Final = GroupKind("example.com", "ColorPolicy")
SETTINGS: Final = GroupKind("example.com", "Settings")
SWITCHED: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", enabled_by=Switch(SETTINGS, "colours.enable"), stanzas="none"
)
PARAMETERS: Final = {"group": "example.com", "kind": "Settings", "name": "s"}
WORLD: Final = (
    build.gateway_class(),
    build.gateway("g", infrastructure={"parametersRef": PARAMETERS}),
    build.route("r"),
    build.service(),
    build.namespace("default"),
)
UNREAD: Final = Unseen(
    "Settings default/s",
    "whether spec.colours.enable is set in the parameters of Gateway default/g is unknown; only then does this count: "
    "ColorPolicy",
    "add the manifest that holds it",
)


def unseen(*objects: Resource, profile: PolicyKindProfile = SWITCHED, complete: bool = False) -> list[list[Unseen]]:
    """What answers about policy `p`, its route and its Gateway could not see in the world with these objects."""
    analysis = analyze(build.snapshot(*WORLD, *objects, complete=complete), profiles=[profile])
    about_policy = unseen_for_policy(analysis, analysis.enforcement(build.ref("ColorPolicy", "p", group="example.com")))
    subjects = (NodeRef(build.ref("HTTPRoute", "r")), NodeRef(build.ref("Gateway", "g")))
    about = (unseen_for(analysis, subject, analysis.topology.paths(subject)) for subject in subjects)
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
