"""Policies as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubectl_policy import analyze
from kubectl_policy.model import Gap, Origin
from kubectl_policy.questions.listing.lists import list_type
from kubectl_policy.questions.shared.selection import Listing, Selection
from tests import build
from tests.render.worlds import about_policy, colourful, world

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.listing.policies import PolicyRow


def listed(analysis: Analysis, word: str = "policies") -> Listing[PolicyRow]:
    """The policies of every namespace."""
    return cast("Listing[PolicyRow]", list_type(analysis, word, Selection()))


def row(analysis: Analysis, name: str) -> PolicyRow:
    """The row of the policy of a name."""
    return next(found for found in listed(analysis).rows if found.ref.name == name)


def test_what_an_unread_target_hides_is_unknown() -> None:
    """It is not said that the policy affects nothing; what was not read is named."""
    analysis = world(build.policy("p", build.target("unread", "GRPCRoute"), defaults={"a": 1}))
    found = row(analysis, "p")
    assert (found.enforcement.state, found.affected) == ("Unknown", None)
    assert [thing.what for thing in listed(analysis).unseen] == ["GRPCRoute default/unread"]


def test_what_may_be_below_an_unread_part_is_unknown() -> None:
    """In an open world a GatewayClass without Gateways may have some that were not read."""
    resources = (
        build.gateway_class(),
        build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": "inherited"}),
        build.policy("p", build.target("public", "GatewayClass"), a=1),
    )
    open_world, closed = analyze(build.snapshot(*resources)), analyze(build.snapshot(*resources, complete=True))
    assert (row(open_world, "p").enforcement.state, row(open_world, "p").affected) == ("NoEffect", None)
    assert (row(closed, "p").enforcement.state, row(closed, "p").affected) == ("NoEffect", ())


def test_a_gap_makes_every_row_incomplete() -> None:
    """What could not be read may have been anything."""
    gap = Gap("", "", "broken", Origin("bad.yaml", 7))
    analysis = world(build.policy("p", build.target("g"), defaults={"a": 1}), gaps=[gap])
    assert [thing.reason for thing in row(analysis, "p").unseen] == ["broken"]
    assert [thing.reason for thing in listed(analysis).unseen] == ["broken"]
    assert [thing.reason for thing in listed(world(gaps=[gap])).unseen] == ["broken"]


def test_a_row_says_what_the_description_says() -> None:
    """Of every policy, the same state, beaters, places and strategies."""
    analysis = colourful()
    found = listed(analysis).rows
    assert [one.ref.name for one in found] == ["base", "first", "lost", "own", "second", "strict"]
    for one in found:
        description = about_policy(analysis, one.ref.name, one.ref.kind)
        assert one.enforcement == description.enforcement
        assert one.affected == description.affected
        assert one.attachments == description.attachments
        assert tuple(dict.fromkeys(stanza.strategy for stanza in one.stanzas)) == description.strategies
        assert one.unseen == description.unseen


def test_a_row_has_the_stanzas_that_take_effect() -> None:
    """The whole spec is one; a policy without a target has none that does."""
    analysis = world(
        build.policy("both", build.target("g"), defaults={"a": 1}, overrides={"strategy": "patch", "b": 1}),
        build.policy("bare", build.target("g", "Gateway", "http"), kind="LimitPolicy", a=1),
        build.policy("lost", build.target("gone", "HTTPRoute"), defaults={"a": 1}),
    )
    assert [(stanza.field, stanza.strategy.value) for stanza in row(analysis, "both").stanzas] == [
        ("spec.overrides", "Patch overrides"),
        ("spec.defaults", "Atomic defaults"),
    ]
    assert [(stanza.field, stanza.strategy.value) for stanza in row(analysis, "bare").stanzas] == [("spec", "None")]
    assert row(analysis, "lost").stanzas == ()


def test_a_row_has_what_was_reported() -> None:
    """The conditions of its status, and the policy as it was read."""
    policy = build.resource(
        "ColorPolicy",
        "p",
        {"targetRefs": [build.target("g")], "defaults": {"a": 1}},
        group="example.com",
        status={"conditions": [{"type": "Accepted", "status": "True"}]},
    )
    found = row(world(policy), "p")
    assert [condition.type for condition in found.reported] == ["Accepted"]
    assert found.raw == policy.raw
