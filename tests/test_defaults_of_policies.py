"""Defaults of a policy's definition count wherever the policy does, and are told from written values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze, leaves, what_if
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.merging import JointField
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests.build import crd, gateway, node, policy, ref, resource, route, service, snapshot, target

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Resource

COLOR: Final = GroupKind("example.com", "ColorPolicy")
GATEWAY: Final = GroupKind("gateway.networking.k8s.io", "Gateway")
PATCHES: Final = PolicyKindProfile(COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none")
CHALLENGER: Final = replace(PATCHES, chooser="challenger")


def defined(spec: Json, kind: str = "ColorPolicy") -> Resource:
    """The definition of policies with this schema of their spec."""
    return crd(kind, schema={"properties": {"spec": spec}})


def world(*others: Resource, profile: PolicyKindProfile = PATCHES) -> Analysis:
    """A route of a Gateway to a Service, with others."""
    return analyze(snapshot(gateway(), route(), service(), *others, complete=True), profiles=[profile])


def in_force(analysis: Analysis) -> dict[str, tuple[Json, str, bool]]:
    """The settings at the Service: value, policy, and whether it is a default."""
    (effective,) = analysis.effective(node("Service", "s", "8080", group=""))
    found = leaves(effective.resolution.spec)
    return {".".join(field): (leaf.value, leaf.source.object.name, leaf.defaulted) for field, leaf in found}


MODE: Final[Json] = {"properties": {"mode": {"default": "strict"}, "limits": {"properties": {"rate": {"default": 5}}}}}


class TestSettings:
    """Defaults among the settings in force."""

    def test_a_default_is_in_force(self) -> None:
        """As if it were written, and marked as what it is."""
        found = in_force(world(defined(MODE), policy("p", target("g"), color="red")))
        assert found == {"color": ("red", "p", False), "mode": ("strict", "p", True)}

    def test_what_is_written_is_none(self) -> None:
        """Though it says the same."""
        found = in_force(world(defined(MODE), policy("p", target("g"), mode="strict")))
        assert found == {"mode": ("strict", "p", False)}

    def test_a_null_that_stands_for_the_default(self) -> None:
        """The author has written no value."""
        found = in_force(world(defined(MODE), policy("p", target("g"), mode=None)))
        assert found == {"mode": ("strict", "p", True)}

    def test_a_null_that_may_be(self) -> None:
        """It removes the field, as anywhere."""
        nullable: Json = {"properties": {"mode": {"default": "strict", "nullable": True}}}
        analysis = world(defined(nullable), policy("p", target("g"), mode=None))
        assert in_force(analysis) == {"mode": (None, "p", False)}

    def test_defaults_inside_of_what_is_written(self) -> None:
        """And not of what is not."""
        found = in_force(world(defined(MODE), policy("p", target("g"), limits={"burst": 2})))
        assert found == {"limits.burst": (2, "p", False), "limits.rate": (5, "p", True), "mode": ("strict", "p", True)}

    def test_defaults_inside_of_a_default(self) -> None:
        """`default: {}` is filled in and then filled; all of it is a default."""
        nested: Json = {"properties": {"limits": {"default": {}, "properties": {"rate": {"default": 5}}}}}
        assert in_force(world(defined(nested), policy("p", target("g"), a=1)))["limits.rate"] == (5, "p", True)

    def test_unknown_fields_that_are_preserved(self) -> None:
        """Defaults of known ones stand beside them."""
        preserving: Json = {"properties": {"mode": {"default": "strict"}}, "x-kubernetes-preserve-unknown-fields": True}
        found = in_force(world(defined(preserving), policy("p", target("g"), other={"a": 1})))
        assert found == {"other.a": (1, "p", False), "mode": ("strict", "p", True)}

    def test_only_the_version_in_which_it_is_written_fills_it(self) -> None:
        """The other one has other defaults."""
        definition = defined(MODE)
        spec: Json = {
            "group": "example.com",
            "names": {"kind": "ColorPolicy", "plural": "colorpolicys"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == "v2",
                    "schema": {
                        "openAPIV3Schema": {"properties": {"spec": {"properties": {"mode": {"default": name}}}}}
                    },
                }
                for name in ("v1alpha1", "v2")
            ],
        }
        two = resource("CustomResourceDefinition", definition.ref.name, spec, group="apiextensions.k8s.io")
        assert in_force(world(two, policy("p", target("g"), a=1)))["mode"] == ("v1alpha1", "p", True)

    def test_a_list_with_defaults_in_it_was_written(self) -> None:
        """As a whole it has an author; a list that is a default has none."""
        schema: Json = {
            "properties": {"rules": {"items": {"properties": {"weight": {"default": 1}}}}, "tags": {"default": ["a"]}}
        }
        found = in_force(world(defined(schema), policy("p", target("g"), rules=[{"name": "x"}])))
        assert found == {"rules": ([{"name": "x", "weight": 1}], "p", False), "tags": (["a"], "p", True)}


class TestApart:
    """Defaults that stand apart from others of their policy: below its name, in elements of lists, in shared maps."""

    def test_where_all_apply(self) -> None:
        """Each policy has the default below its own name."""
        profile = replace(PATCHES, strategy=MergeStrategy.ALL_APPLY)
        found = in_force(world(defined(MODE), policy("p", target("g"), color="red"), profile=profile))
        assert found == {"default/p.color": ("red", "p", False), "default/p.mode": ("strict", "p", True)}

    def test_elements_of_a_list_that_is_a_default(self) -> None:
        """All that is in them is a default, as far as they are taken apart."""
        keys = {"rules": "name", "tags": ""}
        profile = replace(CHALLENGER, strategy=MergeStrategy.STRATEGIC_MERGE, merges_with="closest", list_keys=keys)
        rules: Json = {"default": [{"name": "x", "deep": {"a": 1}}]}
        schema: Json = {"properties": {"rules": rules, "tags": {"default": ["t"]}}}
        above, below = policy("above", target("g"), color="red"), policy("below", target("r", "HTTPRoute"), size=1)
        found = in_force(world(defined(schema), above, below, profile=profile))
        assert found["rules.x.deep.a"] == (1, "below", True)
        assert {found[field][2] for field in found if field.startswith("tags")} == {True}

    def test_a_shared_map_that_is_a_default(self) -> None:
        """Each field of it."""
        shared = (JointField(field="limits", within=("level",), by="*"),)
        profile = replace(PATCHES, nulls="ignore", joint_fields=shared)
        schema: Json = {"properties": {"limits": {"default": {"a": 1}}}}
        found = in_force(world(defined(schema), policy("p", target("g"), color="red"), profile=profile))
        assert found["limits.a"] == (1, "p", True)


class TestWhoWins:
    """An API server does not tell a default from what is written, and nobody who reads from it can."""

    def test_a_default_further_down_beats_what_is_written_above(self) -> None:
        """It is what the nearer policy says."""
        above, below = policy("above", target("g"), mode="lax"), policy("below", target("r", "HTTPRoute"), color="red")
        assert in_force(world(defined(MODE), above, below))["mode"] == ("strict", "below", True)
        assert in_force(world(above, below))["mode"] == ("lax", "above", False)

    def test_disjoint_policies_conflict_where_a_default_makes_them(self) -> None:
        """Both have the field, once it is filled in."""
        profile = replace(PATCHES, policy_class="direct", same_level="disjoint")
        both = (
            policy("a", target("s", "Service", group=""), a=1, age=1),
            policy("b", target("s", "Service", group=""), b=1, age=2),
        )
        states = [world(*both, profile=profile).enforcement(each.ref).state for each in both]
        assert states == ["Enforced", "Enforced"]
        states = [world(defined(MODE), *both, profile=profile).enforcement(each.ref).state for each in both]
        assert states == ["Enforced", "Conflicted"]

    def test_the_strategy(self) -> None:
        """The field by which a policy chooses it may have a default."""
        profile = replace(CHALLENGER, strategy=None, strategy_field="spec.merge")
        chooses: Json = {"properties": {"merge": {"default": "Patch"}}}
        above, below = policy("above", target("g"), a=1), policy("below", target("r", "HTTPRoute"), b=1)
        assert in_force(world(above, below, profile=profile)).keys() == {"b"}
        assert in_force(world(defined(chooses), above, below, profile=profile)).keys() == {"a", "b"}

    def test_the_strategy_of_a_stanza(self) -> None:
        """It chooses, and is no setting."""
        profile = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="plural")
        stanza: Json = {"properties": {"defaults": {"properties": {"strategy": {"default": "patch"}}}}}
        above = policy("above", target("g"), defaults={"a": 1})
        below = policy("below", target("r", "HTTPRoute"), defaults={"b": 1})
        found = in_force(world(defined(stanza), above, below, profile=profile))
        assert found == {"a": (1, "above", False), "b": (1, "below", False)}

    def test_the_order(self) -> None:
        """A number that is not written is not 0, but what the definition says."""
        profile = replace(PATCHES, policy_class="direct", strategy=MergeStrategy.NONE, order_field="spec.rank")
        ranked: Json = {"properties": {"rank": {"default": 100}}}
        to = target("s", "Service", group="")
        both = (policy("a", to, color="red", age=1), policy("b", to, color="blue", rank=50, age=2))
        assert in_force(world(*both, profile=profile))["color"][0] == "red"
        assert in_force(world(defined(ranked), *both, profile=profile))["color"][0] == "blue"


class TestAttachment:
    """Defaults in references of a policy."""

    def test_the_kind_of_a_target(self) -> None:
        """A reference may leave out what the definition fills in."""
        reference: Json = {"properties": {"group": {"default": GATEWAY.group}, "kind": {"default": GATEWAY.kind}}}
        schema: Json = {"properties": {"targetRefs": {"items": reference}}}
        found = policy("p", {"name": "g"}, color="red")
        assert [each.state for each in world(found).attachments[found.ref]] == ["target missing"]
        analysis = world(defined(schema), found)
        assert [each.state for each in analysis.attachments[found.ref]] == ["attached"]
        assert in_force(analysis) == {"color": ("red", "p", False)}

    def test_a_target_that_is_a_default(self) -> None:
        """All of it."""
        schema: Json = {"properties": {"targetRef": {"default": target("g")}}}
        analysis = world(defined(schema), policy("p", color="red"))
        assert in_force(analysis) == {"color": ("red", "p", False)}

    def test_what_a_policy_needs(self) -> None:
        """Also by way of what it needs."""
        through = RequiredObject(field="spec.key.name", group="", kinds=("Secret",))
        need = RequiredObject(field="spec.issuer", group="example.com", kinds=("Issuer",), through=(through,))
        profile = PolicyKindProfile(COLOR, "inherited", "profile", needs=(need,))
        schema: Json = {"properties": {"issuer": {"default": {"name": "i"}}}}
        issuer = resource("Issuer", "i", {}, group="example.com")
        keyed: Json = {"properties": {"key": {"default": {"name": {"name": "k"}}}}}
        found, secret = policy("p", target("g"), color="red"), resource("Secret", "k", group="")
        assert [each.state for each in world(found, profile=profile).attachments[found.ref]] == ["policy invalid"]
        analysis = world(defined(schema), defined(keyed, "Issuer"), issuer, secret, found, profile=profile)
        assert [each.state for each in analysis.attachments[found.ref]] == ["attached"]

    def test_a_backend_of_its_own(self) -> None:
        """To which the policy sends requests."""
        profile = PolicyKindProfile(COLOR, "inherited", "profile", backend_fields=("spec.check",))
        schema: Json = {"properties": {"check": {"default": {"name": "s", "port": 8080}}}}
        found = policy("p", target("g"), color="red")
        assert world(found, profile=profile).calls_to(ref("Service", "s", group="")) == ()
        (call,) = world(defined(schema), found, profile=profile).calls_to(ref("Service", "s", group=""))
        assert (call.policy, call.field) == (found.ref, "spec.check")


class TestStates:
    """Two states of a world."""

    def test_what_is_filled_in_is_kept(self) -> None:
        """An object is filled in once."""
        analysis = world(defined(MODE), policy("p", target("g"), color="red"))
        (mine,) = analysis.index.of_kind(COLOR)
        assert analysis.index.with_defaults(mine) is analysis.index.with_defaults(mine) is not mine

    def test_another_definition_changes_what_is_in_force(self) -> None:
        """Of policies that are the same."""
        other: Json = {"properties": {"mode": {"default": "lax"}}}
        analysis = world(defined(MODE), policy("p", target("g"), color="red"))
        after = what_if(analysis, applied=[defined(other)]).after
        assert in_force(analysis)["mode"] == ("strict", "p", True)
        assert in_force(after)["mode"] == ("lax", "p", True)


def test_answers_say_that_a_setting_is_a_default() -> None:
    """It must not look as if somebody had written it."""
    below = policy("below", target("r", "HTTPRoute"), color="red")
    analysis = world(defined(MODE), policy("above", target("g"), color="blue"), below)
    (group,) = describe(analysis, node("HTTPRoute", "r")).in_force
    assert {setting.field: setting.defaulted for setting in group.settings} == {"color": False, "mode": True}
    assert [(fate.value, fate.defaulted) for fate in group.settings[1].instead_of] == [("strict", True)]
    fields = describe_policy(analysis, below.ref).fields
    assert {field.field: field.defaulted for field in fields} == {"color": False, "mode": True}
