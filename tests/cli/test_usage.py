"""Options are read as kubectl reads them; wrong usage of any command is exit code 2, with the problem and a hint."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

import pytest
from typer.core import TyperOption

from kubectl_policy.cli import run
from kubectl_policy.cli.app import build_command, split_values
from kubectl_policy.cli.syntax import COMMANDS, HEADINGS
from kubectl_policy.errors import UsageError
from kubectl_policy.resolution.enforcement import ENFORCEMENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

_DESCRIBE: Final = ("describe takes TYPE/NAME... or TYPE NAME...", "for example: describe httproute/NAME")
_DIFF: Final = (
    "diff takes two states, or the input and what is to be changed in it",
    "for example: diff main:manifests manifests, or diff -f change.yaml --offline manifests",
)
_EXPLAIN: Final = ("explain takes one policy kind", "for example: explain xbackendtrafficpolicy")
_GET_EXAMPLE: Final = "for example: get policies, get policykinds, get gateways, get routes, get services, get pods"
_GET: Final = ("get takes TYPE, TYPE NAME... or TYPE/NAME...", _GET_EXAMPLE)
_STATUS_EXAMPLE: Final = "for example: status, status policies, status gateways, status httproute/baker"
_WHY_NOT: Final = (
    "why-not takes a policy and an object, or two ends of a connection, each as TYPE/NAME or TYPE NAME",
    "for example: why-not retrypolicy/own httproute/menu, or why-not pod/web svc/cart --port 80",
)
_BLAST_RADIUS: Final = (
    "blast-radius takes one object, as TYPE/NAME or TYPE NAME",
    "for example: blast-radius httproute/NAME",
)
_ALL_NAMESPACES: Final = (
    "objects are named or picked by --all-namespaces, not both",
    "leave out --all-namespaces, or the names",
)
_SHELLS: Final = "it is one of bash, fish, kubectl, zsh"


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("frobnicate", "no such command 'frobnicate'", "kubectl policy --help lists what there is"),
        (
            f"describe a/b --offline {'x' * 100_000}",
            "an argument has 100,000 characters",
            "no more than 16,384 are read",
        ),
        *((f"describe {arguments}", *_DESCRIBE) for arguments in ("", "a/b c", "a b c/", "httproute/")),
        *((f"diff {arguments}", *_DIFF) for arguments in ("", "a", "a b c", "--offline x")),
        (
            "diff a b --delete x/y",
            "two states are compared as they are",
            "leave out --offline, -f, --delete and --retarget",
        ),
        *((f"explain {arguments}", *_EXPLAIN) for arguments in ("", "a b", "colorpolicy/red")),
        ("explain a --draft-profile -o json", "--draft-profile has a format of its own", "leave out --output"),
        ("get", "the type of objects to list is missing", _GET_EXAMPLE),
        *((f"get {arguments}", *_GET) for arguments in ("gateways,", "gateways,routes/r", "gateway gateway/")),
        *((f"get {arguments}", *_GET) for arguments in ("gateway/", "a/b/c/d")),
        (
            "get effective,routes",
            "effective cannot be listed with other types",
            "for example: get effective --of routes",
        ),
        (
            "get policies --enforcement enforced,odd",
            'there is no enforcement "odd"',
            f"it is one of {', '.join(ENFORCEMENT)}",
        ),
        ("get gateway/g -A", *_ALL_NAMESPACES),
        (
            "get gateways g -l a=b",
            "objects are named or picked by --selector, not both",
            "leave out --selector, or the names",
        ),
        (
            "status httproute/a --field-selector metadata.name=b",
            "objects are named or picked by --field-selector, not both",
            "leave out --field-selector, or the names",
        ),
        (
            "get routes --field-selector hostnames",
            "invalid field selector: 'hostnames'; can't understand 'hostnames'",
            "for example: --field-selector metadata.name=web,metadata.namespace!=test",
        ),
        (
            "get gateways -l 'a b'",
            '"a b" is not a label selector: "b" is where one of =, ==, !=, in, notin should be',
            "for example: -l 'app=shop,tier in (front, back),!canary'",
        ),
        ("status gateways,routes", "status takes one type at a time", _STATUS_EXAMPLE),
        ("status a/b/c/d", "status takes TYPE, TYPE NAME... or TYPE/NAME...", _STATUS_EXAMPLE),
        ("status gateway/g -A", *_ALL_NAMESPACES),
        *((f"why-not {arguments}", *_WHY_NOT) for arguments in ("", "retrypolicy", "a/b c/", "a/b c", "a b c")),
        *(
            (f"why-not {arguments}", *_WHY_NOT)
            for arguments in ("a/b c/d e/f", "a/b c/d e", "a/b/c/d e/f", "a b c d e f")
        ),
        *(
            (f"why-not {arguments}", f"{_WHY_NOT[0]}, and there is only retrypolicy/own", _WHY_NOT[1])
            for arguments in ("retrypolicy/own", "retrypolicy own")
        ),
        *((f"blast-radius {arguments}", *_BLAST_RADIUS) for arguments in ("", "a/b c/d")),
        ("completion", "the shell is missing", _SHELLS),
        ("completion csh", "there is no completion for csh", _SHELLS),
        ("completion bash zsh", "there is no completion for bash zsh", _SHELLS),
    ],
)
def test_arguments(command: Command, line: str, message: str, hint: str) -> None:
    assert command(*shlex.split(line)) == (2, "", f"error: {message}\nhint: {hint}\n")


@pytest.mark.parametrize("name", ["describe", "get", "explain", "why-not"])
def test_unknown_options(command: Command, name: str) -> None:
    code, out, err = command(name, "--nope")
    assert (code, out) == (2, "")
    assert err.startswith("error: no such option: --nope")
    assert err.endswith(f"\nhint: kubectl policy {name} --help lists what there is\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("--blam", "no such option: --blam (Possible options: --as, --blame, --filename)"),
        ("-Ax", "no such option: -A"),
        ("-x=1", "no such option: -x"),
        ("--nothing=1", "no such option: --nothing"),
        ("--blame=yes", "invalid value for '--blame': 'yes' is not a boolean"),
        ("-w=", "invalid value for '-w': '' is not a boolean"),
        ("httproute/r -n", "option '-n' requires an argument"),
        ("--color pink", "invalid value for '--color': 'pink' is not one of 'auto', 'always', 'never'"),
        ("-o pink", "invalid value for '--output' / '-o': 'pink' is not one of 'tree', 'table'"),
    ],
)
def test_options(command: Command, arguments: str, problem: str) -> None:
    code, out, err = command("describe", *arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {problem}")
    assert err.splitlines()[1].startswith("hint: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("describe widget/r", 'error: there is no resource type "widget" in the input\n'),
        ("describe httproute", "error: the name of the httproute is missing\nhint: for example: httproute/app/r\n"),
        ("describe httproutes", "error: the name of the httproutes is missing\nhint: for example: httproutes/app/r\n"),
        ("describe grpcroute", "error: the name of the grpcroute is missing\nhint: for example: grpcroute/NAME\n"),
        ("describe red", 'type "red" in the input\nhint: did you mean colorpolicy/app/red?\n'),
        ("describe zzz", 'type "zzz" in the input\nhint: write TYPE/NAME, such as gateway/edge\n'),
        ("blast-radius gateway", "error: the name of the gateway is missing\nhint: "),
        ("get widgets", 'error: there is no resource type "widgets" in the input\n'),
        ("get routs", "hint: did you mean route"),
        ("get gateways -A -o tree", "error: invalid value for '--output' / '-o': 'tree' is not one of 'table'"),
        ("get gateways -A --sort-by color", 'error: cannot sort by "color": there is no such column\n'),
        ("get gateways -A --sort-by .spec.color", "none of the listed objects has this field\n"),
        ("get gateways --sort-by color -o name", "hint: sort by a field such as .metadata.name, or by NAME"),
        (
            "status services -A",
            "is not computed\nhint: ask for policies, gateways, listenersets or routes, or for one kind of these\n",
        ),
    ],
)
def test_questions_about_manifests(command: Command, manifests: Path, line: str, message: str) -> None:
    code, out, err = command(*line.split(), "--offline", manifests)
    assert (code, out) == (2, "")
    assert message in err


def test_version(command: Command) -> None:
    code, out, err = command("version", "-o", "tree")
    assert (code, out) == (2, "")
    assert "'tree' is not one of 'json', 'yaml'" in err
    assert command("version", "x").code == 2


def parsed(name: str, *arguments: str) -> dict[str, Any]:
    """The values that a command receives for words, except those that are left out."""
    command = build_command(name)
    given = command.make_context("kubectl policy", list(arguments)).params
    without: dict[str, Any] = command.make_context("kubectl policy", []).params
    values = {parameter: value for parameter, value in given.items() if value != without[parameter]}
    return {parameter: list(value) if isinstance(value, tuple) else value for parameter, value in values.items()}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {}),
        (["httproute/r", "-n", "app", "--blame"], {"objects": ["httproute/r"], "namespace": "app", "blame": True}),
        (["--offline", "-", "--offline=a=b", "-"], {"offline": ["-", "a=b"], "objects": ["-"]}),
        (["-n", "a", "--namespace", "-b"], {"namespace": "-b"}),
        (["-napp"], {"namespace": "app"}),
        (["-n=app"], {"namespace": "app"}),
        (["-n", "=app"], {"namespace": "=app"}),
        (["--namespace=app"], {"namespace": "app"}),
        (["--namespace="], {}),
        (["-n="], {}),
        (["-o", "json", "--color", "never"], {"output": "json", "color": "never"}),
        (["-o=json"], {"output": "json"}),
        (["-ojson"], {"output": "json"}),
        (["-ojsonpath={.a=b}"], {"output": "jsonpath={.a=b}"}),
        (["-o=jsonpath={.a}"], {"output": "jsonpath={.a}"}),
        (["--namespace", "--offline"], {"namespace": "--offline"}),
        (["--set", "-w=false"], {"variables": ["-w=false"]}),
        (["--", "httproute/r", "--render"], {"objects": ["httproute/r", "--render"]}),
    ],
)
def test_options_with_values(arguments: list[str], expected: dict[str, object]) -> None:
    assert parsed("describe", *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-An", "app"], {"all_namespaces": True, "namespace": "app"}),
        (["-Aoyaml"], {"all_namespaces": True, "output": "yaml"}),
        (["-Ao=yaml"], {"all_namespaces": True, "output": "yaml"}),
        (["-AA"], {"all_namespaces": True}),
        (["-A=true"], {"all_namespaces": True}),
        (["-A=false"], {}),
        (["-Aw=false"], {"all_namespaces": True}),
        (["-A", "--all-namespaces=F"], {}),
        (["--all-namespaces=0", "-A"], {"all_namespaces": True}),
        (["--all-namespaces=T"], {"all_namespaces": True}),
        (["--render=1", "--complete=TRUE", "--show-all=t"], {"render": True, "complete": True, "show_all": True}),
        (["--render=0", "--complete=False", "--show-all=f"], {"render": False}),
        (["--no-render=false"], {"render": True}),
        (["--render=false", "--no-render=false"], {"render": True}),
    ],
)
def test_flags_with_values(arguments: list[str], expected: dict[str, object]) -> None:
    """As Go reads booleans; the last one of several counts."""
    assert parsed("get", *arguments) == expected


def test_numbers_are_bounded(command: Command) -> None:
    assert parsed("history", "--limit", "5") == {"limit": 5}
    assert command("history", "--limit", "0").code == 2
    assert command("history", "--limit", "many").code == 2


def test_an_option_that_is_unknown_keeps_its_value() -> None:
    assert split_values([], ["--a=b", "-cd", "x"]) == (["--a=b", "-cd", "x"], set())
    with pytest.raises(UsageError, match="is not a boolean"):
        split_values(build_command("get").params, ["-A=x"])


def test_an_empty_value_counts_as_left_out(command: Command, manifests: Path) -> None:
    """As of a variable that is not set; kubectl does so as well."""
    arguments = ("describe", "httproute/app/r", "--offline", manifests)
    assert command(*arguments, "-n", "", "-o", "", "--cluster=") == command(*arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_a_group(name: str) -> None:
    headings = {getattr(parameter, "rich_help_panel", None) for parameter in build_command(name).params}
    assert headings <= {*HEADINGS, None}
    loose = [
        option.name
        for option in build_command(name).params
        if isinstance(option, TyperOption) and not option.hidden and not getattr(option, "rich_help_panel", None)
    ]
    assert loose == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_commands_say(name: str) -> None:
    assert (build_command(name).help or "").splitlines()[0] == COMMANDS[name].summary


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_fits_in_80_columns(
    name: str, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run([*([name] if name else []), "--help"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    wide = [line for line in text.splitlines() if len(line) > 80 and not line.strip().startswith(("-", "Usage"))]
    examples = text.partition("Examples:")[2].partition("\n\n")[0]
    assert [line for line in wide if line not in examples] == []


def test_help_where_there_is_less_room(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = command("--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 60
