"""Profiles: merge strategies by name, levels, defaults, and choices about merging."""

from types import MappingProxyType

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, SERVICE
from kubectl_policy.profiles.controllers import ControllerSetting
from kubectl_policy.profiles.merging import (
    IgnoredPart,
    Inheritance,
    JointField,
    ListedFields,
    MergeScope,
    PortField,
    RouteChoice,
    Variant,
)
from kubectl_policy.profiles.needs import RequiredObject
from tests.build import node

COLOR = GroupKind("example.com", "ColorPolicy")
PLAIN = PolicyKindProfile(COLOR, "inherited", "profile")


@pytest.mark.parametrize("name", ["", "Atomic", "defaults", "Patch", "Nonesuch", "…"])
def test_no_strategy_of_that_name(name: str) -> None:
    """A name that does not say everything is no name."""
    assert MergeStrategy.named(name) is None


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("None", MergeStrategy.NONE),
        ("AtomicDefaults", MergeStrategy.ATOMIC_DEFAULTS),
        ("atomic overrides", MergeStrategy.ATOMIC_OVERRIDES),
        ("patch-defaults", MergeStrategy.PATCH_DEFAULTS),
        ("PATCH_OVERRIDES", MergeStrategy.PATCH_OVERRIDES),
        ("StrategicMerge", MergeStrategy.STRATEGIC_MERGE),
        ("all apply", MergeStrategy.ALL_APPLY),
    ],
)
def test_a_strategy_by_name(name: str, strategy: MergeStrategy) -> None:
    """Case and what stands between the words do not matter."""
    assert MergeStrategy.named(name) is strategy


def test_which_strategies_override_and_which_default() -> None:
    """None does neither, and where all apply there is nobody to give way to."""
    assert [strategy for strategy in MergeStrategy if strategy.overrides] == [
        MergeStrategy.ATOMIC_OVERRIDES,
        MergeStrategy.PATCH_OVERRIDES,
    ]
    assert [strategy for strategy in MergeStrategy if strategy.defaults] == [
        MergeStrategy.ATOMIC_DEFAULTS,
        MergeStrategy.PATCH_DEFAULTS,
        MergeStrategy.STRATEGIC_MERGE,
    ]
    assert [strategy for strategy in MergeStrategy if strategy.patches_above] == [
        MergeStrategy.PATCH_DEFAULTS,
        MergeStrategy.STRATEGIC_MERGE,
    ]


def test_a_level_is_objects_or_sections() -> None:
    """The ports of a Service are another level than the Service."""
    whole, port = node("Service", "s", group=""), node("Service", "s", "http", group="")
    assert [TargetLevel(SERVICE).includes(at) for at in (whole, port)] == [True, False]
    assert [TargetLevel(SERVICE, section=True).includes(at) for at in (whole, port)] == [False, True]
    assert not TargetLevel(COLOR).includes(whole)


def test_the_strategy_of_a_policy_that_chooses_none() -> None:
    """Says: "None for a direct kind, Atomic defaults for the rest", unless the profile says."""
    assert PolicyKindProfile(COLOR, "direct", "label").default_strategy is MergeStrategy.NONE
    assert PolicyKindProfile(COLOR, "inherited", "label").default_strategy is MergeStrategy.ATOMIC_DEFAULTS
    chosen = PolicyKindProfile(COLOR, "direct", "label", strategy=MergeStrategy.PATCH_DEFAULTS)
    assert chosen.default_strategy is MergeStrategy.PATCH_DEFAULTS


def test_the_profile_that_holds_at_a_target() -> None:
    here, other = frozenset({HTTP_ROUTE}), MergeStrategy.PATCH_DEFAULTS
    varied = replace(PLAIN, assumed=("merge strategy",), variants=(Variant(targets=here, strategy=other),))
    assert varied.at(GATEWAY) is varied
    assert varied.at(HTTP_ROUTE) == replace(PLAIN, strategy=other)
    whole = replace(varied, variants=(Variant(targets=here, whole_fields=frozenset({"a"})),))
    assert whole.at(HTTP_ROUTE) == replace(whole, variants=(), whole_fields=frozenset({"a"}))
    assert PLAIN.at(HTTP_ROUTE) is PLAIN


def test_names_of_controllers_under_settings() -> None:
    """Without a value the default holds, also in variants; without settings, braces are part of a name."""
    odd = replace(PLAIN, controllers=frozenset({"example.com/{name}"}))
    assert odd.with_settings({"name": "x"}) is odd
    variants = (Variant(targets=frozenset({HTTP_ROUTE}), strategy=MergeStrategy.ALL_APPLY),)
    settings = {"name": ControllerSetting("gateway", "how the controller is called")}
    controllers = frozenset({"example.com/{name}", "example.com/fixed"})
    named = replace(PLAIN, controllers=controllers, settings=settings, variants=variants)
    for values, name in (({}, "gateway"), ({"other": "x"}, "gateway"), ({"name": "mine"}, "mine")):
        under = named.with_settings(values)
        assert under.controllers == under.at(HTTP_ROUTE).controllers == {f"example.com/{name}", "example.com/fixed"}
        assert under.at(HTTP_ROUTE).strategy is MergeStrategy.ALL_APPLY
    assert named.controllers == controllers


@pytest.mark.parametrize(
    ("profile", "apart"),
    [
        (PLAIN, False),
        (replace(PLAIN, same_level="all-apply"), True),
        (replace(PLAIN, same_level="first-wins"), False),
        (replace(PLAIN, strategy=MergeStrategy.ALL_APPLY), True),
        (replace(PLAIN, strategy=MergeStrategy.PATCH_DEFAULTS), False),
    ],
)
def test_which_kinds_keep_policies_apart(profile: PolicyKindProfile, *, apart: bool) -> None:
    assert profile.all_apply == apart


@pytest.mark.parametrize(
    ("fields", "security", "others"),
    [
        ("", [], ["jwt"]),
        ("jwt", ["jwt", "jwt providers a.b/c"], ["cors", "jwtAuth", "auth jwt", ""]),
        ("*", ["anything", "any thing"], [""]),
        ("tls.mode", ["tls mode"], ["tls", "tls version"]),
        ("tls.mode cors", [], ["tls version"]),
        (
            "ports.*.tls",
            ["ports 443 tls", "ports 443 tls mode"],
            ["ports", "ports 443", "ports 443 buffer", "ports tls"],
        ),
        ("cors jwt", ["jwt"], []),
        ("limits.*", ["limits gold"], []),
    ],
)
def test_which_fields_are_about_security(fields: str, security: list[str], others: list[str]) -> None:
    """A field that is named and everything below it; a `*` stands for one key, whatever that is."""
    profile = replace(PLAIN, security_fields=frozenset(fields.split()))
    assert [field for field in (*security, *others) if profile.is_security(tuple(field.split()))] == security


@pytest.mark.parametrize(
    ("profile", "by_listener"),
    [
        (PLAIN, False),
        (replace(PLAIN, joint_fields=(JointField(field="a", within=("level",)),)), False),
        (replace(PLAIN, scopes=(MergeScope((TargetLevel(HTTP_ROUTE),)),)), True),
        (replace(PLAIN, ignored=(IgnoredPart(levels=(TargetLevel(GATEWAY),)),)), True),
        (replace(PLAIN, port_field=PortField("perPort", "port", "default")), True),
    ],
)
def test_which_kinds_may_depend_on_the_listener(profile: PolicyKindProfile, *, by_listener: bool) -> None:
    assert profile.by_listener == by_listener


def test_shared_fields_under_settings() -> None:
    """Those of which the setting has another value are none; so it is in variants."""
    deep, always = (
        JointField(field="a", within=("level",), by="*", unless=(), setting="merge", value="deep"),
        JointField(field="b", within=("level",)),
    )
    settings = {"merge": ControllerSetting("shallow", "how")}
    variants = (Variant(targets=frozenset({SERVICE}), chooser="challenger"),)
    profile = replace(PLAIN, settings=settings, joint_fields=(deep, always), variants=variants)
    for values, found in (({}, (always,)), ({"merge": "deep"}, (deep, always)), ({"merge": "x"}, (always,))):
        under = profile.with_settings(values)
        assert under.joint_fields == under.at(SERVICE).joint_fields == found
    assert replace(PLAIN, joint_fields=(deep,)).with_settings({"merge": "deep"}).joint_fields == (deep,)


def test_what_is_needed_depends_on_settings_all_the_way() -> None:
    last = RequiredObject(field="spec.key", group="", kinds=("Secret",), grant_setting="inner")
    through = RequiredObject(field="spec.ref", group="", kinds=("ConfigMap",), through=(last,))
    assert [*replace(through, grant_setting="outer").settings] == ["outer", "inner"]
    assert [*through.settings] == ["inner"]


def test_settings_on_which_fields_depend_as_a_whole() -> None:
    """Those of shared fields and of needs, however deep; what is part of a name is just filled in there."""
    settings = {name: ControllerSetting("x", f"what {name} is") for name in ("merge", "outer", "inner", "name")}
    last = RequiredObject(field="spec.key", group="", kinds=("Secret",), grant_setting="inner")
    need = RequiredObject(field="spec.ref", group="", kinds=("ConfigMap",), grant_setting="outer", through=(last,))
    shared = JointField(field="a", within=("level",), setting="merge", value="deep")
    profile = replace(PLAIN, settings=settings, controllers=frozenset({"example.com/{name}"}))
    assert profile.settings_of_fields == {}
    assert [*replace(profile, joint_fields=(shared,)).settings_of_fields] == ["merge"]
    assert [*replace(profile, needs=(need,)).settings_of_fields] == ["outer", "inner"]
    both = replace(profile, joint_fields=(shared,), needs=(need,))
    assert both.settings_of_fields == {name: settings[name] for name in ("merge", "outer", "inner")}


def test_maps_in_stanzas_are_those_of_the_text_that_has_one() -> None:
    """They are below `default` or `override`; the stanza itself is no map, and later texts have plural stanzas."""
    fields = frozenset({"headers", "default", "default.headers", "override.a.b", "defaults.tags"})
    profile = replace(PLAIN, map_fields=fields)
    assert profile.maps_in_stanzas == replace(profile, stanzas="singular").maps_in_stanzas == {"headers", "a.b"}
    assert replace(profile, stanzas="plural").maps_in_stanzas == frozenset()


LISTENERS = TargetLevel(GATEWAY, section=True)


@pytest.mark.parametrize(
    ("protocols", "protocol", "included"),
    [
        ((), "", True),
        ((), "HTTP", True),
        (("HTTP", "TLS"), "TLS", True),
        (("HTTP",), "HTTPS", False),
        (("TLS",), "", False),
    ],
)
def test_a_scope_may_be_one_below_some_listeners(protocols: tuple[str, ...], protocol: str, *, included: bool) -> None:
    levels = (TargetLevel(HTTP_ROUTE), LISTENERS)
    for part in (
        MergeScope(levels, frozenset(protocols)),
        IgnoredPart(levels=levels, fields=("f",), protocols=frozenset(protocols)),
    ):
        assert part.includes(node("Gateway", "g", "http"), protocol) == included
        assert not part.includes(node("Gateway", "g"), protocol)


def test_a_joint_field_may_depend_on_a_setting() -> None:
    deep = JointField(field="acl", within=("level",), by="*", unless=(), setting="merge", value="deep")
    assert [deep.holds(values) for values in ({"merge": "deep"}, {"merge": "shallow"}, {}, {"other": "deep"})] == [
        True,
        False,
        False,
        False,
    ]
    assert JointField(field="acl", within=("level",)).holds({})


class TestRouteChoice:
    parent = Inheritance(MergeStrategy.PATCH_OVERRIDES)
    plain = RouteChoice("a", MappingProxyType({"parent": parent}))
    listing = RouteChoice(
        "a", MappingProxyType({"*": parent}), ListedFields("spec.options", MergeStrategy.PATCH_DEFAULTS)
    )

    @pytest.mark.parametrize(("value", "means"), [("parent", parent), ("Parent", None), ("", None), ("*", None)])
    def test_of_values(self, value: str, means: Inheritance | None) -> None:
        assert self.plain.means(value) == means

    @pytest.mark.parametrize(
        ("value", "names"),
        [
            ("cors", ["cors"]),
            (" Cors ,retries,", ["cors", "retries"]),
            ("", []),
            (" , ", []),
            ("*,cors", ["*", "cors"]),
        ],
    )
    def test_of_lists(self, value: str, names: list[str]) -> None:
        """Of names in any case, below a field; a value that has a meaning is no list."""
        fields = frozenset(("spec", "options", name) for name in names)
        assert self.listing.means(value) == Inheritance(MergeStrategy.PATCH_DEFAULTS, None, fields)
        assert self.listing.means("*") == self.parent
