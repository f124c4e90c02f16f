"""Gateways that lose their GatewayClass: nothing says so but this, for no object but the class is deleted."""

from __future__ import annotations

from kubectl_policy import analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import diff
from kubectl_policy.render.changes.text import blast_radius_tree
from kubectl_policy.render.output.text import View, to_text
from tests import build

WORLD = analyze(build.snapshot(build.gateway_class(), build.gateway("g"), build.gateway("h"), complete=True))
CLASS = WORLD.index.of_kind(build.gateway_class().ref.group_kind)[0].ref
OTHER = build.gateway_class("other")


def test_another_class_takes_no_gateway_with_it() -> None:
    """It is none of theirs."""
    world = analyze(build.snapshot(build.gateway_class(), OTHER, build.gateway("g"), complete=True))
    assert diff(what_if(world, deleted=[OTHER.ref])).without_class == ()
    assert not blast_radius(world, OTHER.ref).changes


def test_every_gateway_of_a_class_is_left_without_one() -> None:
    """Which is a change, whatever policies there are."""
    difference = diff(what_if(WORLD, deleted=[CLASS]))
    assert difference.without_class == (build.ref("Gateway", "g"), build.ref("Gateway", "h"))
    assert difference.changes
    answer = blast_radius(WORLD, CLASS)
    assert answer.changes
    assert answer.counts.total == 2
    assert "so that no controller acts on them\n  Gateway default/g, Gateway default/h\n" in to_text(
        blast_radius_tree(answer, View()), 100
    )


def test_a_gateway_that_comes_when_the_class_goes_has_lost_none() -> None:
    """It never had one."""
    late = what_if(WORLD, deleted=[CLASS], applied=[build.gateway("late")])
    assert build.ref("Gateway", "late") not in diff(late).without_class
