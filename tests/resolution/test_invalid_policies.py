"""An invalid policy for which requests fail: what it replaces is not in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.profiles.merging import MergeStrategy, TargetLevel
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.questions.shared.test_failing_routes import KEY, LOCKING, SECRET, locking, world
from tests.render.shown import headline, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.resolution import Resolution

LACKING: Final = "Secret default/k, which spec.key names, does not exist"
WHY: Final = (
    f"LockPolicy default/below is not valid: {LACKING}; until that is fixed, requests there get an error response"
)
RULE: Final = build.node("HTTPRoute", "r", "b")


def valid(name: str, to: str = "g", kind: str = "Gateway", section: str = "", age: int = 1) -> Resource:
    """Return a policy that needs nothing."""
    return build.policy(name, build.target(to, kind, section), kind="LockPolicy", age=age, lock=name)


ABOVE: Final = valid("above")
BELOW: Final = locking("below", "r", "HTTPRoute", "b")


def outcome_at(analysis: Analysis, node: NodeRef) -> Resolution | None:
    """Return the outcome of the kind at a node that one path leads to."""
    (path,) = analysis.topology.paths(node)
    effective = analysis.resolver.effective_of(LOCKING.group_kind, path)
    return effective.resolution if effective else None


def names_in_force(analysis: Analysis, node: NodeRef = RULE) -> list[str] | None:
    """Return the names of the policies in force; None without an outcome."""
    outcome = outcome_at(analysis, node)
    return None if outcome is None else sorted(policy.name for policy in outcome.policies_in_force)


def state_of(analysis: Analysis, policy: Resource) -> tuple[str, tuple[ObjectRef, ...]]:
    """Return the enforcement state of a policy and what supersedes it."""
    enforcement = analysis.enforcement(policy.ref)
    return enforcement.state, enforcement.by


def test_nothing_is_in_force_where_an_invalid_policy_wins() -> None:
    analysis = world(ABOVE, BELOW)
    outcome = outcome_at(analysis, RULE)
    assert outcome
    assert (outcome.spec, outcome.policies_in_force) == ({}, frozenset())
    assert [
        (fate.source.object.name, fate.field, fate.state, [by.object.name for by in fate.superseded_by], fate.because)
        for fate in outcome.fates
    ] == [
        ("above", "lock", "superseded", ["below"], ""),
        ("below", "key.name", "unheeded", [], WHY),
        ("below", "lock", "unheeded", [], WHY),
    ]
    assert names_in_force(analysis, build.node("HTTPRoute", "r", "a")) == ["above"]
    assert state_of(analysis, ABOVE) == ("PartiallyEnforced", (BELOW.ref,))
    assert state_of(analysis, BELOW) == ("Invalid", ())


def test_the_policy_above_is_overridden_where_all_requests_fail() -> None:
    whole = locking("below", "r", "HTTPRoute")
    analysis = world(ABOVE, whole)
    assert state_of(analysis, ABOVE) == ("Overridden", (whole.ref,))
    assert "it is replaced everywhere, by LockPolicy default/below" in headline(describe_policy(analysis, ABOVE.ref))
    assert headline(describe(analysis, build.node("HTTPRoute", "r"))).startswith(
        "All requests to HTTPRoute default/r get an error response, since LockPolicy default/below is not valid. "
        "No policy affects HTTPRoute default/r."
    )


def test_describe_names_the_invalid_policy_as_the_reason() -> None:
    text = " ".join(shown(describe(world(ABOVE, BELOW), build.node("HTTPRoute", "r")), "tree").split())
    assert "LockPolicy nothing default/below replaces default/above; default/below is not valid" in text
    assert f"(controllers ignore it: {WHY})" in text


def test_a_policy_that_is_valid_or_deleted_gives_the_settings_back() -> None:
    assert names_in_force(world(ABOVE, BELOW, SECRET)) == ["below"]
    difference = blast_radius(world(ABOVE, BELOW), BELOW.ref).difference
    (effect,) = difference.effects
    assert [(field.field, field.before, field.after and field.after.value) for field in effect.fields] == [
        ("lock", None, "above")
    ]
    assert [(it.policy, it.before, it.after) for it in difference.enforcement] == [
        (ABOVE.ref, "PartiallyEnforced", "Enforced"),
        (BELOW.ref, "Invalid", None),
    ]


def test_a_policy_that_becomes_invalid_does_not_bring_back_the_one_above() -> None:
    difference = blast_radius(world(ABOVE, BELOW, SECRET), SECRET.ref).difference
    assert [(str(it.policy), it.rules) for it in difference.failing] == [("LockPolicy default/below", (RULE,))]
    assert difference.effects == ()
    assert [(it.policy, it.after) for it in difference.enforcement] == [(BELOW.ref, "Invalid")]


def test_an_invalid_policy_alone_brings_nothing() -> None:
    assert names_in_force(world(BELOW)) is None


def test_an_invalid_policy_without_settings_wins_as_well() -> None:
    requiring = replace(LOCKING, needs=(replace(KEY, optional=False),))
    above = build.policy("above", build.target("g"), kind="LockPolicy", key={"name": "other"})
    empty = build.policy("below", build.target("r", "HTTPRoute"), kind="LockPolicy")
    analysis = world(above, empty, build.resource("Secret", "other", group=""), profile=requiring)
    assert names_in_force(analysis) == []
    assert state_of(analysis, above) == ("Overridden", (empty.ref,))


@pytest.mark.parametrize(
    ("strategy", "in_force"), [(MergeStrategy.PATCH_DEFAULTS, ["above"]), (MergeStrategy.ATOMIC_OVERRIDES, ["above"])]
)
def test_a_policy_above_that_is_not_replaced_stays_in_force(strategy: MergeStrategy, in_force: list[str]) -> None:
    analysis = world(ABOVE, BELOW, profile=replace(LOCKING, strategy=strategy))
    assert names_in_force(analysis) == in_force
    assert state_of(analysis, ABOVE) == ("Enforced", ())


def test_an_invalid_policy_above_a_valid_one_is_left_out() -> None:
    outcome = outcome_at(world(locking("above"), valid("below", "r", "HTTPRoute", "b")), RULE)
    assert outcome
    assert [part.source.object.name for part in outcome.contributions] == ["below"]


def test_a_policy_that_merges_with_an_invalid_one_is_not_in_force() -> None:
    """The whole of what is merged is refused."""
    choosing = replace(
        LOCKING,
        chooser="challenger",
        strategy_field="spec.mergeType",
        strategy_values={"Merge": MergeStrategy.PATCH_DEFAULTS},
    )
    merging = build.policy("below", build.target("r", "HTTPRoute"), kind="LockPolicy", mergeType="Merge", color="red")
    invalid = locking("above")
    analysis = world(invalid, merging, profile=choosing)
    assert names_in_force(analysis) == []
    assert state_of(analysis, merging) == ("NoEffect", (invalid.ref,))


@pytest.mark.parametrize(
    ("age", "in_force", "state"), [(2, [], ("Conflicted", (BELOW.ref,))), (0, ["beside"], ("Enforced", ()))]
)
def test_of_two_on_one_target_the_older_one_holds_it(
    age: int, in_force: list[str], state: tuple[str, tuple[ObjectRef, ...]]
) -> None:
    """Whether it is valid or not."""
    one_applies = replace(LOCKING, same_level="one-applies")
    invalid = build.policy(
        "below", build.target("r", "HTTPRoute", "b"), kind="LockPolicy", age=1, lock="below", key={"name": "k"}
    )
    beside = valid("beside", "r", "HTTPRoute", "b", age=age)
    analysis = world(ABOVE, invalid, beside, profile=one_applies)
    assert names_in_force(analysis) == in_force
    assert state_of(analysis, beside) == state


def test_an_invalid_policy_that_does_not_compete_gives_way_on_its_target() -> None:
    silent = replace(LOCKING, needs=(replace(KEY, competes=False),), same_level="one-applies")
    beside = valid("beside", "r", "HTTPRoute", "b")
    assert names_in_force(world(ABOVE, BELOW, beside, profile=silent)) == ["beside"]
    assert names_in_force(world(ABOVE, BELOW, profile=silent)) == []


def test_a_direct_policy_on_a_section_keeps_that_of_the_object_out() -> None:
    direct = replace(
        LOCKING, policy_class="direct", effective_targets=(TargetLevel(SERVICE, section=True),), strategy=None
    )
    two_ports = build.service("two", ("http", 80), ("admin", 81))
    to_both = build.route("to-both", rules=[build.rule(build.backend("two", 80), build.backend("two", 81))])
    whole = build.policy("whole", build.target("two", "Service", group=""), kind="LockPolicy", lock="whole")
    port = build.policy(
        "port", build.target("two", "Service", "admin", group=""), kind="LockPolicy", lock="port", key={"name": "k"}
    )
    analysis = world(two_ports, to_both, whole, port, profile=direct)
    section = build.node("Service", "two", "admin", group="")
    assert names_in_force(analysis, section) == []
    assert names_in_force(analysis, replace(section, section="http")) == ["whole"]
    assert state_of(analysis, whole) == ("PartiallyEnforced", (port.ref,))
