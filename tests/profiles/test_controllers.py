"""Choices of a whole implementation in profile files: how its controllers treat Gateways, and how routes delegate."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, Implementation, PolicyKindProfile, analyze
from kubectl_policy.errors import ProfileError
from kubectl_policy.model import GroupKind, Json, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import Registry, load, load_profiles
from kubectl_policy.profiles.controllers import (
    STANDARD_GATEWAYS,
    ByLabel,
    ConditionWords,
    DelegationProfile,
    GatewayProfile,
    RuleReplacement,
)
from kubectl_policy.profiles.load import ProfileFile, built_in_delegations, profiles_in
from kubectl_policy.profiles.reading import file_fields, problems
from kubectl_policy.topology import listener_conditions
from tests import build
from tests.build import index

EVIDENCE: Final = "  evidence: [https://example.com/docs]\n"
FILE: Final = """
group: example.com
controllers: ["{example.controllerName}"]
settings:
  example.controllerName: {default: example.com/gateway, description: how it is called}
kinds:
  ColorPolicy: {class: inherited, evidence: [https://example.com/docs]}
  HuePolicy: {class: direct, controllers: [example.com/hues], evidence: [https://example.com/docs]}
"""
G: Final = build.ref("Gateway", "g")


def loaded(folder: Path, gateways: str, *, name: str = "f.yaml", text: str = FILE) -> tuple[PolicyKindProfile, ...]:
    """The profiles of a file with these lines in `gateways`."""
    file = folder / name
    file.write_text(text + "gateways:\n" + gateways, "utf-8")
    return load_profiles(file)


def test_what_a_file_says(tmp_path: Path) -> None:
    profiles = loaded(
        tmp_path,
        "  unsupportedFeatures: [TLSRouteModeMixed]\n"
        "  addressTypes: [IPAddress, example.com/pool]\n"
        "  invalidParents: passedOver\n"
        "  refusals: [NoMatchingParent, NotAllowedByListeners]\n"
        "  ruleReplacement:\n"
        "    programmed: {type: Ready, status: 'True', reason: Ready}\n"
        "    replaced: {type: Ready, status: 'False', reason: Replaced}\n"
        "  grantSetting: example.grants\n"
        "  grantValues: [strict]\n" + EVIDENCE,
    )
    said = GatewayProfile(
        unsupported_features=frozenset({"TLSRouteModeMixed"}),
        address_types=frozenset({"IPAddress", "example.com/pool"}),
        invalid_parents="passedOver",
        refusals=("NoMatchingParent", "NotAllowedByListeners"),
        rule_replacement=RuleReplacement(
            programmed=ConditionWords("Ready", "True", "Ready"), replaced=ConditionWords("Ready", "False", "Replaced")
        ),
        grant_setting="example.grants",
        grant_values=frozenset({"strict"}),
        evidence=("https://example.com/docs",),
    )
    assert [found.gateways for found in profiles] == [said, said]
    assert said.ignores_invalid


def test_what_a_file_leaves_out(tmp_path: Path) -> None:
    """Is as Gateway API has it; a file without the part says nothing of Gateways."""
    for found in loaded(tmp_path, EVIDENCE):
        assert found.gateways == GatewayProfile(evidence=("https://example.com/docs",))
        assert not GatewayProfile().ignores_invalid
    (tmp_path / "g.yaml").write_text(FILE, "utf-8")
    assert [found.gateways for found in load_profiles(tmp_path / "g.yaml")] == [None, None]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("  invalidParents: served\n", "evidence"),
        ("  evidence: []\n", "gateways.evidence"),
        ("  sharedHostnames: both\n" + EVIDENCE, "use one of accepted, refused, unknown"),
        ("  invalidParents: ignored\n" + EVIDENCE, "use one of served, passedOver"),
        ("  refusals: [Nonsense]\n" + EVIDENCE, "use one of NoMatchingParent, NotAllowedByListeners"),
        ("  refusals: NoMatchingParent\n" + EVIDENCE, "gateways.refusals"),
        ("  addressTypes: ['']\n" + EVIDENCE, "gateways.addressTypes[0]"),
        ("  unsupportedFeatures: [1]\n" + EVIDENCE, "gateways.unsupportedFeatures[0]"),
        ("  passesOver: true\n" + EVIDENCE, "passesOver"),
    ],
)
def test_what_a_file_may_not_say(tmp_path: Path, lines: str, words: str) -> None:
    with pytest.raises(ProfileError) as error:
        loaded(tmp_path, lines)
    assert words in str(error.value)
    assert str(tmp_path / "f.yaml") in str(error.value)


def analysed(*profiles: PolicyKindProfile, controller: str = "example.com/gateway", **settings: str) -> Analysis:
    """A Gateway of a controller, whose address is none that every controller takes."""
    address = build.gateway("g", addresses=[{"type": "Hostname", "value": "a.org"}])
    world = build.snapshot(build.gateway_class("public", controller), address, build.route("r"), complete=True)
    values = {f"example.{name}": value for name, value in settings.items()}
    return analyze(world, profiles=profiles, implementation=Implementation(settings=values))


def served(analysis: Analysis) -> bool:
    """Whether the route is attached to the Gateway."""
    return {binding.state for binding in analysis.topology.bindings(build.ref("HTTPRoute", "r"))} == {"attached"}


GRANTING: Final = "  grantSetting: example.grants\n  grantValues: [strict]\n" + EVIDENCE
GRANTS: Final = FILE.replace("settings:\n", "settings:\n  example.grants: {default: strict, description: by default}\n")


class TestReferencesWithoutGrants:
    """A setting with which controllers permit every reference to another namespace."""

    far: Final = build.service("far", namespace="far")

    def states(self, folder: Path, *parents: str, **settings: str) -> dict[str, str]:
        """The state of a reference of a route to another namespace, and the reason if it is refused."""
        classes = (build.gateway_class("public", "example.com/gateway"), build.gateway_class("other", "example.org/x"))
        gateways = (build.gateway("g"), build.gateway("o", class_name="other"))
        rules = [build.rule(build.backend("far", namespace="far"))]
        route = build.route("r", parents=[build.parent(name) for name in parents], rules=rules)
        analysis = analyze(
            build.snapshot(*classes, *gateways, route, self.far, complete=True),
            profiles=loaded(folder, GRANTING, text=GRANTS),
            implementation=Implementation(settings={f"example.{name}": value for name, value in settings.items()}),
        )
        (backend,) = analysis.topology.backends(route.ref)
        behind = analysis.topology.relations.referring.forwarding.to(self.far.ref)
        assert (backend.state == "resolved") is (list(behind) == [route.ref])
        return {backend.state: backend.reason}

    def test_a_route_of_these_controllers(self, tmp_path: Path) -> None:
        assert self.states(tmp_path, "g", grants="off") == {"resolved": ""}

    def test_by_default_and_with_other_values(self, tmp_path: Path) -> None:
        for settings in ({}, {"grants": "strict"}):
            assert self.states(tmp_path, "g", **settings) == {"broken": "RefNotPermitted"}

    def test_a_route_that_other_controllers_serve_as_well(self, tmp_path: Path) -> None:
        for parents in (("g", "o"), ("o",), ()):
            assert self.states(tmp_path, *parents, grants="off") == {"broken": "RefNotPermitted"}

    def test_a_certificate_of_a_listener(self, tmp_path: Path) -> None:
        tls: Json = {"certificateRefs": [{"name": "cert", "namespace": "far"}]}
        world = (
            build.gateway_class("public", "example.com/gateway"),
            build.gateway("g", build.listener("https", "HTTPS", 443, tls=tls)),
        )
        reasons: dict[str, str] = {}
        for value in ("off", "strict"):
            analysis = analyze(
                build.snapshot(*world, complete=True),
                profiles=loaded(tmp_path, GRANTING, text=GRANTS),
                implementation=Implementation(settings={"example.grants": value}),
            )
            *_, resolved = listener_conditions(analysis.topology.gateways, build.node("Gateway", "g", "https"))
            reasons[value] = resolved.reason
        assert reasons == {"off": "InvalidCertificateRef", "strict": "RefNotPermitted"}


PASSING: Final = "  addressTypes: [IPAddress]\n  invalidParents: passedOver\n" + EVIDENCE


class TestWhomItIsFor:
    def test_its_controllers(self, tmp_path: Path) -> None:
        profiles = loaded(tmp_path, PASSING)
        assert not served(analysed(*profiles))
        assert not served(analysed(*profiles, controller="example.com/hues"))

    def test_nobody_else(self, tmp_path: Path) -> None:
        """On Gateways of others all is as Gateway API has it, as without the file."""
        assert served(analysed(*loaded(tmp_path, PASSING), controller="example.org/gateway"))
        assert served(analysed())

    def test_a_controller_that_goes_by_another_name(self, tmp_path: Path) -> None:
        profiles = loaded(tmp_path, PASSING)
        renamed = {"controllerName": "example.com/mine"}
        assert not served(analysed(*profiles, controller="example.com/mine", **renamed))
        assert served(analysed(*profiles, **renamed))
        assert served(analysed(*profiles, controller="example.com/mine"))

    def test_a_later_file_of_the_same_group(self, tmp_path: Path) -> None:
        passing = loaded(tmp_path, PASSING)
        serving = loaded(tmp_path, EVIDENCE, name="g.yaml")
        assert served(analysed(*passing, *serving))
        assert not served(analysed(*serving, *passing))

    def test_a_file_that_says_nothing_of_gateways(self, tmp_path: Path) -> None:
        other = tmp_path / "other.yaml"
        other.write_text(FILE.replace("group: example.com", "group: example.org"), "utf-8")
        assert not served(analysed(*loaded(tmp_path, PASSING), *load_profiles(other)))


def test_what_holds_where_nobody_has_said_otherwise() -> None:
    """Everything is supported and served, and the nearest miss is reported."""
    assert GatewayProfile() == STANDARD_GATEWAYS
    assert not STANDARD_GATEWAYS.ignores_invalid


ROUTE = GroupKind(GATEWAY_API, "HTTPRoute")
KINDS = {"ColorPolicy": {"class": "direct", "evidence": ["https://example.com"]}}
FULL: Mapping[str, Any] = {
    "everyRoute": "*",
    "byLabel": {"group": "label.example.com", "kind": "label", "label": "example.com/label", "allNamespaces": "all"},
    "inheritMatches": "example.com/inherit",
    "grantRequired": False,
    "evidence": ["https://example.com/routes"],
}


def decoded(delegation: Mapping[str, Any], **fields: Any) -> PolicyKindProfile:  # noqa: ANN401 (what a file may hold)
    """The profile in a file that says how routes delegate."""
    document: dict[str, Any] = {"group": "example.com", "kinds": KINDS, "delegation": delegation, **fields}
    assert list(problems(document, ProfileFile)) == []
    (found,) = profiles_in(document, Origin("f.yaml", 1))
    return found


def test_everything_that_a_file_can_say() -> None:
    label = ByLabel(GroupKind("label.example.com", "label"), "example.com/label", "all")
    assert decoded(FULL, controllers=["example.com/c"]).delegation == DelegationProfile(
        group="example.com",
        controllers=frozenset({"example.com/c"}),
        every_route="*",
        by_label=label,
        inherit_matches="example.com/inherit",
        grant_required=False,
        evidence=("https://example.com/routes",),
    )
    assert FULL.keys() == file_fields(DelegationProfile).keys()


def test_the_least_that_a_file_says() -> None:
    """A reference by name, for any controller, with a ReferenceGrant."""
    evidence = {"evidence": FULL["evidence"]}
    expected = DelegationProfile(
        group="example.com",
        controllers=frozenset(),
        every_route="",
        by_label=None,
        inherit_matches="",
        grant_required=True,
        evidence=tuple(FULL["evidence"]),
    )
    assert decoded(evidence).delegation == expected
    label = {"group": "g", "kind": "k", "label": "l"}
    assert decoded({**evidence, "byLabel": label}).delegation == replace(
        expected, by_label=ByLabel(GroupKind("g", "k"), "l", "")
    )


def test_settings_are_filled_in() -> None:
    found = decoded(FULL, controllers=["example.com/{name}"], settings={"name": {"default": "c", "description": "d"}})
    for values, name in (({}, "c"), ({"name": "other"}, "other")):
        (first, *_) = Registry(index(), [found], values).delegations([ROUTE])
        assert first.controllers == {f"example.com/{name}"}


def test_a_file_of_one_s_own_comes_first() -> None:
    """And takes the place of the built-in one of its group; a file that says nothing of it does not."""
    built_in = built_in_delegations([ROUTE])
    assert [found.group for found in built_in] == ["gateway.kgateway.dev", "gateway.solo.io"]
    assert Registry(index(), [replace(decoded(FULL), delegation=None)]).delegations([ROUTE]) == built_in
    own = decoded(FULL).delegation
    assert own
    assert Registry(index(), [decoded(FULL)]).delegations([ROUTE]) == (own, *built_in)
    instead = replace(decoded(FULL), delegation=replace(own, group="gateway.solo.io"))
    assert [found.by_label for found in Registry(index(), [instead]).delegations([ROUTE])] == [
        own.by_label,
        built_in[0].by_label,
    ]


@pytest.mark.parametrize(
    ("kinds", "read"),
    [
        ([], False),
        ([GroupKind("example.com", "Backend")], False),
        ([GroupKind("delegation.kgateway.dev", "label")], True),
        ([GroupKind("example.com", "Backend"), ROUTE], True),
    ],
)
def test_files_are_taken_apart_only_if_a_reference_may_mean_routes(
    kinds: list[GroupKind], *, read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most worlds have none, and reading them takes time."""
    asked: list[str] = []
    known = load.built_in_profiles

    def count(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
        asked.append(group)
        return known(group)

    monkeypatch.setattr(load, "built_in_profiles", count)
    assert bool(built_in_delegations(kinds)) == read
    assert bool(asked) == read


@pytest.mark.parametrize("found", built_in_delegations([ROUTE]), ids=lambda found: found.group)
def test_what_is_built_in_names_its_sources(found: DelegationProfile) -> None:
    """Whose it is, and where each choice was read."""
    assert found.controllers
    assert found.by_label
    assert found.inherit_matches.startswith(found.by_label.group_kind.group)
    assert not found.grant_required
    assert len(found.evidence) >= 4
