"""What a profile file says of how its controllers treat Gateways: what is read, what is refused, and whom it is for."""

from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import Analysis, Implementation, PolicyKindProfile, analyze
from kubectl_policy.errors import ProfileError
from kubectl_policy.profiles import load_profiles
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile
from tests import build

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
        "  refusals: [NoMatchingParent, NotAllowedByListeners]\n" + EVIDENCE,
    )
    said = GatewayProfile(
        unsupported_features=frozenset({"TLSRouteModeMixed"}),
        address_types=frozenset({"IPAddress", "example.com/pool"}),
        invalid_parents="passedOver",
        refusals=("NoMatchingParent", "NotAllowedByListeners"),
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
