"""Gateways of one class that its parameters merge into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from kubectl_policy import Topology
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.profiles.controllers import GatewayProfile, MergingParameter
from kubectl_policy.topology.gateway.gateways import Gateways
from tests.build import gateway, gateway_class, index, listener, node, resource
from tests.fakes import Controllers

OURS: Final = "example.com/gateway"
SETTINGS: Final = GroupKind("example.com", "Settings")
MERGING: Final = GatewayProfile(merged_by=MergingParameter(SETTINGS, "gateways.merge"))


def parameters(kind: str = "Settings", group: str = "example.com") -> Json:
    return {"group": group, "kind": kind, "name": "s", "namespace": "default"}


def settings(merge: Json) -> Resource:
    return resource("Settings", "s", {"gateways": {"merge": merge}}, group="example.com")


def gateways(
    *objects: Resource, profile: GatewayProfile = MERGING, complete: bool = True, gaps: Sequence[Gap] = ()
) -> Gateways:
    """Return the Gateways of a world in which one controller has a profile."""
    world = index(*objects, complete=complete, gaps=gaps)
    return Topology(world, profiles=Controllers(gateways={OURS: profile})).gateways


WITH_SETTINGS: Final = gateway_class("public", OURS, parametersRef=parameters())


@pytest.mark.parametrize(
    ("objects", "merged"),
    [
        ([WITH_SETTINGS, settings(merge=True)], True),
        ([WITH_SETTINGS, settings(merge=False)], False),
        ([WITH_SETTINGS, settings(merge="true")], False),
        ([WITH_SETTINGS, settings(merge=None)], False),
        ([WITH_SETTINGS], False),
        ([gateway_class("public", OURS), settings(merge=True)], False),
        ([gateway_class("public", OURS, parametersRef=parameters("ConfigMap", "")), settings(merge=True)], False),
        ([gateway_class("public", "example.org/gateway", parametersRef=parameters()), settings(merge=True)], False),
    ],
)
def test_the_parameters_of_the_class_decide(objects: list[Resource], *, merged: bool) -> None:
    assert gateways(*objects).is_merged(WITH_SETTINGS.ref) is merged
    assert gateways(*objects, profile=GatewayProfile()).is_merged(WITH_SETTINGS.ref) is False


def test_parameters_that_were_not_read() -> None:
    assert gateways(WITH_SETTINGS, complete=False).is_merged(WITH_SETTINGS.ref) is None
    assert gateways(WITH_SETTINGS, gaps=[Gap("Settings", "", "forbidden")]).is_merged(WITH_SETTINGS.ref) is None


def test_listeners_of_merged_gateways_share_their_ports() -> None:
    """The own Gateway comes first; those of another class, and on other ports, are apart."""
    world = (
        WITH_SETTINGS,
        gateway_class("apart", OURS),
        gateway("g", listener("web"), listener("api", hostname="b.org")),
        gateway("h", listener("web", hostname="h.org"), listener("alt", port=81)),
        gateway("far", class_name="apart"),
    )

    def sharing(found: Gateways) -> list[str]:
        web = found.listener(node("Gateway", "g", "web"))
        assert web
        return [str(rival.node) for rival in found.sharing_port(web)]

    own = ["Gateway default/g#web", "Gateway default/g#api"]
    assert sharing(gateways(*world, settings(merge=True))) == [*own, "Gateway default/h#web"]
    assert sharing(gateways(*world, settings(merge=False))) == own
    assert sharing(gateways(*world, complete=False)) == own


def test_the_classes_of_some_controllers() -> None:
    """One that is merged decides; else one of which it is not known leaves it open, as does a lack of classes."""
    apart, foreign = gateway_class("apart", OURS), gateway_class("foreign", "example.org/gateway")
    assert gateways(WITH_SETTINGS, apart, settings(merge=True)).are_merged({OURS}) is True
    assert gateways(WITH_SETTINGS, apart, settings(merge=False)).are_merged({OURS}) is False
    assert gateways(WITH_SETTINGS, apart, complete=False).are_merged({OURS}) is None
    assert gateways(foreign).are_merged({OURS}) is None
