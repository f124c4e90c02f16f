"""Parents of routes of kinds that profiles name: a Server of Linkerd is named as a whole, in the route's namespace."""

from __future__ import annotations

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from tests import build
from tests.implementations import added
from tests.worlds.test_vendors import LINKERD, OBSERVATORY, linkerd, server


@pytest.mark.parametrize(
    ("parent", "home", "state", "message"),
    [
        ({}, OBSERVATORY, "attached", ""),
        ({"name": "dome"}, OBSERVATORY, "refused", "Server observatory/dome does not exist"),
        ({}, "university", "refused", "Server observatory/telescope takes only routes of its own namespace, not of"),
        ({}, "${NS}", "unknown", "if these are not the same"),
        ({"port": 80}, OBSERVATORY, "refused", "routes attach to Server observatory/telescope as a whole, not to port"),
        ({"sectionName": "http"}, OBSERVATORY, "refused", "as a whole, not to http of it"),
    ],
)
def test_a_route_names_a_server_of_its_namespace_as_its_parent(
    parent: dict[str, Json], home: str, state: str, message: str
) -> None:
    named = {"group": LINKERD, "kind": "Server", "name": "telescope", "namespace": OBSERVATORY, **parent}
    analysis = analyze(added(linkerd(), build.route("stars", parents=[named], namespace=home)))
    (binding,) = analysis.topology.bindings(build.ref("HTTPRoute", "stars", namespace=home))
    assert (binding.state, message in binding.message) == (state, True)


def test_a_server_says_how_many_routes_it_has() -> None:
    requests = [describe(analyze(linkerd()), server(name)).requests for name in ("telescope", "archive")]
    assert [incoming.routes for incoming in requests] == [1, 0]
