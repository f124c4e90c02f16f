"""What became of a policy."""

from __future__ import annotations

import pytest

from kubectl_policy import GroupKind, ObjectRef, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.render.worlds import about_policy, colourful, world


def test_what_is_no_policy_has_no_answer() -> None:
    """Nor has a policy that was not read, which is told as what is not found."""
    analysis = world(build.policy("p", build.target("g"), a=1))
    with pytest.raises(KeyError):
        describe_policy(analysis, build.ref("Gateway", "g"))
    with pytest.raises(NotFoundError, match="ColorPolicy default/gone is not in the input"):
        describe_policy(analysis, build.ref("ColorPolicy", "gone", group="example.com"))


def test_each_field_has_its_fate_on_every_path() -> None:
    """Base sets three fields; one gives way to an override on listener https, and to the route's own policy on http."""
    answer = about_policy(colourful(), "base")
    assert answer.enforcement.state == "PartiallyEnforced"
    assert [path[3].section for path in answer.paths] == ["http", "https"]
    fates = {
        field.field: (
            field.value,
            field.effective_on,
            [(beater.by.object.name, beater.positions) for beater in field.superseded],
        )
        for field in answer.fields
    }
    assert fates == {
        "color": ("red", (), [("own", (0,)), ("strict", (1,))]),
        "shade.dark": (True, (0, 1), []),
        "shade.list": ([1, 2], (0, 1), []),
    }
    assert [str(node) for node in answer.affected] == ["Gateway default/g", "HTTPRoute default/r", "Service default/s"]


def test_what_is_affected_begins_at_the_target() -> None:
    """With a section of it, or at the levels that a profile names; what is of no kind of the hierarchy comes last."""
    on_listener = about_policy(colourful(), "strict")
    assert [str(node) for node in on_listener.affected] == [
        "Gateway default/g#https",
        "HTTPRoute default/r",
        "Service default/s",
    ]
    kind = GroupKind("example.com", "ColorPolicy")
    at_rules = TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True)
    profile = PolicyKindProfile(kind, "inherited", "profile", effective_targets=(at_rules,))
    pool = build.resource("Pool", "x", group="example.net")
    to_pool = build.rule(build.backend("x", None, kind="Pool", group="example.net"), build.backend("s"))
    route = build.route("r", rules=[to_pool])
    objects = (build.gateway("g"), route, build.service("s"), pool, build.policy("p", build.target("g"), a=1))
    for profiles, expected in (
        ((), ["Gateway default/g", "HTTPRoute default/r", "Service default/s", "Pool default/x"]),
        ((profile,), ["HTTPRoute default/r#rule[0]"]),
    ):
        analysis = analyze(build.snapshot(*objects), profiles=profiles)
        affected = describe_policy(analysis, ObjectRef(kind, "default", "p")).affected
        assert [str(node) for node in affected] == expected


def test_a_refused_policy_has_rejected_fields() -> None:
    """They are no defeat but a conflict."""
    answer = about_policy(colourful(), "second", "LimitPolicy")
    assert (answer.enforcement.state, answer.affected) == ("Conflicted", ())
    assert [field.rejected for field in answer.fields] == [True, True]
    assert [strategy.value for strategy in answer.strategies] == ["None"]


def test_nothing_below_a_target_may_be_for_want_of_input() -> None:
    """Unless the world is closed, or what is below is known to be attached to nothing."""
    empty = build.policy("p", build.target("empty", "Namespace", group=""), age=1, a=1)
    elsewhere = build.resource("ConfigMap", "x", group="", namespace="empty")
    answer = about_policy(world(empty, elsewhere), "p")
    assert (answer.enforcement.state, [(unseen.what, unseen.reason) for unseen in answer.unseen]) == (
        "NoEffect",
        [("what is below Namespace empty", "nothing of it was read")],
    )
    assert about_policy(world(empty, elsewhere, complete=True), "p").unseen == ()
    orphan = build.route("orphan", parents=[])
    on_orphan = build.policy("p", build.target("orphan", "HTTPRoute"), build.target("gone", "HTTPRoute"), age=1, a=1)
    answer = about_policy(world(orphan, on_orphan), "p")
    assert (answer.enforcement.state, answer.unseen) == ("NoEffect", ())


def test_a_policy_without_target_has_neither_paths_nor_fields() -> None:
    """The attachment says why."""
    answer = about_policy(colourful(), "lost")
    assert (answer.paths, answer.fields) == ((), ())
    assert [attachment.state for attachment in answer.targets] == ["target missing"]
    assert [found.rule for found in answer.problems] == ["target-missing"]
