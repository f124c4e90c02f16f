"""What a selector without any requirement selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from tests.build import gateway, policy, snapshot

if TYPE_CHECKING:
    from kubectl_policy.model import Json

EVERYTHING = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
NOTHING = replace(EVERYTHING, empty_selector="nothing")


def states(profile: PolicyKindProfile, selector: dict[str, Json], *, complete: bool = True) -> list[str]:
    """What comes of a selector where there is a Gateway."""
    target: Json = {"group": "gateway.networking.k8s.io", "kind": "Gateway", **selector}
    found = policy("p", targetSelectors=[target])
    analysis = analyze(snapshot(found, gateway("g"), complete=complete), profiles=[profile])
    return [attachment.state for attachment in analysis.attachments[found.ref]]


@pytest.mark.parametrize("selector", [{}, {"matchLabels": {}}, {"matchExpressions": []}], ids=str)
def test_by_default_it_selects_everything(selector: dict[str, Json]) -> None:
    """As for Kubernetes; of some kinds it selects nothing, whatever was not read."""
    assert states(EVERYTHING, selector) == ["attached"]
    assert states(NOTHING, selector) == states(NOTHING, selector, complete=False) == ["target missing"]


def test_a_selector_with_a_requirement_is_not_empty() -> None:
    """Not even one that everything without labels meets."""
    absent: Json = [{"key": "team", "operator": "DoesNotExist"}]
    assert states(NOTHING, {"matchExpressions": absent}) == ["attached"]
