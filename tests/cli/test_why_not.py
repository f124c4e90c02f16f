"""`why-not`: arguments, formats, lines of files and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from kubectl_policy.cli.commands.why_not import WHY_NOT

if TYPE_CHECKING:
    from tests.cli.conftest import Command

BAKERY: Final = Path(__file__).parents[2] / "fixtures" / "bakery"
ASK: Final = ("why-not", "retrypolicy/own", "httproute/menu", "-n", "baker", "--offline", BAKERY)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["httproute/menu", "httproute/menu"], 2, "HTTPRoute baker/menu is not a policy"),
        (["retrypolicy/none", "httproute/menu"], 3, 'retrypolicy "none" not found in namespace baker'),
        (["retrypolicy/own", "httproute/none"], 3, 'httproute "none" not found in namespace baker'),
        (["retrypolicy/own", "service/cream"], 3, 'service "cream" not found in namespace baker'),
        (["retrypolicy/own", "httproute/menu", "--section", "x"], 3, "HTTPRoute baker/menu has no section x"),
        (["nothing/own", "httproute/menu"], 2, 'there is no resource type "nothing" in the input'),
    ],
)
def test_what_is_not_there_has_no_answer(command: Command, arguments: list[str], code: int, message: str) -> None:
    result = command("why-not", *arguments, "-n", "baker", "--offline", BAKERY)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"error: {message}\nhint: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("retrypolicy", "own", "httproute", "menu"),
        ("retrypolicy", "own", "httproute/menu"),
        ("retrypolicy/own", "httproute", "menu"),
        ("RetryPolicies", "baker/own", "httproutes", "baker/menu"),
    ],
)
def test_types_can_stand_before_names(command: Command, arguments: tuple[str, ...]) -> None:
    assert command("why-not", *arguments, "-n", "baker", "--offline", BAKERY) == command(*ASK)


def test_the_line_is_that_of_the_field(command: Command) -> None:
    """Of the reference in the policy, where the reason is and where the edit goes."""
    lines = (BAKERY / "policies.yaml").read_text("utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if "HTTPRoute, name: events" in line)
    code, out, err = command(*ASK)
    assert (code, err) == (0, "")
    assert out.count(f"policies.yaml:{number})") == 2
    document = json.loads(command(*ASK, "-o", "json").out)
    assert document["reasons"][0]["origin"]["line"] == number
    assert document["edit"]["origin"]["line"] == number


def test_without_such_a_field_it_is_that_of_the_object(command: Command) -> None:
    arguments = ("circuitbreakerpolicy/till-rush-hour", "service/till")
    out = command("why-not", *arguments, "-n", "baker", "--offline", BAKERY).out
    lines = (BAKERY / "policies.yaml").read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines, 1) if "name: till" in line) - 3
    # However long the path is, and wherever the line is broken for it.
    message = " ".join(out.split())
    assert f"delete CircuitBreakerPolicy baker/till ({BAKERY / 'policies.yaml'}:{start})" in message


@pytest.mark.parametrize("output", WHY_NOT.formats)
def test_every_format_says_the_same(command: Command, output: str) -> None:
    code, out, err = command(*ASK, "-o", output)
    assert (code, err) == (0, "")
    if output == "tree":
        assert out.startswith("RetryPolicy baker/own has no effect on HTTPRoute baker/menu: its target is HTTPRoute")
    else:
        document = yaml.safe_load(out)
        assert (document["kind"], document["policy"]["name"]) == ("EffectExplanation", "own")
        assert [change["field"] for change in document["edit"]["changes"]] == ["spec.targetRefs[1]"]


def test_the_target_can_be_in_another_namespace(command: Command) -> None:
    ask = ("why-not", "timeoutpolicy/strict", "httproute/menu", "-n", "infra", "--offline", BAKERY)
    assert command(*ask).code == 3
    out = command(*ask, "--target-namespace", "baker", "--section", "cream").out
    assert out.startswith("TimeoutPolicy infra/strict has an effect on HTTPRoute baker/menu, rule cream, on 1 of its 2")


def test_what_cannot_be_read_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: [", "utf-8")
    result = command(*ASK, "--offline", tmp_path)
    assert result.code == 0
    assert "as far as could be read: 1 file may hold more" in result.out.replace("\n  ", " ")
    assert "Could not be seen" in result.out


def test_what_is_offered_can_be_applied(command: Command, tmp_path: Path) -> None:
    """Nothing is in it that only an API server writes: of such an object it refuses `managedFields`, for one."""
    stored = {"uid": "u", "resourceVersion": "7", "generation": 1, "managedFields": [{"manager": "m"}]}
    objects = [item for file in sorted(BAKERY.glob("*.yaml")) for item in yaml.safe_load_all(file.read_text("utf-8"))]
    for item in objects:
        item["metadata"] |= stored
        item["status"] = {"conditions": []}
    (tmp_path / "stored.yaml").write_text(yaml.safe_dump_all(objects), "utf-8")
    asked = ("why-not", "retrypolicy/own", "httproute/menu", "-n", "baker", "--offline", tmp_path, "-o", "json")
    manifest = json.loads(command(*asked).out)["edit"]["manifest"]
    assert manifest["kind"] == "RetryPolicy"
    assert manifest["metadata"].keys() == {"name", "namespace"}
    assert "status" not in manifest
