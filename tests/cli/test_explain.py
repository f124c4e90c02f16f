"""`explain`: arguments, options, formats and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

PROFILE = "group: example.com\nkinds:\n  ColorPolicy: {class: direct, strategy: None, evidence: [it was always so]}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["widget"], 3, 'error: there is no policy kind "widget"\nhint: --offline PATH shows'),
        (["httproute"], 3, "error: HTTPRoute.gateway.networking.k8s.io is not a policy kind\nhint: "),
        (["backendtlspolicies"], 2, 'error: "backendtlspolicies" names several policy kinds\nhint: say which one: '),
        (["widget", "--offline", "/nowhere/at/all"], 3, "error: "),
        (["widget", "--profiles", "/nowhere/at/all"], 2, "error: /nowhere/at/all: cannot be read: No such file"),
    ],
)
def test_no_answer(command: Command, arguments: list[str], code: int, message: str) -> None:
    result = command("explain", *arguments)
    assert result[:2] == (code, "")
    assert result.err.startswith(message)


def test_a_built_in_kind_needs_no_input(command: Command) -> None:
    code, out, err = command("explain", "xbackendtrafficpolicy")
    assert (code, err) == (0, "")
    assert out.startswith("XBackendTrafficPolicy.gateway.networking.x-k8s.io is a direct policy kind: ")


@pytest.mark.parametrize(
    "name", ["colorpolicy", "ColorPolicies", "colorpolicy.example.com", "colorpolicy.v1.example.com"]
)
def test_a_kind_of_the_input(command: Command, manifests: Path, name: str) -> None:
    code, out, err = command("explain", name, "--offline", manifests)
    assert (code, err) == (0, "")
    assert out.startswith("ColorPolicy.example.com looks like an inherited policy kind: ")
    assert "in the input   1 policy: an HTTPRoute (1 reference)\n" in out


def test_a_profile_of_ones_own(command: Command, manifests: Path) -> None:
    """It needs no objects, and beats what they look like."""
    profile = manifests / "profile.txt"
    profile.write_text(PROFILE, "utf-8")
    alone = command("explain", "colorpolicy", "--profiles", profile)
    with_input = command("explain", "colorpolicy", "--offline", manifests / "all.yaml", "--profiles", profile)
    assert alone.out.startswith("ColorPolicy.example.com is a direct policy kind: ")
    assert f"{profile}:3\n" in alone.out
    assert with_input.out.startswith("ColorPolicy.example.com is a direct policy kind: ")


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_documents(command: Command, manifests: Path, output: str) -> None:
    code, out, err = command("explain", "colorpolicy", "-o", output, "--offline", manifests)
    assert (code, err) == (0, "")
    assert "PolicyKindExplanation" in out
    if output == "json":
        assert json.loads(out)["policyKind"] == {"group": "example.com", "kind": "ColorPolicy"}


def test_a_draft_can_be_used_at_once(command: Command, manifests: Path) -> None:
    code, out, err = command("explain", "colorpolicy", "--offline", manifests, "--draft-profile")
    assert (code, err) == (0, "")
    profile = manifests / "draft.txt"
    profile.write_text(out, "utf-8")
    arguments = ("describe", "httproute/r", "-n", "app", "--offline", manifests / "all.yaml")
    assert "assumed, because no profile covers it" in command(*arguments).out
    again = command(*arguments, "--profiles", profile)
    assert (again.code, again.err) == (0, "")
    assert "assumed" not in again.out


def test_what_was_wrong_with_the_input_is_mentioned(command: Command, manifests: Path) -> None:
    (manifests / "broken.yaml").write_text("apiVersion: v1\nkind: {{ a }}\n", "utf-8")
    arguments = ("explain", "colorpolicy", "--offline", manifests)
    shown, drafted = command(*arguments), command(*arguments, "--draft-profile")
    assert "as far as could be read: 1 file may hold more." in " ".join(shown.out.split())
    assert shown.err == ""
    assert drafted.err.startswith("1 problem in the input: ")
    assert "group: example.com" in drafted.out


def test_names_of_the_input_can_do_no_harm(command: Command, manifests: Path) -> None:
    """A group can be called anything in a manifest; there is no such API, so there is no such kind."""
    hostile = MANIFESTS.replace("example.com/v1", '"exa\\e[2J\\nmple.com/v1"')
    (manifests / "all.yaml").write_text(hostile, "utf-8")
    for option in ("--draft-profile", "--output=yaml", "--output=json", "--output=tree"):
        code, out, err = command("explain", "colorpolicy", "--offline", manifests, option)
        assert (code, out) == (3, "")
        assert all(line.isprintable() for line in err.split("\n"))
