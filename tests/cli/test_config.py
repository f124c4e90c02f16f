"""The config file: where it is looked for, what it may say, and which profiles count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.cli.config import config_file, offline_paths, owner_key, read_config
from kubectl_policy.errors import ProfileError, UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Command

PROFILE = """\
group: example.com
kinds:
  ColorPolicy: {class: inherited, strategy: %s, evidence: [its documentation says so]}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of a config file that is not there yet; `near.yaml` beside it is a profile."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "near.yaml").write_text(PROFILE % "Patch defaults", "utf-8")
    path = tmp_path / "config" / "config.yaml"
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", str(path))
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profile: [near.yaml]\n", "config.yaml:1: profile: there is no such field; did you mean profiles?"),
        ("profiles:\n  near.yaml\n", "config.yaml:1: profiles: must be a list, not 'near.yaml'"),
        ("profiles:\n  - 1\n", "config.yaml:2: profiles[0]: must be text, not 1"),
        ('profiles: [near.yaml, "a\\0b"]\n', "config.yaml:1: profiles[1]: 'a\\x00b' does not fit. A path is expected."),
        ("profiles: ['']\n", "config.yaml:1: profiles[0]: '' does not fit. A path is expected."),
        ("offline: x\n", "config.yaml:1: offline: must be a list, not 'x'"),
        ("owner: ''\n", "config.yaml:1: owner: '' does not fit. A label or annotation is expected."),
        ("- near.yaml\n", "config.yaml:1: the file: must be a mapping"),
        ("profiles: []\nprofiles: []\n", "config.yaml:2: profiles is given twice: it is on line 1 as well"),
        ("profiles: [", "config.yaml:1: not valid YAML"),
        (f"a: &a [x]\nb: &b [{'*a, ' * 900}]\nc: [{'*b, ' * 900}]\n", "config.yaml:3: aliases (*) that repeat"),
    ],
)
def test_a_malformed_config_file(config: Path, text: str, message: str) -> None:
    config.write_text(text, "utf-8")
    with pytest.raises(ProfileError) as refused:
        read_config([], None)
    assert f"{config.parent}/{message}" in refused.value.message
    assert refused.value.hint == "docs/profiles.md describes the config file"
    assert refused.value.exit_code == 2


def test_a_config_file_that_cannot_be_read(config: Path) -> None:
    config.mkdir()
    with pytest.raises(ProfileError, match=r"config\.yaml: cannot be read: Is a directory"):
        read_config([], None)


def test_a_place_that_cannot_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", "/" + "x" * 300)
    with pytest.raises(ProfileError, match="cannot be read: File name too long"):
        read_config([], None)


def test_a_bad_profile_that_it_names(config: Path) -> None:
    config.write_text("profiles:\n  - near.yaml\n  - gone.yaml\n", "utf-8")
    with pytest.raises(ProfileError, match=r"gone\.yaml: cannot be read: No such file") as refused:
        read_config([], None)
    assert refused.value.hint == f"{config}:3 names it; docs/profiles.md describes every field"


@pytest.mark.parametrize("text", ["", "# profiles: [near.yaml]\n", "profiles: []\n", "{}\n"])
def test_a_config_file_that_says_nothing(config: Path, text: str) -> None:
    assert read_config([], None).profiles == ()
    config.write_text(text, "utf-8")
    assert read_config([], None).profiles == ()


def test_the_command_line_beats_the_config_file(config: Path, command: Command, manifests: Path) -> None:
    """Which beats what is built in; its paths are relative to it."""
    arguments = ("describe", "colorpolicy/red", "-n", "app", "--offline", manifests / "all.yaml")
    assert "ColorPolicy.example.com\n" not in command(*arguments).out
    config.write_text("profiles: [near.yaml]\n", "utf-8")
    assert "ColorPolicy.example.com · patch defaults\n" in command(*arguments).out
    other = config.parent / "other.yaml"
    other.write_text(PROFILE % "Atomic defaults", "utf-8")
    assert "ColorPolicy.example.com · atomic defaults\n" in command(*arguments, "--profiles", other).out


def test_what_is_read_where_nothing_is_named(
    config: Path, command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the environment, else by the config file, relative to it; what a call names counts before both."""
    arguments = ("describe", "httproute/app/r")
    assert offline_paths() == []
    assert command(*arguments).code == 3
    (config.parent / "world").mkdir()
    config.write_text("offline: [world, '-']\n", "utf-8")
    assert offline_paths() == [str(config.parent / "world"), "-"]
    config.write_text("offline: [world]\n", "utf-8")
    assert command(*arguments).code == 3
    assert command(*arguments, "--offline", manifests).code == 0
    monkeypatch.setenv("KUBECTL_POLICY_OFFLINE", f"{manifests}:{config.parent}")
    assert offline_paths() == [str(manifests), str(config.parent)]
    assert command(*arguments).code == 0


def test_a_malformed_config_file_stops_a_command(config: Path, command: Command, manifests: Path) -> None:
    """With exit code 2: an answer without what the user meant would be a wrong one."""
    config.write_text("profiles: near.yaml\n", "utf-8")
    code, out, err = command("describe", "httproute/r", "-n", "app", "--offline", manifests / "all.yaml")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {config}:1: profiles: must be a list, not 'near.yaml'\n")


def test_where_the_config_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/xdg")
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", "/named.yaml")
    assert config_file() == "/named.yaml"
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", "")
    assert config_file() == "/xdg/kubectl-policy/config.yaml"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert config_file() == "/home/me/.config/kubectl-policy/config.yaml"


def test_a_place_below_a_file_has_no_config_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", str(config.parent / "near.yaml" / "config.yaml"))
    assert read_config([], None).profiles == ()


def test_a_folder_of_profiles(config: Path) -> None:
    assert [profile.strategy for profile in read_config([str(config.parent)], None).profiles] == ["Patch defaults"]
    config.parent.joinpath("more").mkdir()
    Path(config.parent / "more" / "a.yml").write_text(PROFILE % "None", "utf-8")
    config.write_text("profiles: [more]\n", "utf-8")
    assert [profile.strategy for profile in read_config([], None).profiles] == ["None"]


CONTROLLED = """\
group: example.com
settings:
  example.controllerName: {default: example.com/one, description: the name of the controller}
kinds:
  ColorPolicy:
    class: inherited
    strategy: None
    controllers: ["{example.controllerName}"]
    evidence: [its documentation says so]
"""
WORLD = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: two}
spec: {controllerName: example.com/two}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g}
spec: {gatewayClassName: two, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: c}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, color: red}
"""


class TestSettings:
    @pytest.mark.parametrize("setting", ["example.controllerName", "=two", ""])
    def test_neither_name_nor_value(self, config: Path, setting: str) -> None:
        config.parent.joinpath("near.yaml").write_text(CONTROLLED, "utf-8")
        with pytest.raises(UsageError, match="is not a setting") as refused:
            read_config([str(config.parent)], [setting])
        assert refused.value.hint == "write --setting NAME=VALUE"

    def test_a_name_that_no_profile_has(self, config: Path) -> None:
        config.parent.joinpath("near.yaml").write_text(CONTROLLED, "utf-8")
        with pytest.raises(UsageError, match=r'no profile has a setting "example\.name"') as refused:
            read_config([str(config.parent)], ["example.name=x"])
        assert "there are: envoyGateway.controllerName, example.controllerName" in refused.value.hint

    def test_a_value_that_is_no_text(self, config: Path) -> None:
        config.write_text("settings:\n  envoyGateway.controllerName: 1\n", "utf-8")
        with pytest.raises(ProfileError, match=r'config\.yaml:2: settings\["envoyGateway\.controllerName"\]'):
            read_config([], None)

    def test_the_command_line_beats_the_config_file(self, config: Path) -> None:
        """Of two values the one on the command line counts; an equals sign may be part of it."""
        config.write_text("settings: {envoyGateway.controllerName: one}\n", "utf-8")
        assert read_config([], None).implementation.settings == {"envoyGateway.controllerName": "one"}
        overridden = read_config([], ["envoyGateway.controllerName=two=2"])
        assert overridden.implementation.settings == {"envoyGateway.controllerName": "two=2"}

    def test_a_setting_decides_whose_gateways_a_kind_is_for(self, config: Path, command: Command) -> None:
        config.parent.joinpath("near.yaml").write_text(CONTROLLED, "utf-8")
        world = config.parent / "world" / "world.yaml"
        world.parent.mkdir()
        world.write_text(WORLD, "utf-8")
        options = ["--offline", str(world), "--profiles", str(config.parent / "near.yaml")]
        with_setting = [*options, "--setting", "example.controllerName=example.com/two"]
        assert "NoEffect" in command("get", "colorpolicies", *options).out
        assert "Enforced" in command("get", "colorpolicies", *with_setting).out
        assert "is affected by 1 policy" in command("describe", "gateway/g", *with_setting).out
        assert "example.com/two" in command("explain", "colorpolicy", *with_setting).out


class TestOwner:
    def test_nobody_has_to_say_it(self, config: Path) -> None:
        assert owner_key() == ""
        config.write_text("profiles: []\n", "utf-8")
        assert owner_key() == ""

    def test_the_command_line_beats_it(self, config: Path, command: Command, manifests: Path) -> None:
        """What is said once for all holds unless something else is asked for."""
        config.write_text("owner: team\n", "utf-8")
        ask = ("blast-radius", "colorpolicy/red", "-n", "app", "--offline", manifests)
        assert "  team         no team label: 2\n" in command(*ask).out
        assert "  app          no app label: 2\n" in command(*ask, "--owner", "app").out
