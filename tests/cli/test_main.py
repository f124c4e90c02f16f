"""The entry: help, version, errors, streams, and what starting costs."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kubectl_policy import __version__
from kubectl_policy.__main__ import main
from kubectl_policy.cli import program_name, run, terminal
from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.cli.conftest import Command

MODULE = (sys.executable, "-m", "kubectl_policy")


@pytest.mark.parametrize(
    ("argv0", "name"),
    [
        ("/usr/local/bin/kubectl-policy", "kubectl policy"),
        ("kubectl-policy.exe", "kubectl policy"),
        ("kubectl-gateway_policy", "kubectl gateway-policy"),
        ("/somewhere/kubectl_policy/__main__.py", "python -m kubectl_policy"),
        ("policy", "policy"),
    ],
)
def test_usage_shows_how_the_command_was_called(argv0: str, name: str) -> None:
    assert program_name(argv0) == name


@pytest.mark.parametrize(
    ("started", "name"),
    [("/opt/kubectl-policy", "kubectl-policy"), ("/usr/bin/kubectl", "kubectl policy"), ("", "kubectl policy")],
)
def test_a_shell_says_whether_it_was_kubectl(monkeypatch: pytest.MonkeyPatch, started: str, name: str) -> None:
    """By the path of what it started."""
    monkeypatch.setenv("_", started)
    assert program_name("/opt/kubectl-policy") == name


def test_help_is_plain_text(command: Command) -> None:
    code, out, err = command("--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: kubectl policy [OPTIONS] COMMAND [ARGS]...\n")
    assert command() == (0, out, "")
    assert command("-h") == (0, out, "")
    assert command("describe", "--help").out.startswith("Usage: kubectl policy describe [OPTIONS]")


def test_the_version_is_the_same_in_every_way(command: Command) -> None:
    assert command("version") == (0, f"kubectl-policy {__version__}\n", "")
    assert command("version").out == command("--version").out
    document = json.loads(command("version", "-o", "json").out)
    assert document["clientVersion"]["version"] == __version__
    assert document["clientVersion"].keys() == {"version", "pythonVersion", "platform", "packages", "programs"}
    assert command("version", "-o", "yaml").out.startswith(f"clientVersion:\n  version: {__version__}\n")


def test_going_away_is_silent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An interrupt at any time, also while the command line is still being read."""

    def fail(_: Sequence[str], __: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("kubectl_policy.cli.app.run_app", fail)
    assert (run(["describe"]), *capsys.readouterr()) == (130, "", "")


def test_an_error_without_a_hint_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def fail(_: Sequence[str], __: str) -> int:
        raise PolicyError("bad\x1b[2J\nname")

    monkeypatch.setattr("kubectl_policy.cli.app.run_app", fail)
    assert (run([]), *capsys.readouterr()) == (3, "", "error: bad\\x1b[2J\\nname\n")


def test_main_leaves_with_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """After flushing both streams, and without tidying up; a stream that is closed is no reason to fail."""
    monkeypatch.setattr(sys, "argv", ["kubectl-policy", "frobnicate"])
    monkeypatch.setattr(sys, "stdout", None)
    left: list[int] = []
    monkeypatch.setattr(os, "_exit", left.append)
    monkeypatch.setattr("gc.disable", lambda: None)
    main()
    assert left == [2]
    assert capsys.readouterr().err.startswith("error: no such command")


class _Stream(io.StringIO):
    """A terminal, or a stream with an encoding of its own."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = False) -> None:
        super().__init__()
        self._encoding, self._terminal = encoding, terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]  # io declares an attribute
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal

    def fileno(self) -> int:
        """No descriptor: as where a terminal went away."""
        raise OSError


def test_without_utf_8_symbols_become_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Stream("ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    terminal.write("a ▸ b → c · d… größe\n")
    assert stream.getvalue() == "a > b -> c - d... gr\\xf6\\xdfe\n"
    assert not terminal.takes_unicode()


@pytest.mark.parametrize(
    ("answer", "at_terminal", "elsewhere"), [("a b", "a b\n", "a b"), ("a\n", "a\n", "a\n"), ("", "", "")]
)
def test_a_line_is_ended_at_a_terminal(
    answer: str, at_terminal: str, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what is said beside the answer has a line of its own; a script gets what kubectl would print."""
    for stream, written in ((_Stream(terminal=True), at_terminal), (_Stream(), elsewhere)):
        monkeypatch.setattr(sys, "stdout", stream)
        terminal.show(answer, 80, coloured=False)
        assert stream.getvalue() == written


def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that was lost must not look like success."""

    class _Full(_Stream):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", _Full())
    with pytest.raises(PolicyError, match="cannot write the answer: No space left on device"):
        terminal.write("x")


def test_a_reader_who_has_seen_enough_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:

    class _Gone(_Stream):
        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", _Gone())
    terminal.write("x")


def test_what_nobody_reads_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is made while it is written ends with its reader."""

    class _Gone(_Stream):
        def write(self, text: str) -> int:
            del text
            raise BrokenPipeError

    def answer() -> Iterator[str]:
        for text in ("a", "b", "c"):
            made.append(text)
            yield text

    made = list[str]()
    monkeypatch.setattr(sys, "stdout", _Gone())
    terminal.show(answer(), 80, coloured=False)
    assert made == ["a"]


def test_closed_streams_are_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has None for a stream that was closed before the start."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert not terminal.is_terminal()
    assert terminal.takes_unicode()
    terminal.write_remarks("nobody listens")
    with pytest.raises(PolicyError, match="standard output is closed"):
        terminal.write("x")


@pytest.mark.parametrize(
    ("environment", "at_terminal", "expected"),
    [
        ({}, False, False),
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"CLICOLOR_FORCE": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colour_is_for_terminals(
    environment: dict[str, str],
    at_terminal: bool,  # noqa: FBT001 (a parameter)
    expected: bool,  # noqa: FBT001 (a parameter)
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", _Stream(terminal=at_terminal))
    assert terminal.wants_colour("auto") is expected
    assert terminal.wants_colour("always")
    assert not terminal.wants_colour("never")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [("80", 80), ("7", 40), ("0", 100), ("wide", 100), ("", 100), ("0080", 80), ("12345", 9_999), ("9" * 4_000, 9_999)],
)
def test_the_width_is_that_of_columns(columns: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.width() == expected


def test_the_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Stream(terminal=True)
    monkeypatch.setattr(sys, "stdout", stream)
    assert terminal.width() == 100
    monkeypatch.setattr(stream, "fileno", lambda: 1)

    def size(_: int) -> os.terminal_size:
        return os.terminal_size((123, 40))

    monkeypatch.setattr(os, "get_terminal_size", size)
    assert terminal.width() == 123


HEAVY = ("jsonschema", "networkx", "rich", "yaml", "kubectl_policy.analysis", "kubectl_policy.render.describe.objects")


def _imported(arguments: Sequence[str], names: Sequence[str]) -> list[str]:
    code = f"""
import sys
before = set(sys.modules)
from kubectl_policy.cli import run
run({list(arguments)!r})
print(sorted(set({list(names)!r}) & set(sys.modules) - before), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603 (our own code)
    names_found: list[str] = done.stderr.strip().splitlines()[-1].strip("[]").replace("'", "").split(", ")
    return [name for name in names_found if name]


@pytest.mark.parametrize("arguments", [["--help"], ["describe", "--help"], ["--version"], ["describe", "httproute/"]])
def test_starting_is_light(arguments: list[str]) -> None:
    """What reads no manifests imports nothing that could."""
    assert _imported(arguments, HEAVY) == []


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_builds_no_command(arguments: list[str]) -> None:
    heavy = ["dataclasses", "rich", "kubectl_policy.model", "kubectl_policy.cli.options"]
    assert _imported(arguments, heavy) == []


# Each takes as long to import as a tenth of a small answer, or longer.
NOT_FOR_AN_ANSWER = (
    "dataclasses",
    "jsonschema",
    "kubectl_policy.profiles.contradictions",
    "kubectl_policy.questions.status_ancestors",
    "kubectl_policy.validation.admission",
    "networkx",
    "rich",
    "typer.rich_utils",
)


def test_an_answer_imports_what_it_needs(manifests: Path) -> None:
    """One without colour does without rich, and no answer needs a graph library."""
    arguments = ["describe", "httproute/r", "-n", "app", "--offline", str(manifests / "all.yaml")]
    assert _imported(arguments, NOT_FOR_AN_ANSWER) == []


def test_a_reader_who_goes_away_is_no_error(manifests: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    arguments = ("describe", "httproute/r", "-n", "app", "--offline", str(manifests))
    done = subprocess.run([*MODULE, *arguments], stdout=write, stderr=subprocess.PIPE, check=False)  # noqa: S603 (our own code)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


# As a terminal has it, also where the tests run in the background of a shell, which ignores interrupts.
_HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def _interrupted(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (our own code)
        [sys.executable, "-c", f"{_HEED}\n{code}\nfrom kubectl_policy.__main__ import main\nmain()", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONFAULTHANDLER": ""},
    )


def test_an_interrupt_is_silent() -> None:
    """While waiting for standard input; the exit code is the shell's for SIGINT."""
    with _interrupted("", "describe", "httproute/r", "--offline", "-") as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize(
    "module", ["gc", "kubectl_policy.cli", "kubectl_policy.cli.options", "kubectl_policy.model", "yaml"]
)
def test_an_interrupt_is_silent_while_the_program_starts(module: str, manifests: Path) -> None:
    """Whatever is being imported."""
    code = f"""
import os, sys
class Interrupt:
    def find_spec(name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt)
sys.modules.pop({module!r}, None)
"""
    with _interrupted(code, "describe", "httproute/r", "-n", "app", "--offline", str(manifests)) as process:
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize(
    "question",
    [
        "describe httproute/r",
        "get policies",
        "explain colorpolicy",
        "why-not colorpolicy/red httproute/r",
        "diff --delete httproute/r",
    ],
)
def test_colour_is_used_where_it_is_asked_for(command: Command, manifests: Path, question: str) -> None:
    namespace = () if "explain" in question else ("-n", "app")
    arguments = (*question.split(), *namespace, "--offline", manifests, "--color")
    coloured, plain = (command(*arguments, choice).out for choice in ("always", "never"))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).rstrip() == plain.rstrip()
    assert "\x1b[" not in command(*arguments, "always", "-o", "yaml").out
