"""What controllers left on objects about policies that could not be read."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze, describe
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Permission, Resource
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.controllers import StatusProfile
from kubectl_policy.questions.describe.description import Focus
from kubectl_policy.questions.describe.objects import ObjectDescription, narrowed
from kubectl_policy.render.describe.headline import object_headline
from tests import build

RETRY: Final = GroupKind("example.io", "RetryPolicy")
HIDDEN: Final = Gap(
    "RetryPolicy",
    "baker",
    "forbidden",
    remedy="have it granted",
    group="example.io",
    needs=Permission("list", "retrypolicies.example.io", "baker"),
)
TYPE: Final = "RetryPolicyAffected"
ROUTE: Final = NodeRef(build.ref("HTTPRoute", "baker", "baker"))


def condition(type_: str = TYPE, message: str = "", status: str = "True") -> Json:
    return {"type": type_, "status": status, "reason": "PolicyAffected", "message": message}


def marked(resource: Resource, *conditions: Json, parents: bool = False, **annotations: str) -> Resource:
    """An object with conditions, for itself or for one of its parents, and with annotations."""
    status: Json = {"parents": [{"conditions": [*conditions]}]} if parents else {"conditions": [*conditions]}
    metadata = resource.raw["metadata"]
    assert isinstance(metadata, dict)
    named: Json = {f"example.io/{name}": text for name, text in annotations.items()}
    return replace(resource, raw={**resource.raw, "metadata": {**metadata, "annotations": named}, "status": status})


def route() -> Resource:
    return build.route("baker", namespace="baker", parents=[build.parent("edge", namespace="infra")])


def answer(subject: Resource, *others: Resource, gaps: tuple[Gap, ...] = (HIDDEN,)) -> ObjectDescription:
    """The answer about the route, in a cluster of which not everything could be read."""
    gateway = build.gateway("edge", build.listener(allowedRoutes=build.allow()), namespace="infra")
    world = {each.ref: each for each in (gateway, subject, *others)}
    return describe(analyze(build.snapshot(*world.values(), complete=True, gaps=gaps)), ROUTE)


def resilience(name: str = "resilience", namespace: str = "baker") -> Resource:
    target = build.target("baker", "HTTPRoute")
    return build.resource("RetryPolicy", name, {"targetRef": target}, group="example.io", namespace=namespace)


@pytest.mark.parametrize(
    "said",
    [
        condition(status="False"),
        condition(status="Unknown"),
        # Policies of a kind that was read, of a kind of another group, and of none.
        condition("TimeoutPolicyAffected"),
        condition("example.com/RetryPolicyAffected"),
        condition("RetryPolicyAccepted"),
        condition("PolicyAffected", "Object affected by TimeoutPolicy baker/slow"),
        # It may be read: it is not there any more.
        condition(message="Object affected by RetryPolicy infra/global"),
        # Any shape is possible.
        {"type": 1},
        "RetryPolicyAffected",
    ],
)
def test_what_says_nothing_of_hidden_policies_is_no_mark(said: Json) -> None:
    found = answer(marked(route(), said))
    assert found.influences.marks == ()
    assert len(found.unseen) == 1
    assert object_headline(found).startswith("No policy affects HTTPRoute baker/baker")


def test_where_the_kind_was_read_nothing_changes() -> None:
    said = marked(route(), condition(message="Object affected by RetryPolicy baker/resilience"), retrypolicy="a/b")
    assert answer(said, gaps=()).influences.marks == ()


def test_a_policy_that_was_read_is_no_hidden_one() -> None:
    read = resilience()
    named = marked(route(), condition(message="Object affected by RetryPolicy [baker/resilience]"))
    assert answer(named, read).influences.marks == ()
    assert answer(marked(route(), condition()), read).influences.marks == ()
    both = marked(route(), condition(message="Object affected by RetryPolicy [baker/resilience baker/quick]"))
    (mark,) = answer(both, read).influences.marks
    assert [policy.name for policy in mark.policies] == ["quick"]


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (condition(), []),
        (condition("gateway.networking.k8s.io/RetryPolicyAffected"), []),
        (condition("example.io/RetryPolicyAffected", "Object affected by RetryPolicy [baker/quick]"), ["quick"]),
        (condition(message='RetryPolicy "quick" is in force'), ["quick"]),
        (condition("PolicyAffected", "affected by RetryPolicy baker/a, baker/b"), ["a", "b"]),
        (condition("gateway.networking.k8s.io/PolicyAffected", "RetryPolicy baker/a"), ["a"]),
    ],
)
@pytest.mark.parametrize("parents", [True, False])
def test_conditions_say_that_and_which(said: Json, names: list[str], *, parents: bool) -> None:
    found = answer(marked(route(), said, parents=parents))
    (mark,) = found.influences.marks
    assert ([policy.name for policy in mark.policies], mark.policy_kind, mark.object) == (names, RETRY, ROUTE.object)
    last = found.unseen[-1]
    assert last.reason.endswith("hidden")
    assert [str(each) for each in last.needs] == ["list retrypolicies.example.io in namespace baker"]


@pytest.mark.parametrize("value", ["baker/quick", "quick", '[{"Namespace":"baker","Name":"quick"}]'])
def test_annotations_say_which(value: str) -> None:
    (mark,) = answer(marked(route(), retrypolicies=value)).influences.marks
    assert (mark.sort, mark.name) == ("annotation", "example.io/retrypolicies")
    assert mark.policies == (build.ref("RetryPolicy", "quick", "baker", "example.io"),)


def test_marks_of_what_is_above_count_as_well() -> None:
    home = marked(build.namespace("baker"), condition(message="by RetryPolicy baker/resilience"))
    found = answer(route(), home)
    assert [str(mark.object) for mark in found.influences.marks] == ["Namespace baker"]
    assert object_headline(found) == (
        "No policy that was read affects HTTPRoute baker/baker; by the status of Namespace baker, RetryPolicy "
        "baker/resilience affects that as well, as far as could be read: RetryPolicies are hidden from you. "
        "Any hostname, 1 rule on listener http of Gateway infra/edge."
    )


def test_manifests_with_a_gap_say_the_same() -> None:
    gap = Gap("RetryPolicy", "baker", "not YAML")
    found = answer(marked(route(), condition(message="by RetryPolicy baker/quick")), gaps=(gap,))
    assert [str(policy) for mark in found.influences.marks for policy in mark.policies] == ["RetryPolicy baker/quick"]
    assert found.unseen[-1].remedy == "fix or leave out this input"
    assert "by its status, RetryPolicy baker/quick affects it as well" in object_headline(found)


def test_marks_of_other_kinds_are_left_out_where_one_is_asked_for() -> None:
    gateway = build.gateway("edge", namespace="infra")
    world = build.snapshot(gateway, marked(route(), condition()), complete=True, gaps=[HIDDEN])
    found = describe(analyze(world), ROUTE)
    other = Focus(kinds=(GroupKind("example.io", "TimeoutPolicy"),))
    assert narrowed(found, Focus(kinds=(RETRY,))).influences.marks == found.influences.marks != ()
    assert narrowed(found, other).influences.marks == ()


def test_what_a_profile_says_of_conditions_counts_alone() -> None:
    """Kuadrant's are of its own group: another one of a similar name says nothing."""
    auth = Gap("AuthPolicy", "baker", "forbidden", group="kuadrant.io")
    found = answer(marked(route(), condition("kuadrant.io/AuthPolicyAffected")), gaps=(auth,))
    assert [(mark.policy_kind.kind, mark.name) for mark in found.influences.marks] == [
        ("AuthPolicy", "kuadrant.io/AuthPolicyAffected")
    ]
    assert not answer(marked(route(), condition("example.com/AuthPolicyAffected")), gaps=(auth,)).influences.marks


def test_an_annotation_that_a_profile_names() -> None:
    status = StatusProfile(target_annotation="example.io/hardened")
    profile = PolicyKindProfile(group_kind=RETRY, policy_class="inherited", known_by="profile", status=status)
    subject = marked(route(), hardened="baker/resilience", retrypolicy="baker/other")
    gateway = build.gateway("edge", build.listener(allowedRoutes=build.allow()), namespace="infra")
    world = build.snapshot(gateway, subject, complete=True, gaps=(HIDDEN,))
    found = describe(analyze(world, profiles=[profile]), ROUTE)
    assert [policy.name for mark in found.influences.marks for policy in mark.policies] == ["resilience"]
