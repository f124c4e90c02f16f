"""Options are read as kubectl reads them, and help lists each in its group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from typer.core import TyperOption

from kubectl_policy.cli import run
from kubectl_policy.cli.app import build_command, split_values
from kubectl_policy.cli.syntax import COMMANDS, HEADINGS
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command


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
        (["--render=0", "--complete=False", "--show-all=f"], {}),
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
