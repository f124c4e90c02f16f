"""Paths that are followed no further, since routes refer to too many routes one after the other."""

from __future__ import annotations

from kubectl_policy import analyze
from kubectl_policy.questions.shared.unseen import cut_paths, unseen_for
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top


def test_a_path_that_is_followed_no_further() -> None:
    """Routes may delegate to each other 40 times: nobody is told that what is below is not affected."""
    middle = [http_route(f"c{at}", passing("/", to(f"c{at + 1}"))) for at in range(1, 40)]
    routes = [top(passing("/", to("c1"))), *middle, http_route("c40", passing("/", build.backend()))]
    objects = (build.gateway_class(controller=CONTROLLER), build.gateway(), build.service(), *routes)
    analysis = analyze(build.snapshot(*objects, complete=True))
    what = "a path of more than 60 nodes"
    for name, (first, last) in {"c40": ("c10", "c40"), "c2": ("", "")}.items():
        node = build.node("HTTPRoute", name)
        found = [(each.what, each.reason) for each in unseen_for(analysis, node, analysis.topology.paths(node))]
        reason = f"it is followed from HTTPRoute default/{first} to HTTPRoute default/{last} alone"
        assert found == ([(what, reason)] if first else [])
    edge = build.node("Gateway", "g")
    assert [each.what for each in cut_paths(analysis.topology.paths_through(edge))] == [what]
