"""Command lines that are read without typer mean what they mean to typer, and all others are left to it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.cli import COMMANDS, by_typer
from kubectl_policy.cli.parameters import Command, Option, read_plain
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Command as Runner

PROGRAM: Final = "kubectl policy"
NAMES: Final = sorted(COMMANDS)
VALUES: Final = (
    "a/b",
    "x",
    "-",
    "",
    "json",
    "jsonpath={.a}",
    "always",
    "7",
    "0",
    "--",
    "-x",
    "--help",
    "-h",
    "a=b",
    "-n=a",
)


def command_named(name: str) -> Command:
    """A command."""
    command: Command = getattr(import_module(f"kubectl_policy.cli.{COMMANDS[name]}"), name.replace("-", "_"))
    return command


def by_typer_given(name: str, words: list[str]) -> dict[str, Any] | None:
    """What typer takes words for; None where it refuses them, or shows help."""
    found: list[dict[str, Any]] = []

    def run(program: str, given: dict[str, Any]) -> int:
        assert program == PROGRAM
        found.append(given)
        return 0

    try:
        by_typer.run([name, *words], PROGRAM, {name: Command("", command_named(name).parameters, run)}, "")
    except UsageError:
        return None
    return found[0] if found else None


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A command, and words that are options of its own, values, mistakes, or requests for help."""
    name = draw(st.sampled_from(NAMES))
    values = st.sampled_from(VALUES)
    words: list[str] = []
    for _ in range(draw(st.integers(0, 5))):
        option = draw(
            st.sampled_from(["", *(each for parameter in command_named(name).parameters for each in parameter.names)])
        )
        joined = draw(st.booleans())
        words += [f"{option}={draw(values)}"] if joined else [option, draw(values)] if draw(st.booleans()) else [option]
    return name, words


@given(command_lines())
def test_what_is_plain_means_the_same(line: tuple[str, list[str]]) -> None:
    """Whatever is read as plain."""
    name, words = line
    plain = read_plain(command_named(name).parameters, words)
    if plain is not None:
        told = by_typer_given(name, words)
        assert told is not None
        assert {key: value or None for key, value in plain.items()} == {
            key: value or None for key, value in told.items()
        }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["httproute/r", "-n", "app", "--blame"], {"objects": ["httproute/r"], "namespace": "app", "blame": True}),
        (["--offline", "-", "--offline=a=b", "-"], {"offline": ["-", "a=b"], "objects": ["-"]}),
        (["-n", "a", "--namespace", "-b"], {"namespace": "-b"}),
        (["-napp", "-n=app"], {"namespace": "=app"}),
        (["-o", "json", "--color", "never"], {"output": "json", "color": "never"}),
        (["--namespace", "--offline"], {"namespace": "--offline"}),
    ],
)
def test_what_is_plain(words: list[str], expected: dict[str, object]) -> None:
    """Options in full with their values, and words."""
    parameters = command_named("describe").parameters
    read = read_plain(parameters, words)
    assert read == {each.name: each.default for each in parameters} | expected


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["-h"],
        ["--blam"],
        ["-x"],
        ["--blame=yes"],
        ["--", "httproute/r"],
        ["--nothing"],
        ["httproute/r", "-n"],
        ["--color", "pink"],
        ["-o", "pink"],
    ],
)
def test_what_is_not_plain(words: list[str]) -> None:
    """Help, what is short for something, and mistakes."""
    assert read_plain(command_named("describe").parameters, words) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["policies", "-An", "app"], {"all_namespaces": True, "namespace": "app"}),
        (["policies", "-Aoyaml"], {"all_namespaces": True, "output": "yaml"}),
        (["policies", "-AA"], {"all_namespaces": True}),
        (["policies", "-Ax"], None),
        (["policies", "-An"], None),
    ],
)
def test_short_options_in_one_word(words: list[str], expected: dict[str, object] | None) -> None:
    """Those that take no value, and behind them one that does."""
    read = read_plain(command_named("get").parameters, words)
    assert (read is None) == (expected is None)
    if expected is not None:
        assert read == by_typer_given("get", words)
        assert {**(read or {}), **expected} == read


def test_numbers_are_left_to_typer() -> None:
    """Which knows what they may be."""
    parameters = command_named("history").parameters
    (limit,) = (each for each in parameters if each.name == "limit")
    assert isinstance(limit.declared, Option)
    assert limit.declared.least == 1
    assert read_plain(parameters, ["--limit", "5"]) is None
    assert by_typer_given("history", ["--limit", "0"]) is None
    assert (by_typer_given("history", ["--limit", "5"]) or {})["limit"] == 5


def test_options_stay_options_behind_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where `getopt` is told that they are none."""
    monkeypatch.setenv("POSIXLY_CORRECT", "1")
    assert read_plain(command_named("describe").parameters, ["httproute/r", "-n", "app"]) is None


@pytest.mark.parametrize("columns", ["80", "100"])
def test_help_is_as_typer_lays_it_out(
    columns: str, command: Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is room for it."""
    monkeypatch.setenv("COLUMNS", columns)
    by_typer.run([], PROGRAM, {name: command_named(name) for name in COMMANDS}, "")
    expected = capsys.readouterr().out
    assert command("--help") == (0, expected, "")


def test_help_where_there_is_less_room(command: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is laid out for that."""
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = command("--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 60
