"""Small worlds whose answers the renderers are tried on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import analyze
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Gap, Json, Resource
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription

INHERITED = {"gateway.networking.k8s.io/policy": "inherited"}
DIRECT = {"gateway.networking.k8s.io/policy": "direct"}


def world(*resources: Resource, gaps: Sequence[Gap] = (), complete: bool = False) -> Analysis:
    """A GatewayClass, Gateway `g` with listeners http and https, route `r` to Service `s`, and what is given.

    Each kind that is there is all there, where it is.
    """
    base = (
        build.gateway_class(),
        build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443)),
        build.route("r"),
        build.service("s"),
        build.namespace("default"),
        build.crd("ColorPolicy", labels=INHERITED),
        build.crd("LimitPolicy", labels=DIRECT),
    )
    return analyze(build.listed(build.snapshot(*base, *resources, complete=complete, gaps=gaps)))


def defaults(name: str, *targets: dict[str, Json], age: int | None = 1, **spec: Json) -> Resource:
    """A ColorPolicy whose spec patches what is above it."""
    return build.policy(name, *targets, age=age, defaults={"strategy": "patch", **spec})


def overrides(name: str, *targets: dict[str, Json], age: int | None = 1, **spec: Json) -> Resource:
    """A ColorPolicy whose spec replaces what is below it."""
    return build.policy(name, *targets, age=age, overrides={"strategy": "atomic", **spec})


def about(analysis: Analysis, kind: str, name: str, section: str = "", group: str | None = None) -> ObjectDescription:
    home = {"Service": "", "Namespace": "", "ConfigMap": ""}.get(kind, GATEWAY_API) if group is None else group
    return describe(analysis, build.node(kind, name, section, group=home))


def about_policy(analysis: Analysis, name: str, kind: str = "ColorPolicy") -> PolicyDescription:
    return describe_policy(analysis, build.ref(kind, name, group="example.com"))


def colourful() -> Analysis:
    """Policies that are merged, overridden on one listener, refused, without a target and out of reach."""
    return world(
        defaults(
            "base", build.target("default", "Namespace", group=""), color="red", shade={"dark": True, "list": [1, 2]}
        ),
        defaults("own", build.ON_ROUTE, age=2, color="blue"),
        overrides("strict", build.target("g", "Gateway", "https"), age=3, color="black"),
        build.policy("lost", build.target("nowhere", "HTTPRoute"), age=4, defaults={"color": "white"}),
        build.policy("first", build.ON_SERVICE, kind="LimitPolicy", age=1, limit=1),
        build.policy("second", build.ON_SERVICE, kind="LimitPolicy", age=2, limit=2, burst=9),
    )
