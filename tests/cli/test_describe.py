"""`describe`: arguments, options, formats and exit codes."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.cli.describing import OBJECT_DESCRIPTION, POLICY_DESCRIPTION
from tests.cli.conftest import MANIFESTS
from tests.render.schema import VALIDATOR

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

HEADLINE = "HTTPRoute app/r is affected by 1 policy. "


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["httproute/x", "-n", "app"], 'error: httproute "x" not found in namespace app\n'),
        (["httproute/r"], "hint: it exists in namespace app: use httproute/app/r\n"),
        (["gateway/g", "-n", "app", "--section", "x"], "error: Gateway app/g has no section x\nhint: it has http\n"),
    ],
)
def test_what_is_not_there_has_no_answer(command: Command, manifests: Path, arguments: list[str], message: str) -> None:
    code, out, err = command("describe", *arguments, "--offline", manifests)
    assert (code, out) == (3, "")
    assert message in err


def test_a_policy_has_no_sections(command: Command, manifests: Path) -> None:
    assert command("describe", "colorpolicy/red", "-n", "app", "--section", "x", "--offline", manifests) == (
        2,
        "",
        "error: ColorPolicy app/red is a policy, and policies have no sections\nhint: leave out --section\n",
    )


@pytest.mark.parametrize(
    "arguments", [["httproute/app/r"], ["httproute", "app/r"], ["httproute/app/r", "-n", "elsewhere"]]
)
def test_a_name_can_have_its_namespace(command: Command, manifests: Path, arguments: list[str]) -> None:
    code, out, err = command("describe", *arguments, "--offline", manifests)
    assert (code, err) == (0, "")
    assert out.startswith(HEADLINE)


def test_what_has_no_namespace_is_named_without_one(command: Command, manifests: Path) -> None:
    assert command("describe", "gatewayclass/app/c", "--offline", manifests) == (
        2,
        "",
        "error: a GatewayClass is in no namespace\nhint: write gatewayclass/c\n",
    )


@pytest.mark.parametrize(
    "arguments", [["httproute/r"], ["HTTPRoute", "r"], ["httproutes", "r"], ["httproute.gateway.networking.k8s.io/r"]]
)
def test_an_object_is_named_as_for_kubectl(command: Command, manifests: Path, arguments: list[str]) -> None:
    code, out, err = command("describe", *arguments, "-n", "app", "--offline", manifests)
    assert (code, err) == (0, "")
    assert out.startswith(HEADLINE)


def test_manifests_can_name_the_objects(command: Command, manifests: Path, tmp_path: Path) -> None:
    """As for kubectl, `-f` says which objects are meant, and what these are in the input counts."""
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "a.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\n"
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: app}\n",
        "utf-8",
    )
    input_ = ("--default-namespace", "app", "--offline", manifests / "all.yaml")
    assert command("describe", "-f", tmp_path / "named", *input_) == command(
        "describe", "service/app/s", "httproute/app/r", *input_
    )
    listed = command("get", "-f", tmp_path / "named", *input_, "-o", "name")
    assert listed == (0, "service/app/s\nhttproute.gateway.networking.k8s.io/app/r\n", "")
    one = tmp_path / "one.yaml"
    one.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: t}\n", "utf-8")
    for arguments in (("describe",), ("get",)):
        code, out, err = command(*arguments, "-f", one, *input_)
        assert (code, out, err.splitlines()[0]) == (3, "", 'error: service "t" not found in namespace app')


@pytest.mark.parametrize("arguments", [["describe", "a/b"], ["get", "policies"], ["get", "-A"], ["get", "-l", "a"]])
def test_objects_are_named_in_one_way(command: Command, arguments: list[str]) -> None:
    code, out, err = command(*arguments, "-f", "x.yaml")
    assert (code, out) == (2, "")
    assert "by --filename" in err.splitlines()[0]
    assert "not both" in err.splitlines()[0]


def test_a_policy_can_be_described(command: Command, manifests: Path) -> None:
    out = command("describe", "colorpolicy/red", "-n", "app", "--offline", manifests).out
    assert out.startswith("ColorPolicy app/red → HTTPRoute app/r is enforced on its only path; it affects 2 objects")


def test_manifests_can_come_from_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MANIFESTS.encode())))
    assert command("describe", "httproute/r", "-n", "app", "--offline", "-").out.startswith(HEADLINE)


def test_where_manifests_are_that_name_no_namespace(command: Command, manifests: Path) -> None:
    """In `default` or where `--default-namespace` says; not in the namespace that is looked in."""
    (manifests / "all.yaml").write_text(MANIFESTS.replace(", namespace: app", ""), "utf-8")
    arguments = ("describe", "httproute/r", "--offline", manifests)
    assert command(*arguments).out.startswith(HEADLINE.replace("app/", "default/"))
    assert command(*arguments, "-n", "app", "--default-namespace", "app").out.startswith(HEADLINE)
    hint = "hint: it exists in namespace default: use httproute/default/r\n"
    assert command(*arguments, "-n", "app") == (3, "", f'error: httproute "r" not found in namespace app\n{hint}')


def test_values_of_variables(command: Command, manifests: Path) -> None:
    (manifests / "all.yaml").write_text(MANIFESTS.replace("app", "${AREA}"), "utf-8")
    arguments = ("describe", "httproute/r", "--offline", manifests, "-n", "app", "--set")
    assert command(*arguments, "AREA=app").out.startswith(HEADLINE)
    for refused in ("AREA", "=app", "1=app", "${AREA}=app"):
        message = f'error: "{refused}" gives no variable a value\nhint: write --set VARIABLE=VALUE\n'
        assert command(*arguments, refused) == (2, "", message)


@pytest.mark.parametrize("option", ["-n", "--default-namespace"])
def test_an_empty_namespace_is_as_if_it_was_left_out(command: Command, manifests: Path, option: str) -> None:
    """As for kubectl, and as scripts write it whose variable is not set."""
    (manifests / "all.yaml").write_text(MANIFESTS.replace(", namespace: app", ""), "utf-8")
    arguments = ("describe", "httproute/r", "--offline", manifests)
    assert command(*arguments, option, "") == command(*arguments)


def test_every_format_can_be_asked_for() -> None:
    assert OBJECT_DESCRIPTION.formats == POLICY_DESCRIPTION.formats
    assert {"tree", "table", "wide", "yaml", "json", "name"} <= set(OBJECT_DESCRIPTION.formats)


@pytest.mark.parametrize(
    "arguments",
    [("httproute/r", "gateway/g"), ("httproute/app/r", "gtw/app/g"), ("httproute/r", "gtw/g", "httproutes/r")],
)
def test_several_objects_are_described_one_after_another(
    command: Command, manifests: Path, arguments: tuple[str, ...]
) -> None:
    asked: tuple[str | Path, ...] = ("describe", *arguments, "-n", "app", "--offline", manifests)
    out = command(*asked).out
    route, gateway = (
        command("describe", argument, "-n", "app", "--offline", manifests).out for argument in arguments[:2]
    )
    assert out == f"{route}\n\n{gateway}"
    document = json.loads(command(*asked, "-o", "json").out)
    assert document["kind"] == "DescriptionList"
    assert [item["subject"]["name"] for item in document["items"]] == ["r", "g"]
    VALIDATOR.validate(document)


def test_several_objects_of_one_type_are_described(command: Command, manifests: Path) -> None:
    more = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: q, namespace: app}}\n"
    (manifests / "more.yaml").write_text(more, "utf-8")
    out = command("describe", "httproute", "r", "app/q", "-n", "app", "--offline", manifests).out
    assert out.startswith(HEADLINE)
    assert "\nNothing takes effect on HTTPRoute app/q, because it is attached to nothing.\n" in out
    arguments = ("describe", "httproute/r", "colorpolicy/red", "-n", "app", "--offline", manifests)
    settings, targets = command(*arguments, "-o", "table").out.split("\n\n")
    assert settings.splitlines()[1].split()[:3] == ["HTTPRoute", "app/r", "ColorPolicy.example.com"]
    assert targets.splitlines()[1].split()[0] == "app/red"
    assert command(*arguments, "-o", "table", "--color", "always").out.count("\n\n") == 1
    assert command(*arguments, "-o", "name").out.splitlines() == [
        "colorpolicy.example.com/red",
        "httproute.gateway.networking.k8s.io/r",
        "service/s",
    ]
    assert "ORIGIN" in command(*arguments, "-o", "wide").out
    assert "all.yaml:2" in command(*arguments, "-o", "wide").out


def test_one_kind_and_one_field_can_be_asked_for(command: Command, manifests: Path) -> None:
    arguments = ("-n", "app", "--offline", manifests)
    out = command("describe", "httproute/r", *arguments, "--kind", "colorpolicy", "--field", "color").out
    assert "affected by 1 policy, looking only at ColorPolicy and color." in " ".join(out.split())
    assert command("describe", "colorpolicy/red", *arguments, "--field", "nope").out.count("color ") == 0
    code, _, err = command("describe", "colorpolicy/red", *arguments, "--kind", "colorpolicy")
    assert (code, err) == (
        2,
        "error: ColorPolicy app/red is a policy, and --kind is for other objects\nhint: leave out --kind\n",
    )


def test_json_is_printed_as_it_is(command: Command, manifests: Path) -> None:
    code, out, _ = command("describe", "httproute/r", "-n", "app", "-o", "json", "--offline", manifests)
    assert (code, json.loads(out)["subject"]["name"]) == (0, "r")


def test_an_empty_table_is_explained(command: Command, manifests: Path) -> None:
    code, out, err = command("describe", "gateway/g", "-n", "app", "-o", "table", "--offline", manifests)
    assert (code, out) == (0, "")
    assert err.startswith("No policy affects Gateway app/g: no policy kind in the input targets Gateways. ")


DOUBLE = "{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: far}, spec: {type: %s}}\n---\n"


def test_problems_elsewhere_are_mentioned_in_one_line(command: Command, manifests: Path) -> None:
    """They are not part of the answer, but nobody should have to guess."""
    twice = "".join(DOUBLE % (name, kind) for name in ("a", "b") for kind in ("ClusterIP", "NodePort"))
    (manifests / "more.yaml").write_text(twice, "utf-8")
    code, _, err = command("describe", "gateway/g", "-n", "app", "--offline", manifests, "-o", "table")
    assert code == 0
    assert err.splitlines()[1].startswith("2 problems in the input, for example: ")
    assert "Service far/a is also in" in err.splitlines()[1]


def test_what_was_not_applied_is_mentioned_in_one_line(command: Command, manifests: Path) -> None:
    """What --render would apply; neither what serves that, nor what was left out on purpose."""
    arguments = ("describe", "gateway/g", "-n", "app", "--offline", manifests)
    listed = "resources: [all.yaml]\npatches: [{path: one.yaml}, {path: two.yaml}]\n"
    (manifests / "kustomization.yaml").write_text(f"{listed}configurations: [three.yaml]\n", "utf-8")
    patch = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g}\n"
    for name in ("one", "two", "three"):
        (manifests / f"{name}.yaml").write_text(patch, "utf-8")
    message = "2 patches were not applied: --render"
    assert message in command(*arguments, "-o", "json").err.splitlines()
    assert message in command("explain", "colorpolicy", "--draft-profile", "--offline", manifests).err.splitlines()
    (manifests / "kustomization.yaml").write_text("resources: [all.yaml]\npatches: [{path: one.yaml}]\n", "utf-8")
    err = command(*arguments, "--exclude", "two.yaml", "--exclude", "three.yaml").err
    assert "1 patch was not applied: --render" in err.splitlines()
    assert "excluded" not in err


def test_problems_of_the_answer_are_not_mentioned_again(command: Command, manifests: Path) -> None:
    """What could not be read is in the answer; `more` are those that the answer does not show."""
    (manifests / "broken.yaml").write_text("apiVersion: v1\nkind: {{ a }}\n", "utf-8")
    arguments = ("describe", "gateway/g", "-n", "app", "--offline", manifests)
    _, out, err = command(*arguments)
    assert "Whether a policy affects Gateway app/g is unknown: 1 file may hold more." in " ".join(out.split())
    assert err == ""
    (manifests / "more.yaml").write_text(DOUBLE % ("a", "ClusterIP") + DOUBLE % ("a", "NodePort"), "utf-8")
    assert command(*arguments).err.startswith("1 more problem in the input: ")


def test_an_incomplete_world_can_be_closed(command: Command, manifests: Path) -> None:
    (manifests / "more.yaml").write_text(
        "{apiVersion: example.com/v1, kind: ColorPolicy, metadata: {name: lost, namespace: app},"
        " spec: {targetRef: {group: gateway.networking.k8s.io, kind: GRPCRoute, name: x}}}\n",
        "utf-8",
    )
    arguments = ("describe", "colorpolicy/lost", "-n", "app", "--offline", manifests)
    assert command(*arguments).out.startswith("Whether ColorPolicy app/lost has an effect is unknown: ")
    assert command(*arguments, "--complete").out.startswith(
        "ColorPolicy app/lost has no effect: GRPCRoute app/x does not exist."
    )


def test_profiles_say_what_is_known_of_a_kind(command: Command, manifests: Path) -> None:
    profile = manifests / "profile.txt"
    arguments = ("describe", "httproute/r", "-n", "app", "--offline", manifests / "all.yaml", "--profiles", profile)
    profile.write_text(
        "group: example.com\nkinds:\n  ColorPolicy:\n"
        "    {class: inherited, strategy: Patch defaults, evidence: [its documentation says so]}\n",
        "utf-8",
    )
    assert "(assumed)" not in command(*arguments).out
    profile.write_text("group: 1\n", "utf-8")
    assert command(*arguments).code == 2


def test_columns_sets_the_width(command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = command("describe", "httproute/r", "-n", "app", "--offline", manifests).out
    assert max(map(len, out.splitlines())) <= 60
    assert "\nrule[0] ▸ Service app/s:80\n" in out
