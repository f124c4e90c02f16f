"""A small world in which policies of one kind meet: a Gateway with a listener, a route with a rule, a Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import analyze, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.profiles.load import built_in_profiles
from tests.build import (
    gateway,
    gateway_class,
    listener,
    names,
    namespace,
    node,
    parent,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)
from tests.profiles.claims import GATEWAY as GATEWAY_KIND
from tests.profiles.test_claims import policy_to, world

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, NodeRef, Resource
    from tests.profiles.claims import Claim

GATEWAY: Final = target("g")
LISTENER: Final = target("g", section="web")
ROUTE: Final = target("r", "HTTPRoute")
RULE: Final = target("r", "HTTPRoute", "first")
FIRST: Final = node("HTTPRoute", "r", "first")
ONE_RULE: Final = rule({"name": "s", "port": 80}, name="first")
_OF_TWO: Final = (("newer", 2), ("older", 1))
AT_ROUTE: Final = node("HTTPRoute", "r")


def on(where: dict[str, Json], kind: str, group: str, age: int, **spec: Json) -> Resource:
    """A policy on one target, which it names in the spelling of its kind."""
    fields = built_in_profiles(group)[GroupKind(group, kind)].target_fields
    reference: dict[str, Json] = {"targetRef": where} if fields == ("spec.targetRef",) else {"targetRefs": [where]}
    return resource(kind, f"p{age}", {**reference, **spec}, group=group, age=age)


def asked(
    group: str, *policies: Resource, protocol: str = "HTTP", rules: Sequence[Mapping[str, Json]] = (ONE_RULE,)
) -> Analysis:
    """A Gateway `g` with listener `web`, a route `r` with a rule `first`, and a Service `s`, under the controller."""
    controllers = {name for profile in built_in_profiles(group).values() for name in profile.under({}).controllers}
    (controller,) = controllers or {"example.com/controller"}
    return analyze(
        snapshot(
            *policies,
            gateway_class("public", controller),
            gateway("g", listener("web", protocol)),
            route("r", parents=[parent("g")], rules=rules),
            service("s", ("http", 80), ("https", 443)),
            namespace("default"),
            complete=True,
        )
    )


def settings(analysis: Analysis, where: NodeRef, kind: str, group: str) -> list[dict[str, Json]]:
    """What is in force at a node, on each path to it."""
    return [plain(found.resolution.spec) for found in analysis.effective(where, GroupKind(group, kind))]


def by_filters(group: str, kind: str) -> dict[str, Json]:
    """What is in force where filters of a rule name the policies second and first, and an older one names the route."""
    filters = [names(name, kind, group) for name in ("second", "first")]
    found = asked(
        group,
        resource(kind, "old", {"targetRefs": [ROUTE], "options": dict.fromkeys("abc", "old")}, group=group, age=1),
        resource(kind, "first", {"options": dict.fromkeys("ab", "first")}, group=group, age=2),
        resource(kind, "second", {"options": {"a": "second"}}, group=group, age=3),
        rules=[rule({"name": "s", "port": 80}, name="first", filters=filters)],
    )
    (spec,) = settings(found, FIRST, kind, group)
    return spec


def one_target(claim: Claim) -> Analysis:
    """Two policies of a kind on a Gateway or, if it takes none, on its first target."""
    where = GATEWAY_KIND if GATEWAY_KIND in claim.targets else (claim.targets or [SERVICE])[0]
    kind, group = claim.kind.kind, claim.kind.group
    found = policy_to(claim, claim.fields[0], where).raw["spec"] if claim.fields else None
    spec = found if isinstance(found, dict) else {}
    policies = [resource(kind, name, {**spec, "by": name}, group=group, age=age) for name, age in _OF_TWO]
    objects = world(claim, where)
    if not claim.fields:
        both = rule(name="first", filters=[names(name, kind, group) for name, _ in _OF_TWO])
        objects[-1] = route("x", parents=[parent("edge")], rules=[both])
    return analyze(snapshot(*policies, *objects, complete=True))
