"""Tests of descriptions of what could not be read: marks of controllers, and refusals of a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, analyze, describe, load_manifests
from kubectl_policy.errors import NotFoundError, PolicyError, UsageError
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Permission, Resource
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.controllers import StatusProfile
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.describe.description import Focus
from kubectl_policy.questions.describe.objects import ObjectDescription, narrowed
from kubectl_policy.questions.shared.selection import find, kinds_meant
from kubectl_policy.render.describe.headline import object_headline
from tests import build
from tests.questions.build import analyzed
from tests.refusing import Refusing

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
    return describe(analyzed(*world.values(), complete=True, gaps=gaps), ROUTE)


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
    assert object_headline(found).startswith("Whether a policy affects HTTPRoute baker/baker is unknown: ")


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


BAKERY: Final = load_manifests(Path(__file__).parents[3] / "fixtures" / "bakery")
BAKER: Final = NodeRef(build.ref("HTTPRoute", "baker", "baker"))
FORBIDDEN: Final = (403, "")
# What the application developer of the story may not do.
STORY: Final = dict.fromkeys(
    ("/example.io/v1/retrypolicies", *(f"/namespaces/{name}/retrypolicies" for name in ("baker", "infra", "pastry"))),
    FORBIDDEN,
)


def described(refused: Mapping[str, tuple[int, str]], subject: NodeRef = BAKER) -> ObjectDescription:
    """The answer about an object of the bakery, as far as the server gives it out."""
    return Refusing(BAKERY, "baker", refused).answer(lambda analysis: describe(analysis, subject))


def told(unseen: tuple[BlindSpot, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(thing.what, thing.reason, tuple(map(str, thing.needs))) for thing in unseen]


def failure(refused: Mapping[str, tuple[int, str]], name: str, type_name: str = "httproute") -> PolicyError:
    """Why there is no answer about an object in namespace baker."""
    with pytest.raises(PolicyError) as error:
        Refusing(BAKERY, "baker", refused).answer(lambda analysis: find(analysis, type_name, name, "baker"))
    return error.value


def test_who_may_read_everything_misses_nothing() -> None:
    answer = described({})
    assert (len(answer.policies), answer.unseen) == (4, ())


def test_what_is_hidden_is_told_with_the_permission() -> None:
    answer = described(STORY)
    may = tuple(f"list retrypolicies.example.io in namespace {name}" for name in ("baker", "infra"))
    assert told(answer.unseen) == [("RetryPolicies in namespaces baker and infra", "forbidden", may)]
    assert object_headline(answer).startswith(
        "HTTPRoute baker/baker is affected by 2 policies, as far as could be read: RetryPolicies are hidden from you."
    )


@pytest.mark.parametrize(
    "path",
    ["/securitypolicies", "/circuitbreakerpolicies", "/baker/services/oven", "/namespaces/infra", "/namespaces/baker"],
)
def test_other_things_that_could_not_be_read(path: str) -> None:
    """What is no policy of anything here is not told: labels of Namespaces that nothing asks for, and Services."""
    whats = [thing.what for thing in described({path: FORBIDDEN}).unseen]
    assert not [what for what in whats if what.startswith("Namespace")]
    assert bool(whats) is not path.startswith("/namespaces/")


@pytest.mark.parametrize(
    ("status", "message", "reason", "remedy"),
    [
        (503, "", "the server is unavailable", "ask again"),
        (504, "", "the server took too long", "ask again with more time: --request-timeout"),
        (
            406,
            "",
            "the server does not have it in this format",
            "ask again; if that does not help, ask the administrators of the cluster",
        ),
        (
            500,
            "conversion webhook for example.io/v1, Kind=TimeoutPolicy failed",
            "the conversion webhook of its definition failed",
            "tell the owner of CustomResourceDefinition timeoutpolicies.example.io: its conversion webhook must answer",
        ),
    ],
)
def test_what_could_not_be_read_for_another_reason_says_what_to_do(
    status: int, message: str, reason: str, remedy: str
) -> None:
    answer = described({"timeoutpolicies": (status, message)})
    assert [(thing.reason, thing.remedy, thing.needs) for thing in answer.unseen] == [(reason, remedy, ())]
    assert "TimeoutPolicies could not be read." in object_headline(answer)


def test_an_object_that_is_not_there_is_not_found() -> None:
    """In kubectl's words, with the names that are there; also where others may not be listed."""
    error = failure({}, "bakr")
    assert isinstance(error, NotFoundError)
    assert (error.message, error.hint) == ('httproute "bakr" not found in namespace baker', "did you mean baker?")
    unlisted = failure({"/httproutes": FORBIDDEN}, "x")
    assert (unlisted.message, unlisted.hint) == ('httproute "x" not found in namespace baker', "")
    assert failure({}, "x", "grpcroute").hint == "there are: baker/stock"
    assert failure({}, "x", "tcproute").hint == "the cluster has no tcproute at all"


def test_an_object_that_may_not_be_read_is_not_said_to_be_missing() -> None:
    error = failure({"/httproutes/foo": FORBIDDEN}, "foo")
    assert isinstance(error, NotFoundError)
    assert (error.message, error.hint) == (
        "HTTPRoute baker/foo may not be read: forbidden",
        "Needs: get httproutes.gateway.networking.k8s.io in namespace baker",
    )


def test_an_object_that_could_not_be_read_says_so() -> None:
    error = failure({"/httproutes/foo": (500, "")}, "foo")
    assert (error.message, error.hint) == ("HTTPRoute baker/foo could not be read: the server failed", "ask again")


def test_a_type_that_is_not_served_is_none() -> None:
    """Although Kubernetes has it, or Gateway API; near names are those of the cluster."""
    error = failure({}, "x", "cronjob")
    assert isinstance(error, UsageError)
    assert error.message == 'there is no resource type "cronjob" in the cluster'
    assert failure({}, "x", "timeoutpolicie").hint.startswith("did you mean timeoutpolicies, timeoutpolicy")

    def meant(analysis: Analysis) -> object:
        return kinds_meant(analysis, "xlistenersets")

    with pytest.raises(UsageError, match="in the cluster"):
        Refusing(build.snapshot(), "x", {}).answer(lambda analysis: kinds_meant(analysis, "deployment"))
    assert Refusing(build.snapshot(), "x", {}).answer(meant)


def test_what_is_named_and_hidden_says_so() -> None:
    answer = described({"/gateways": FORBIDDEN, "/gateways/edge": FORBIDDEN})
    assert told(answer.unseen)[-1][:2] == ("Gateway infra/edge", "forbidden")
    assert not [diagnostic for diagnostic in answer.problems if diagnostic.severity == "error"]
    gateway = described(
        {"/gateways/edge": FORBIDDEN, "/gateways": FORBIDDEN}, NodeRef(build.ref("Gateway", "edge", "infra"))
    )
    assert object_headline(gateway).endswith(
        "Gateway infra/edge may not be read: forbidden; something in the cluster names it."
    )
