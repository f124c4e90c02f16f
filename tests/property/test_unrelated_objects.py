"""The law that adding an unrelated object changes no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from tests import build
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy import Analysis, NodeRef
    from kubectl_policy.model import Resource
    from tests.property.world import World

ELSEWHERE: Final = "elsewhere"
UNRELATED: Final[tuple[Resource, ...]] = (
    build.resource("ConfigMap", "settings", group="", namespace="ns"),
    build.service("unused", namespace=ELSEWHERE),
    build.route("unused", namespace=ELSEWHERE, parents=[build.parent("unused")]),
    build.gateway("unused", namespace=ELSEWHERE, class_name="another"),
    build.policy("unused", build.target("unused", "Service", group=""), namespace=ELSEWHERE, kind="K", by="nobody"),
    build.grant("unused", namespace=ELSEWHERE),
    build.crd("Unused"),
)


@given(world=worlds(), unrelated=st.sampled_from(UNRELATED))
def test_an_object_that_nothing_refers_to_changes_nothing(world: World, unrelated: Resource) -> None:
    """At every node that was there before, and for every policy."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    before = analyze(snapshot, profiles=profiles)
    after = analyze(replace(snapshot, resources=(*snapshot.resources, unrelated)), profiles=profiles)
    for node in before.topology.nodes:
        assert _at(after, node) == _at(before, node)
    for policy in before.policies:
        assert after.attachments[policy.ref] == before.attachments[policy.ref]
        assert after.enforcement(policy.ref) == before.enforcement(policy.ref)


def _at(analysis: Analysis, node: NodeRef) -> tuple[object, ...]:
    return analysis.topology.paths(node), analysis.effective(node), analysis.affected_by(node)
