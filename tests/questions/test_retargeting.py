"""Tests of `questions/retargeting.py`."""

from __future__ import annotations

import copy
from typing import Final

import pytest

from kubectl_policy import PolicyKindProfile
from kubectl_policy.errors import UsageError
from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.retargeting import retargeted
from tests import build
from tests.questions.build import COLOR, analyzed

KNOWN: Final = PolicyKindProfile(COLOR, "inherited", "profile")
P: Final = build.ref("ColorPolicy", "p", group="example.com")
G: Final = build.ref("Gateway", "g")
R: Final = build.ref("HTTPRoute", "r")
S: Final = build.ref("Service", "s", group="")
CLASS: Final = build.ref("GatewayClass", "public")
WORLD: Final = (
    build.gateway_class("public"),
    build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443)),
    build.gateway("far", namespace="other"),
    build.route("r", rules=[build.rule(build.backend(), name="named"), build.rule(build.backend())]),
    build.service("s"),
)


def moved(
    obj: Resource, to: ObjectRef = G, section: str = "", *others: Resource, profile: PolicyKindProfile = KNOWN
) -> Resource:
    return retargeted(analyzed(obj, *WORLD, *others, profiles=[profile]), obj.ref, to, section)


def spec(of: Json) -> Resource:
    return build.resource("ColorPolicy", "p", of, group="example.com")


@pytest.mark.parametrize("obj", [S, P, build.ref("ColorPolicy", "gone", group="example.com")], ids=str)
def test_what_is_no_policy_has_no_target(obj: ObjectRef) -> None:
    with pytest.raises(UsageError) as refused:
        retargeted(analyzed(*WORLD, spec({}) if obj == P else build.policy("q", build.target("g"))), obj, G)
    assert refused.value.message == f"{obj} is not a policy"
    assert "--profiles" in refused.value.hint


@pytest.mark.parametrize(
    ("obj", "fields", "message", "hint"),
    [
        (build.policy("p", targetRefs=[]), (), "has no target reference that could be replaced", "in a manifest"),
        (build.policy("p", targetRefs="x"), (), "has no target reference that could be replaced", "in a manifest"),
        (
            build.policy("p", targetSelectors=[{"kind": "Gateway"}]),
            ("spec.targetSelectors",),
            "selects its targets by labels, and cannot name one",
            "give the target such labels",
        ),
    ],
)
def test_a_policy_that_names_nothing(obj: Resource, fields: tuple[str, ...], message: str, hint: str) -> None:
    known = PolicyKindProfile(COLOR, "inherited", "profile", reference_fields=fields) if fields else KNOWN
    with pytest.raises(UsageError) as refused:
        moved(obj, profile=known)
    assert refused.value.message == f"ColorPolicy default/p {message}"
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"targetRef": build.target("x")}, {"targetRef": build.target("g")}),
        ({"targetRef": [build.target("x")]}, {"targetRef": [build.target("g")]}),
        ({"targetRefs": build.target("x")}, {"targetRefs": build.target("g")}),
        ({"targetRef": None, "targetRefs": [build.target("x")]}, {"targetRefs": [build.target("g")]}),
        (
            {"targetRef": build.target("x"), "targetRefs": [build.target("y")], "a": 1},
            {"targetRef": build.target("g"), "a": 1},
        ),
        (
            {"targetRefs": [build.target("x")], "targetSelectors": [{"kind": "Gateway"}]},
            {"targetRefs": [build.target("g")]},
        ),
        ({"targetSelectors": [{"kind": "Gateway", "matchLabels": {}}]}, {"targetRefs": [build.target("g")]}),
    ],
)
def test_the_field_that_is_used(before: Json, after: Json) -> None:
    """A list stays one; a policy that selects by labels names its target instead, in the newer field."""
    assert moved(spec(before)).raw["spec"] == after


def test_fields_in_other_places() -> None:
    """As a profile says; where only one of them can name a target, that one it is, list or not."""
    fields = ("spec.to.targetRef", "spec.at.targetSelectors")
    known = PolicyKindProfile(COLOR, "inherited", "profile", reference_fields=fields)
    selecting = spec({"at": {"targetSelectors": [{"kind": "Gateway"}], "a": 1}})
    assert moved(selecting, profile=known).raw["spec"] == {"at": {"a": 1}, "to": {"targetRef": build.target("g")}}


def test_nothing_else_changes() -> None:
    before = build.policy("p", build.target("r", "HTTPRoute"), build.target("g"), age=3, color="red")
    kept = copy.deepcopy(before.raw)
    after = moved(before, G, "http")
    assert before.raw == kept
    assert (after.ref, after.origin, after.created) == (before.ref, before.origin, before.created)
    assert after.raw == {**kept, "spec": {"targetRefs": [build.target("g", section="http")], "color": "red"}}


class TestSections:
    @pytest.mark.parametrize(
        ("to", "section", "named"),
        [
            (G, "https", "https"),
            (R, "named", "named"),
            (R, "rule-2", "rule-2"),
            (R, "rule[1]", "rule-2"),
            (S, "8080", "8080"),
        ],
    )
    def test_they_are_called_as_the_kind_calls_them(self, to: ObjectRef, section: str, named: str) -> None:
        known = PolicyKindProfile(COLOR, "inherited", "profile", unnamed_rules="rule-{n}")
        (reference,) = moved_refs(moved(build.policy("p", build.target("g")), to, section, profile=known))
        assert reference == {**build.target(to.name, to.kind, group=to.group_kind.group), "sectionName": named}

    @pytest.mark.parametrize(
        ("to", "section", "message", "hint"),
        [
            (G, "ftp", "Gateway default/g has no section ftp", "it has http, https"),
            (R, "x", "HTTPRoute default/r has no section x", "it has named"),
            (R, "rule-2", "HTTPRoute default/r has no section rule-2", "it has named"),
            (CLASS, "x", "GatewayClass public has no section x", "it has no sections"),
            (
                R,
                "rule[1]",
                "ColorPolicy cannot target a rule without a name, such as rule[1] of HTTPRoute default/r",
                "give the rule a name first",
            ),
        ],
    )
    def test_that_are_not_there(self, to: ObjectRef, section: str, message: str, hint: str) -> None:
        with pytest.raises(UsageError) as refused:
            moved(build.policy("p", build.target("g")), to, section)
        assert (refused.value.message, refused.value.hint) == (message, hint)

    def test_by_a_list(self) -> None:
        """If the policy's own references have one, or the definition of the kind; without a section there is none."""
        expected: Json = {**build.target("g"), "sectionNames": ["http"]}
        listing = build.policy("p", targetRef={**build.target("x"), "sectionNames": ["a", "b"]})
        assert moved(listing, G, "http").raw["spec"] == {"targetRef": expected}
        assert moved(listing).raw["spec"] == {"targetRef": build.target("g")}
        reference: Json = {"type": "object", "properties": {"kind": {}, "sectionNames": {"type": "array"}}}
        schema: Json = {"properties": {"spec": {"type": "object", "properties": {"targetRef": reference}}}}
        one, definition = build.policy("p", targetRef=build.target("x")), build.crd("ColorPolicy", schema=schema)
        assert moved(one, G, "http", definition).raw["spec"] == {"targetRef": expected}
        assert moved(one, G, "http").raw["spec"] == {"targetRef": build.target("g", section="http")}


def moved_refs(obj: Resource) -> list[Json]:
    found = obj.raw["spec"]
    assert isinstance(found, dict)
    refs = found["targetRefs"]
    assert isinstance(refs, list)
    return refs


def test_a_group_that_may_be_left_out() -> None:
    """By kinds that take one for it, as long as it is that one and the policy leaves it out itself."""
    known = PolicyKindProfile(COLOR, "inherited", "profile", target_group=GATEWAY_API)
    bare: dict[str, Json] = {"kind": "Gateway", "name": "x"}
    for reference, to, expected in (
        (bare, G, {"kind": "Gateway", "name": "g"}),
        (bare, S, build.target("s", "Service", group="")),
        ({**bare, "group": GATEWAY_API}, G, build.target("g")),
    ):
        assert moved_refs(moved(build.policy("p", reference), to, profile=known)) == [expected]


def test_namespaces() -> None:
    """Of a target that has one: if the policy's references say it, or the policy has another one or none."""
    near = build.policy("p", build.target("g", namespace="default"))
    assert moved_refs(moved(near, S)) == [build.target("s", "Service", group="", namespace="default")]
    assert moved_refs(moved(near, CLASS)) == [build.target("public", "GatewayClass")]
    plain = build.policy("p", build.target("g"))
    assert moved_refs(moved(plain, S)) == [build.target("s", "Service", group="")]
    far = build.ref("Gateway", "far", "other")
    assert moved_refs(moved(plain, far)) == [build.target("far", namespace="other")]
    nowhere = build.policy("p", build.target("x"), namespace="")
    definition = build.crd("ColorPolicy", cluster_scoped=True)
    assert moved_refs(moved(nowhere, G, "", definition)) == [build.target("g", namespace="default")]
