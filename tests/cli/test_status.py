"""`status`: arguments, formats, streams and exit codes, also for input that means harm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from kubectl_policy.cli.commands.status import STATUS
from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from tests.cli.conftest import Command

REPORTED: Final = Path(__file__).parents[2] / "fixtures" / "reported"
OUTPUTS: Final = STATUS.formats
HEADLINE: Final = "4 of 17 conditions and numbers disagree with what is computed"


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_exit_code_says_that_something_disagrees(command: Command, output: str) -> None:
    """In every format, and only if it is asked for."""
    ask = ("status", "-A", "--offline", REPORTED, "-o", output)
    assert command(*ask).code == 0
    assert command(*ask, "--exit-code").code == 1
    assert command("status", "btp/cart-retries", "-n", "shop", "--exit-code", "--offline", REPORTED).code == 0


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_exit_code_says_that_the_answer_is_incomplete(command: Command, tmp_path: Path, output: str) -> None:
    """A file that could not be read might change either answer, unless a person says not to mind."""
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: [", "utf-8")
    (tmp_path / "fine.yaml").write_text(MANIFESTS, "utf-8")
    fine = ("status", "-A", "--offline", tmp_path, "-o", output)
    wrong = (*fine, "--offline", REPORTED)
    assert [command(*ask).code for ask in (fine, wrong)] == [0, 0]
    assert [command(*ask, "--exit-code").code for ask in (fine, wrong)] == [4, 4]
    assert [command(*ask, "--exit-code", "--allow-incomplete").code for ask in (fine, wrong)] == [0, 1]
    result = command(*fine)
    message = " ".join((result.out + result.err).split())
    assert "as far as could be read: 1 file may hold more." in message
    assert "broken.yaml" in message


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_exit_code_says_that_a_report_cannot_be_judged(command: Command, output: str) -> None:
    """Where the targets were not read, nobody knows whether the reports are right: that is no clean bill of health."""
    ask = ("status", "-A", "--exit-code", "--offline", REPORTED / "policies.yaml", "-o", output)
    assert command(*ask).code == 4
    assert command(*ask, "--allow-incomplete").code == 0
    assert command(*ask, "--complete").code == 1


@pytest.mark.parametrize("output", ["table", "wide", "name"])
def test_rows_go_to_standard_output_and_the_first_sentence_beside_them(command: Command, output: str) -> None:
    code, out, err = command("status", "-A", "--offline", REPORTED, "-o", output)
    assert code == 0
    assert HEADLINE in err
    assert HEADLINE not in out
    assert len(out.splitlines()) == 4 + (output != "name")


def test_a_table_of_everything(command: Command) -> None:
    _, narrow, _ = command("status", "-A", "--offline", REPORTED, "-o", "table", "--show-all")
    _, wide, _ = command("status", "-A", "--offline", REPORTED, "-o", "wide", "--show-all")
    assert len(narrow.splitlines()) == len(wide.splitlines()) == 1 + 17 + 2
    (stale,) = (line for line in wide.splitlines() if "search-login" in line)
    assert re.search(r"gateway.envoyproxy.io/gatewayclass-controller +3 +4 ", stale)
    assert "No section name login found for HTTPRoute shop/search" in stale


def test_documents_carry_both_sides(command: Command) -> None:
    _, out, err = command("status", "-A", "--offline", REPORTED, "-o", "json")
    result = json.loads(out)
    assert result == yaml.safe_load(command("status", "-A", "--offline", REPORTED, "-o", "yaml").out)
    assert err == ""
    assert (result["compared"], result["disagreeing"], result["undecided"], result["complete"]) == (17, 4, 0, True)
    (item,) = (one for one in result["items"] if one["object"]["name"] == "search-login")
    (condition,) = item["conditions"]
    assert (item["generation"], condition["observedGeneration"], condition["stale"]) == (4, 3, True)
    assert (condition["verdict"], condition["explanation"]) == ("Differs", "older generation")
    assert condition["reported"]["reason"] == "TargetNotFound"
    assert condition["computed"]["status"] == "True"


def test_manifests_without_any_status_have_nothing_to_compare(command: Command, manifests: Path) -> None:
    code, out, err = command("status", "-A", "--exit-code", "--offline", manifests)
    assert (code, err) == (0, "")
    assert out.startswith(
        "Nothing to compare: no controller has reported on any of 1 policy and 1 HTTPRoute in the input.\n"
    )
    assert (
        "kubectl get gatewayclasses,colorpolicies.example.com,httproutes.gateway.networking.k8s.io -A -o yaml | " in out
    )


def test_where_else_there_are_policies_is_said(command: Command, manifests: Path) -> None:
    code, out, err = command("status", "--offline", manifests)
    assert (code, out) == (0, "Nothing to compare: no policies in namespace default.\n")
    assert err == "hint: there is 1 policy in namespace app: add -n app\n"


@pytest.mark.parametrize(
    ("argument", "one", "many"), [("routes", "route", "routes"), ("httproute", "HTTPRoute", "HTTPRoutes")]
)
def test_where_else_there_is_what_was_asked_for_is_said_by_its_name(
    command: Command, manifests: Path, argument: str, one: str, many: str
) -> None:
    code, out, err = command("status", argument, "--offline", manifests)
    assert (code, out) == (0, f"Nothing to compare: no {many} in namespace default.\n")
    assert err == f"hint: there is 1 {one} in namespace app: add -n app\n"


HOSTILE: Final = (
    "status: {conditions: text, ancestors: {a: b}}",
    "status: [1, 2]",
    "status: {conditions: [1, null, {type: [x], status: {}, reason: 7, observedGeneration: new}]}",
    'status: {ancestors: [{ancestorRef: 7, controllerName: [x], conditions: [{type: "\\e[31mR", status: "\\e]0;x"}]}]}',
    'status: {conditions: [{type: "{seen}", status: "{0}", message: "[bold]\\u202e"}], listeners: [{name: "\\e[2J"}]}',
    "status: {parents: [{parentRef: {name: g, port: x}, conditions: [{}]}, {parentRef: {name: g}}]}",
    f"status: {{conditions: [{', '.join(['{type: T, status: x}'] * 1_000)}]}}",
    "status: {ancestors: ["
    + ", ".join(f"{{ancestorRef: {{name: g{n}}}, controllerName: c{n}}}" for n in range(500))
    + "]}",
)


@pytest.mark.unmeasured
@pytest.mark.parametrize("status", HOSTILE, ids=range(len(HOSTILE)))
def test_a_status_that_means_harm(command: Command, tmp_path: Path, status: str) -> None:
    text = "---\n".join(f"{document}{status}\n" for document in MANIFESTS.split("---\n"))
    (tmp_path / "all.yaml").write_text(text, "utf-8")
    for output in OUTPUTS:
        for arguments in ((), ("gateways",), ("routes",)):
            code, out, err = command("status", *arguments, "-A", "--show-all", "--offline", tmp_path, "-o", output)
            assert code == 0, (output, err)
            assert "Traceback" not in out + err
            assert all(line.isprintable() for line in (out + err).split("\n"))
