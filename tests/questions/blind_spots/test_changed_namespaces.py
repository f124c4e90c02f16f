"""Namespaces that may be different once they are rendered matter where something selects them by their labels."""

import pytest

from kubectl_policy import analyze, describe
from kubectl_policy.model import Gap
from kubectl_policy.model.body import Json
from tests.build import allow, gateway, gateway_class, listener, namespace, node, parent, route, rule, snapshot

BY_LABEL = allow("Selector", {"matchLabels": {"open": "yes"}})


@pytest.mark.parametrize(
    ("allowed", "changed", "doubted"),
    [
        (allow(), "shop", False),
        (BY_LABEL, "shop", True),
        # Another Namespace may be whatever it likes.
        (BY_LABEL, "elsewhere", False),
    ],
)
def test_labels_matter_to_selectors_alone(allowed: dict[str, Json], changed: str, *, doubted: bool) -> None:
    web = route("web", namespace="shop", parents=[parent("door", namespace="hall")], rules=[rule()])
    door = gateway("door", listener(allowedRoutes=allowed), namespace="hall")
    gap = Gap("Namespace", "", "changed by parts/kustomization.yaml", name=changed)
    objects = (gateway_class(), door, web, namespace("shop", {"open": "yes"}), namespace("elsewhere"))
    answer = describe(
        analyze(snapshot(*objects, complete=True, gaps=[gap])), node("HTTPRoute", "web", namespace="shop")
    )
    assert bool(answer.unseen) is doubted
    assert any("may be different: changed by" in unseen.reason for unseen in answer.unseen) is doubted
