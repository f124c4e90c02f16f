"""`get`: arguments, options, formats, streams and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from kubectl_policy.cli.commands.get import LISTS
from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

TABLE = """\
NAME   KIND                    ENFORCEMENT   AFFECTS   TARGETS
red    ColorPolicy (assumed)   Enforced      2         HTTPRoute app/r
"""


def test_a_name_that_is_not_there_has_no_answer(command: Command, manifests: Path) -> None:
    assert command("get", "gateway", "g", "--offline", manifests) == (
        3,
        "",
        'error: gateway "g" not found in namespace default\nhint: it exists in namespace app: use gateway/app/g\n',
    )
    code, out, err = command("get", "httproutes", "r", "s", "-n", "app", "--offline", manifests)
    assert (code, out) == (3, "")
    assert 'httproutes "s" not found in namespace app' in err


def test_policies_are_listed(command: Command, manifests: Path) -> None:
    assert command("get", "policies", "-n", "app", "--offline", manifests) == (0, TABLE, "")


@pytest.mark.parametrize(
    "arguments",
    [["policy", "red"], ["policy/red"], ["colorpolicies"], ["ColorPolicy", "red", "red"], ["policies", "-l", "!a"]],
)
def test_policies_are_named_as_for_kubectl(command: Command, manifests: Path, arguments: list[str]) -> None:
    assert command("get", *arguments, "-n", "app", "--offline", manifests) == (0, TABLE, "")


def test_all_namespaces_can_be_listed(command: Command, manifests: Path) -> None:
    code, out, err = command("get", "gtw", "-A", "--offline", manifests)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "NAMESPACE   NAME   CLASS    PORTS   LISTENERS   ROUTES   POLICIES",
        "app         g      public   80      1           1        0",
    ]
    assert command("get", "gtw", "-A", "-n", "home", "--offline", manifests).out == out


def test_headers_can_be_left_out(command: Command, manifests: Path) -> None:
    out = command("get", "policies", "-n", "app", "--no-headers", "--offline", manifests).out
    assert out == "red   ColorPolicy (assumed)   Enforced   2   HTTPRoute app/r\n"


def test_nothing_is_said_as_kubectl_says_it(command: Command, manifests: Path) -> None:
    assert command("get", "policies", "--offline", manifests) == (
        0,
        "",
        "No resources found in default namespace.\nhint: there is 1 policy in namespace app: add -n app\n",
    )
    for output in ("wide", "name"):
        result = command("get", "grpcroutes", "-A", "-o", output, "--offline", manifests)
        assert result == (0, "", "No resources found\n")
    assert command("get", "gc", "--offline", manifests) == (0, "", "No resources found\n")


def test_an_empty_list_is_a_document(command: Command, manifests: Path) -> None:
    """A script need not tell it from another one."""
    code, out, err = command("get", "policies", "-o", "json", "--offline", manifests)
    assert (code, err, json.loads(out)["items"]) == (0, "", [])
    code, out, err = command("get", "policies", "-o", "yaml", "--offline", manifests)
    assert (code, err, yaml.safe_load(out)["items"]) == (0, "", [])


def test_a_list_is_a_document(command: Command, manifests: Path) -> None:
    arguments = ("get", "routes", "-n", "app", "--offline", manifests)
    document = json.loads(command(*arguments, "-o", "json").out)
    assert (document["kind"], document["items"][0]["object"]["name"]) == ("RouteList", "r")
    assert yaml.safe_load(command(*arguments, "-o", "yaml").out) == document


def test_names_can_be_given_to_other_commands(command: Command, manifests: Path) -> None:
    for arguments in ((), ("--sort-by", "affects")):
        result = command("get", "policies", "-n", "app", "-o", "name", *arguments, "--offline", manifests)
        assert result == (0, "colorpolicy.example.com/red\n", "")


def test_every_format_can_be_asked_for(command: Command, manifests: Path) -> None:
    for output in LISTS.formats:
        for argument in ("policies", "policykinds", "routes", "services"):
            code, out, err = command("get", argument, "-A", "-o", output, "--offline", manifests)
            assert (code, err) == (0, "")
            assert out.endswith("\n")


def test_a_part_of_a_document_can_be_asked_for(command: Command, manifests: Path) -> None:
    """In kubectl's templates; what is incomplete is said beside it, and what is none is refused before reading."""
    arguments = ("get", "policies", "-n", "app", "--offline", manifests, "-o")
    assert command(*arguments, "jsonpath={.items[*].policy.name}") == (0, "red", "")
    columns = command(*arguments, "custom-columns=NAME:.policy.name,STATE:.enforcement.state", "--no-headers")
    assert columns == (0, "red   Enforced\n", "")
    described = ("describe", "httproute/r", "-n", "app", "--offline", manifests)
    assert command(*described, "-o", "jsonpath=.subject.name") == (0, "r", "")
    message = '.items[*] has no field "metadata"; did you mean .items[*].policy.name?\n'
    assert command(*arguments, "jsonpath={.items[*].metadata.name}") == (0, "", message)
    (manifests / "broken.yaml").write_text("apiVersion: v1\nkind: {{ a }}\n", "utf-8")
    incomplete = command(*arguments, "jsonpath={.complete}")
    assert (incomplete.out, incomplete.err.splitlines()[0]) == (
        "false",
        "1 policy in namespace app, as far as could be read: 1 file may hold more.",
    )
    code, out, err = command("get", "policies", "-o", "jsonpath={.a")
    assert (code, out) == (2, "")
    assert err.startswith("error: a brace in -o jsonpath is not closed, or not opened\nhint: for example: ")


def test_a_name_that_nothing_has_can_be_ignored(command: Command, manifests: Path) -> None:
    arguments = ("get", "gateways", "none", "-n", "app", "--offline", manifests)
    assert command(*arguments).code == 3
    assert command(*arguments, "--ignore-not-found", "-o", "name")[:2] == (0, "")
    assert command(
        "get", "gateways", "g", *arguments[2:], "--ignore-not-found", "--show-kind", "--no-headers"
    ).out.startswith("gateway.gateway.networking.k8s.io/g   ")


def test_labels_can_be_columns(command: Command, manifests: Path) -> None:
    arguments = ("get", "routes", "-n", "app", "--no-headers", "--offline", manifests)
    plain = command(*arguments).out.rstrip("\n")
    columns = command(*arguments, "-L", "tier,a.b/zone", "-L", "app", "--show-labels")
    assert columns == (0, f"{plain}   <none>   <none>   <none>   <none>\n", "")
    refused = command("get", "effective", "-A", "-L", "tier", "--offline", manifests)
    assert (refused.code, refused.err.splitlines()[0]) == (2, "error: --label-columns is not for get effective")


def test_a_template_can_be_in_a_file(command: Command, manifests: Path, tmp_path: Path) -> None:
    """Columns are two lines there, as kubectl has them."""
    arguments, file = ("get", "policies", "-n", "app", "--offline", manifests, "-o"), tmp_path / "template"
    for kind, template, shown in (
        ("jsonpath", '{.items[*].policy.name}{"\\n"}\n', "red\n\n"),
        ("go-template", "{{range .items}}{{.policy.name}},{{end}}", "red,"),
        ("custom-columns", "NAME  STATE\n.policy.name   .enforcement.state\n\n", "NAME   STATE\nred    Enforced\n"),
    ):
        file.write_text(template, "utf-8")
        assert command(*arguments, f"{kind}-file={file}") == (0, shown, "")


_NO_COLUMNS: Final = (2, "FILE does not have a line of headers and a line of as many paths")


@pytest.mark.parametrize(
    ("output", "content", "failure"),
    [
        ("jsonpath", None, (2, "-o jsonpath has no template")),
        ("go-template=", None, (2, "-o go-template has no template")),
        ("custom-columns-file", None, (2, "-o custom-columns-file has no template")),
        ("go-template={{.a", None, (2, "-o go-template: 1:1: unclosed action")),
        ("jsonpath-file=FILE", None, (3, "cannot read the template FILE: No such file or directory")),
        ("jsonpath-file=/dev/zero", None, (3, "cannot read the template /dev/zero: it is a device, not a file")),
        ("go-template-file=FILE", b"\xff", (3, "cannot read the template FILE: it is not text")),
        (
            "go-template-file=FILE",
            b" " * (2**20 + 1),
            (3, "cannot read the template FILE: larger than 1 MiB: this is another kind of file"),
        ),
        ("jsonpath-file=FILE", b"{.a", (2, "a brace in -o jsonpath is not closed, or not opened")),
        ("custom-columns-file=FILE", b"", _NO_COLUMNS),
        ("custom-columns-file=FILE", b"A B\n.a\n", _NO_COLUMNS),
    ],
)
def test_a_template_that_is_none_is_refused_before_reading(
    command: Command, tmp_path: Path, output: str, content: bytes | None, failure: tuple[int, str]
) -> None:
    file, (code, message) = tmp_path / "template", failure
    if content is not None:
        file.write_bytes(content)
    refused = command("get", "policies", "-o", output.replace("FILE", str(file)))
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith(f"error: {message.replace('FILE', str(file))}\nhint: ")


def test_names_can_be_handed_to_describe(command: Command, manifests: Path) -> None:
    text = (manifests / "all.yaml").read_text("utf-8")
    (manifests / "other.yaml").write_text(text.replace("namespace: app", "namespace: other"), "utf-8")
    for argument in ("policies", "routes", "gateways,listeners", "services"):
        names = command("get", argument, "-A", "-o", "name", "--offline", manifests).out.split()
        assert {name.split("/")[1] for name in names} == {"app", "other"}
        code, out, _ = command("describe", *names, "--offline", manifests)
        assert (code, "app/" in out, "other/" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (0, "NAME   RULE      ColorPolicy\nr      rule[0]   color red\n", "")),
        (
            ["--field", "color, shade"],
            (0, "NAME   RULE      color   shade\nr      rule[0]   red     -\n", "shade is not in force anywhere"),
        ),
        (["--field", "color", "--missing"], (0, "", "No rule in namespace app lacks color; 1 was looked at.\n")),
        (
            ["--field", "shade", "--missing"],
            (0, "NAME   RULE      shade\n", "1 of 1 rule in namespace app has no shade on"),
        ),
        (
            ["--field", "shade", "--missing", "--exit-code"],
            (1, "NAME   RULE      shade\n", "1 of 1 rule in namespace app has no shade on"),
        ),
        (["--field", "color", "--missing", "--exit-code"], (0, "", "No rule in namespace app lacks")),
        (
            ["--of", "services", "--kind", "colorpolicy", "-o", "csv"],
            (0, "NAME,ColorPolicy,ColorPolicy FROM\ns,color red,", ""),
        ),
        (["r", "-o", "name"], (0, "httproute.gateway.networking.k8s.io/r\n", "")),
    ],
)
def test_what_is_in_force_can_be_listed(
    command: Command, manifests: Path, arguments: list[str], expected: tuple[int, str, str]
) -> None:
    result = command("get", "effective", "-n", "app", *arguments, "--complete", "--offline", manifests)
    code, out, err = expected
    assert result.code == code
    assert result.out.startswith(out)
    assert result.err.startswith(err)


def test_what_could_not_be_seen_may_be_missing(command: Command, manifests: Path) -> None:
    """Exit code 4, unless what was seen is to do; a list of what is in force is no such question."""
    (manifests / "broken.yaml").write_text("apiVersion: v1\nkind: {{ a }}\n", "utf-8")
    arguments = ("get", "effective", "-A", "--field", "shade", "--offline", manifests)
    result = command(*arguments, "--missing")
    assert (result.code, result.out.splitlines()[1].split()) == (4, ["app", "r", "rule[0]", "<unknown>"])
    assert command(*arguments, "--missing", "--allow-incomplete").code == 0
    assert command(*arguments).code == 0


@pytest.mark.parametrize("option", [["--kind", "a"], ["--field", "a"], ["--missing"], ["--exit-code"]])
def test_some_options_are_for_what_is_in_force(command: Command, option: list[str]) -> None:
    code, out, err = command("get", "policies", *option)
    assert (code, out) == (2, "")
    assert err == f"error: {option[0]} is for get effective\nhint: for example: get effective --field jwt --missing\n"


@pytest.mark.parametrize(
    "option", [["--sort-by", "a"], ["--all-kinds"], ["--enforcement", "Enforced"], ["--hostname", "a"]]
)
def test_some_options_are_not(command: Command, manifests: Path, option: list[str]) -> None:
    code, _, err = command("get", "effective", *option, "--offline", manifests)
    assert (code, err) == (2, f"error: {option[0]} is not for get effective\nhint: leave out {option[0]}\n")


@pytest.mark.parametrize("arguments", [["gateways,httproutes"], ["gateway/g", "httproute/r", "gateway/g"]])
def test_several_types_can_be_listed(command: Command, manifests: Path, arguments: list[str]) -> None:
    code, out, err = command("get", *arguments, "-n", "app", "--offline", manifests)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line] == [
        "NAME",
        "gateway.gateway.networking.k8s.io/g",
        "NAME",
        "httproute.gateway.networking.k8s.io/r",
    ]


def test_policies_can_be_left_by_their_state(command: Command, manifests: Path) -> None:
    arguments = ("get", "policies", "-n", "app", "--offline", manifests)
    assert command(*arguments, "--enforcement", "enforced").out == TABLE
    assert command(*arguments, "--enforcement", "Overridden,conflicted").out == ""
    assert command(*arguments, "--enforcement", "Overridden", "-o", "name").out == ""


def test_routes_can_be_looked_up_by_hostname(command: Command, manifests: Path) -> None:
    out = command("get", "routes", "-n", "app", "--hostname", "a.example", "-o", "name", "--offline", manifests).out
    assert out == "httproute.gateway.networking.k8s.io/r\n"


def test_names_keep_their_namespace_where_there_are_several(command: Command, manifests: Path) -> None:
    """So that they can be given to other commands, whatever namespace these look in."""
    out = command("get", "policies", "-A", "-o", "name", "--offline", manifests).out
    assert out == "colorpolicy.example.com/app/red\n"
    assert command("describe", out.strip(), "--offline", manifests).code == 0


def test_a_list_can_be_sorted(command: Command, manifests: Path) -> None:
    (manifests / "more.yaml").write_text(MANIFESTS.split("---\n")[-1].replace("name: red", "name: all", 1), "utf-8")

    def names(*arguments: str) -> list[str]:
        out = command("get", "policies", "-n", "app", "--no-headers", *arguments, "--offline", manifests).out
        return [line.split()[0] for line in out.splitlines()]

    assert names() == ["all", "red"]
    assert names("--sort-by", "overridden-by") == ["red", "all"]
    assert names("--sort-by", "ENFORCEMENT") == ["red", "all"]


def test_what_could_not_be_read_is_said(command: Command, manifests: Path) -> None:
    """Beside a table on standard error, within a document; what is unknown is not shown as 0."""
    (manifests / "broken.yaml").write_text("apiVersion: v1\nkind: {{ a }}\n", "utf-8")
    arguments = ("get", "gateways", "-n", "app", "--offline", manifests)
    code, out, err = command(*arguments)
    assert (code, out.splitlines()[1].split()[-1]) == (0, "0+")
    assert err.splitlines()[:2] == [
        "1 Gateway in namespace app, as far as could be read: 1 file may hold more.",
        "hint: a number that ends with + may be higher; -o yaml says what is not in the input",
    ]
    assert err.splitlines()[2].startswith("1 problem in the input: ")
    code, out, err = command(*arguments, "-o", "json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["complete"] is False
    assert document["unseen"][0]["origin"]["source"].endswith("broken.yaml")
    assert command("get", "gateways", "-o", "name", "--offline", manifests).err.splitlines()[0] == (
        "Whether there are any Gateways in namespace default is unknown: 1 file may hold more."
    )


@pytest.mark.parametrize("output", LISTS.formats)
def test_names_cannot_control_the_terminal(command: Command, tmp_path: Path, output: str) -> None:
    evil = "\\e[2J\\n[bold]x[/bold]\\u202e"
    text = MANIFESTS
    for name in ("name: red", "name: r,", "name: g,", "name: s,", "name: r}", "gatewayClassName: public"):
        text = text.replace(name, f'{name.partition(": ")[0]}: "{evil}"{name[-1] if name[-1] in ",}" else ""}')
    (tmp_path / "all.yaml").write_text(f"{text}---\nkind: {{{{ x }}}}\n", "utf-8")
    for argument in ("policies", "policykinds", "gateways", "routes", "services", "namespaces"):
        code, out, err = command("get", argument, "-A", "-o", output, "--offline", tmp_path)
        assert code == (4 if argument == "namespaces" else 0)
        assert all(line.isprintable() for line in (out + err).splitlines())
    code, out, err = command("get", "policies", "\x1b[2J", "-n", "app", "--offline", tmp_path)
    assert (code, out) == (3, "")
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "spec", ["[1, 2]", "{targetRefs: 7}", "{targetRefs: [7, {kind: [1]}]}", "text", "{parentRefs: [{name: [g]}, 3]}"]
)
@pytest.mark.parametrize("kind", ["ColorPolicy", "HTTPRoute", "Gateway", "Service", "GatewayClass"])
def test_a_field_of_the_wrong_type_is_no_reason_to_give_up(
    command: Command, manifests: Path, kind: str, spec: str
) -> None:
    groups = {"ColorPolicy": "example.com/v1", "Service": "v1"}
    (manifests / "odd.yaml").write_text(
        f"apiVersion: {groups.get(kind, 'gateway.networking.k8s.io/v1')}\nkind: {kind}\n"
        f"metadata: {{name: odd, namespace: app, labels: [a], creationTimestamp: 7}}\nspec: {spec}\n",
        "utf-8",
    )
    for argument in ("policies", "policykinds", "gateways", "routes", "services", "gatewayclasses", "namespaces"):
        code, _, err = command("get", argument, "-A", "-o", "wide", "--offline", manifests)
        assert code == 0, err
        assert "Traceback" not in err
