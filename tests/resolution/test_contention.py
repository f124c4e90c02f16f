"""Entries that one section alone may have: who shares them, and what becomes of the policies there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, Resource

KIND: Final = GroupKind("example.com", "KeyPolicy")
PROFILE: Final = PolicyKindProfile(
    KIND,
    "direct",
    "profile",
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),),
    exclusive_field="tls.certificateRefs",
)


def keys(name: str, *targets: Mapping[str, Json], age: int = 1) -> Resource:
    """A KeyPolicy."""
    return build.policy(name, *targets, kind="KeyPolicy", age=age, issuer=name)


def https(name: str, *certificates: Json) -> dict[str, Json]:
    """A listener with references to certificates; text is the name of a Secret."""
    references: list[Json] = [{"name": found} if isinstance(found, str) else found for found in certificates]
    return build.listener(name, "HTTPS", 443, hostname=f"{name}.example.com", tls={"certificateRefs": references})


def world(*resources: Resource, profile: PolicyKindProfile = PROFILE) -> Analysis:
    """The analysis of what is given."""
    return analyze(build.snapshot(*resources), profiles=[profile])


def found(analysis: Analysis, name: str = "p") -> list[tuple[str, str, str, str]]:
    """The contentions of a policy: its section, the entry, the other section, and the policy that holds it."""
    policy = build.ref("KeyPolicy", name, group="example.com")
    return [
        (one.section.section, one.entry, one.rival_section.section, one.holder.name)
        for one in analysis.contentions(policy)
    ]


def test_different_certificates_are_in_nobodys_way() -> None:
    """Nor the same one named twice by one listener, nor one in another namespace, nor of another kind."""
    listeners = [
        https("a", "one", "one"),
        https("b", "two"),
        https("c", {"name": "one", "namespace": "far"}),
        https("d", {"name": "one", "kind": "Store"}),
    ]
    analysis = world(build.gateway("g", *listeners), keys("p", build.target("g")))
    assert found(analysis) == []
    assert analysis.enforcement(build.ref("KeyPolicy", "p", group="example.com")).state == "Enforced"


def test_a_kind_without_such_a_field_has_no_contentions() -> None:
    """Whatever its targets share."""
    shared = build.gateway("g", https("a", "one"), https("b", "one"))
    plain = PolicyKindProfile(KIND, "direct", "profile", effective_targets=PROFILE.effective_targets)
    assert found(world(shared, keys("p", build.target("g")), profile=plain)) == []


def test_the_listeners_of_one_policy_are_in_each_others_way() -> None:
    """Both are told, each with the other one; a third one is in the way of the first."""
    gateway = build.gateway("g", https("a", "one"), https("b", "one"), https("c", "other", "one"))
    analysis = world(gateway, keys("p", build.target("g")))
    assert found(analysis) == [
        ("b", "Secret default/one", "a", "p"),
        ("a", "Secret default/one", "b", "p"),
        ("c", "Secret default/one", "a", "p"),
        ("a", "Secret default/one", "c", "p"),
    ]
    enforcement = analysis.enforcement(build.ref("KeyPolicy", "p", group="example.com"))
    assert (enforcement.state, enforcement.by) == ("PartiallyEnforced", ())


def test_of_two_policies_the_later_one_is_in_the_way() -> None:
    """The older one keeps the entry and is enforced, on whichever Gateway; a namespace may be left out or not."""
    gateways = [
        build.gateway("g", https("a", "one")),
        build.gateway("h", https("a", {"name": "one", "namespace": "default", "kind": "Secret"})),
    ]
    older, younger = keys("older", build.target("h"), age=1), keys("p", build.target("g"), age=2)
    analysis = world(*gateways, older, younger)
    assert found(analysis) == [("a", "Secret default/one", "a", "older")]
    assert found(analysis, "older") == []
    assert analysis.enforcement(older.ref).state == "Enforced"
    late = analysis.enforcement(younger.ref)
    assert (late.state, [ref.name for ref in late.by]) == ("PartiallyEnforced", ["older"])


def test_a_listener_on_which_a_policy_is_not_in_force_is_no_concern_of_it() -> None:
    """A listener with a policy of its own is that one's; the entry is shared all the same."""
    gateway = build.gateway("g", https("a", "one"), https("b", "one"))
    own = keys("own", build.target("g", section="b"), age=2)
    analysis = world(gateway, keys("p", build.target("g")), own)
    assert found(analysis) == []
    assert found(analysis, "own") == [("b", "Secret default/one", "a", "p")]
    refused = keys("refused", build.target("g"), age=3)
    assert found(world(gateway, keys("p", build.target("g")), own, refused), "refused") == []


def test_every_shared_entry_is_told_in_the_order_of_the_listener() -> None:
    """So that two runs over the same input say the same."""
    names = [f"key-{number}" for number in range(9, 0, -1)]
    gateway = build.gateway("g", https("a", *names), https("b", *names))
    analysis = world(gateway, keys("p", build.target("g", section="b")), keys("old", build.target("g"), age=0))
    assert [entry for _, entry, _, _ in found(analysis)] == [f"Secret default/{name}" for name in names]


HOSTILE: Final[list[Json]] = [
    None,
    "one",
    1,
    {"name": "one"},
    [],
    [None, 1, "one", ["one"], {}, {"name": 1}, {"name": ""}, {"name": None}],
]


@pytest.mark.parametrize("references", HOSTILE, ids=str)
def test_what_names_no_certificate_is_shared_with_nobody(references: Json) -> None:
    """Whatever its type is, at the field and on the way to it."""
    listeners = [
        build.listener("a", "HTTPS", 443, tls={"certificateRefs": references}),
        build.listener("b", "HTTPS", 444, tls={"certificateRefs": references}),
        build.listener("c", "HTTPS", 445, tls=references),
    ]
    assert found(world(build.gateway("g", *listeners), keys("p", build.target("g")))) == []


def test_an_object_without_listeners_shares_nothing() -> None:
    """The field is looked for in listeners alone."""
    profile = PolicyKindProfile(KIND, "direct", "profile", exclusive_field="ports")
    service = build.service("s", 1)
    assert found(world(service, keys("p", build.target("s", "Service", group="")), profile=profile)) == []


def test_a_number_that_orders_policies_orders_contentions_too() -> None:
    """Age only decides between equal numbers."""
    gateway = build.gateway("g", https("a", "one"), https("b", "one"))
    profile = replace(PROFILE, order_field="spec.weight")
    older = build.policy("older", build.target("g", section="a"), kind="KeyPolicy", age=1, weight=2)
    first = build.policy("p", build.target("g", section="b"), kind="KeyPolicy", age=2, weight=1)
    analysis = world(gateway, older, first, profile=profile)
    assert found(analysis) == []
    assert found(analysis, "older") == [("a", "Secret default/one", "b", "p")]
