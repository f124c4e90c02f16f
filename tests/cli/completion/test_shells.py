"""Shells take what is offered: the scripts are loaded by the shells themselves, and asked as they ask at a TAB."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.cli.completion import SCRIPTS
from tests.cli.completion.conftest import BAKERY, ROOT

if TYPE_CHECKING:
    from tests.cli.conftest import Command

COPIES = ROOT / "completions"
BASH, ZSH, FISH = (
    pytest.mark.skipif(not shutil.which(name), reason=f"{name} is not installed") for name in ("bash", "zsh", "fish")
)
CASES: Final[list[tuple[str, list[str]]]] = [
    ("describ", ["describe"]),
    ("get -o wi", ["wide"]),
    ("get --output=wi", ["wide"]),
    ("get --output=js", ["json", "jsonpath-as-json=", "jsonpath-file=", "jsonpath="]),
    (f"describe --offline {BAKERY} -n baker httproute/m", ["httproute/menu"]),
    (f"describe --offline '{BAKERY}' -n baker httproute m", ["menu"]),
    (f"describe --offline={BAKERY} gateway/infra/edge --section=ht", ["http", "https"]),
    (
        f"diff --offline {BAKERY} --retarget retrypolicy/baker/own=httproute/pas",
        ["retrypolicy/baker/own=httproute/pastry/cakes"],
    ),
    (f"describe --profiles {ROOT}/fixtures/profiles/limits", [f"{ROOT}/fixtures/profiles/limits.example.net.yaml"]),
    ("describe --profiles ~/manif", ["~/manifests"]),
    ("describe --offline $(touch pwned) `touch pwned` <(touch pwned) httproute/", []),
    ('describe --offline "$(touch pwned)" httproute/', []),
    ("describe --offline names httproute/", ["httproute/plain"]),
]
HOSTILE = """\
{"kind": "List", "apiVersion": "v1", "items": [
  {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "plain"}},
  {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "$(touch pwned)"}},
  {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "`touch pwned`"}},
  {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "a\\n:0"}}]}
"""
# Takes a line apart as readline does at $COMP_WORDBREAKS, and asks what is registered for the command.
AS_BASH = """
source <(kubectl-policy completion bash)
[[ $(complete -p kubectl-policy) == *"-F __kubectl_policy_complete"* ]] || exit 9
compopt() { :; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 rest=$1 COMP_WORDS=() word=
while [[ -n $rest ]]; do
    letter=${rest:0:1} rest=${rest:1}
    case $letter in
    [\\"\\'])
        word+=$letter
        while [[ -n $rest ]]; do
            next=${rest:0:1} rest=${rest:1} word+=$next
            [[ $next != "$letter" ]] || break
        done ;;
    " ") [[ -z $word ]] || COMP_WORDS+=("$word"); word= ;;
    [=:]) [[ -z $word ]] || COMP_WORDS+=("$word"); COMP_WORDS+=("$letter"); word= ;;
    *) word+=$letter ;;
    esac
done
[[ -z $word && $1 != *" " ]] || COMP_WORDS+=("$word")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
__kubectl_policy_complete
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
exit 0
"""
# What completes a line is only there at a prompt: one is opened in a terminal of zsh's own. What it is told may be
# echoed, and is not to be taken for what it prints.
AS_ZSH = r"""
zmodload zsh/zpty
zpty shell 'TERM=dumb PS1= PS2= RPS1= zsh -f -i'
take() { zpty -r shell got '*<'$1'>*' || exit 9 }
zpty -w shell 'unsetopt zle_bracketed_paste 2>/dev/null; stty -echo; autoload -Uz compinit; compinit -u -D'
zpty -w shell 'source <(kubectl-policy completion zsh)'
zpty -w shell 'compadd() {
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return $? }
    local -a found; builtin compadd -A found "$@"
    print -rl -- "${found[@]}" >>$HOME/found
    builtin compadd "$@"
}'
zpty -w shell 'done-with-it() { print "<""end>"; exit }; zle -N done-with-it; bindkey "^X" done-with-it'
zpty -w shell 'bindkey "^I" complete-word; LISTMAX=10000; print "<""ready>"'
take ready
zpty -w -n shell "$1"$'\t'
zpty -w -n shell $'\x18'
take end
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, which is that of the user, and `kubectl-policy` on the PATH."""
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "all.json").write_text(HOSTILE, "utf-8")
    (tmp_path / "manifests").mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "kubectl-policy"
    program.write_text(f"#!{sys.executable}\nfrom kubectl_policy.__main__ import main\nmain()\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "HOME": str(tmp_path),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": ":".join(sys.path),
        "KUBECTL_POLICY_COMPLETION_TIMEOUT": "10",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def asked(*command: str) -> list[str]:
    done = subprocess.run(  # noqa: S603 (a shell, with scripts of ours)
        command, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@BASH
@pytest.mark.parametrize(("line", "offered"), CASES)
def test_bash(home: Path, line: str, offered: list[str]) -> None:
    """Readline replaces what stands behind the last `=`, so that is what it gets."""
    lines = asked("bash", "--norc", "--noprofile", "-c", AS_BASH, "bash", f"kubectl-policy {line}")
    expected = [item.replace("~", str(home)) for item in offered]
    start = line.rpartition(" ")[2].rpartition("=")[0]
    assert lines == [item.removeprefix(f"{start}=") for item in expected]
    assert not (home / "pwned").exists()


@BASH
def test_bash_leaves_out_what_is_behind_the_cursor(home: Path) -> None:
    """The word under it is completed as far as it goes."""
    script = AS_BASH.replace("COMP_POINT=${#1}", "COMP_POINT=19").replace(
        "__kubectl_policy_complete\n((", "COMP_CWORD=1; __kubectl_policy_complete\n(("
    )
    assert asked("bash", "--norc", "-c", script, "bash", "kubectl-policy desc --offline x") == ["describe"]
    assert home.is_dir()


@BASH
def test_bash_shows_what_is_said_beside_several(home: Path) -> None:
    """As far as there is room; what is inserted has nothing beside it."""
    line = f"kubectl-policy describe --offline {BAKERY} gatew"
    assert asked("bash", "--norc", "-c", f"COLUMNS=80\n{AS_BASH}", "bash", line) == [
        "gateway       (Gateway.gateway.networking.k8s.io)",
        "gatewayclass  (GatewayClass.gateway.networking.k8s.io)",
    ]
    assert asked("bash", "--norc", "-c", f"COLUMNS=30\n{AS_BASH}", "bash", line) == [
        "gateway       (Gateway.gate…)",
        "gatewayclass  (GatewayClass…)",
    ]
    assert asked("bash", "--norc", "-c", f"COLUMNS=20\n{AS_BASH}", "bash", line) == ["gateway", "gatewayclass"]
    menu = AS_BASH.replace("COMP_TYPE=9", "COMP_TYPE=37")
    assert asked("bash", "--norc", "-c", menu, "bash", line) == ["gateway", "gatewayclass"]
    assert home.is_dir()


@ZSH
@pytest.mark.parametrize(("line", "offered"), CASES)
def test_zsh(home: Path, line: str, offered: list[str]) -> None:
    asked("zsh", "-f", "-c", AS_ZSH, "zsh", f"kubectl-policy {line}")
    lines = (home / "found").read_text("utf-8").split() if (home / "found").exists() else []
    # Of a path, zsh completes the last part.
    assert [Path(item).name for item in lines] == [Path(item).name for item in offered]
    assert not (home / "pwned").exists()


@FISH
@pytest.mark.parametrize(("line", "offered"), CASES)
def test_fish(home: Path, line: str, offered: list[str]) -> None:
    script = 'kubectl-policy completion fish | source; complete -C "$argv[1]"'
    lines = asked("fish", "--no-config", "-c", script, f"kubectl-policy {line}")
    start = line.rpartition(" ")[2].rpartition("=")[0]
    option = f"{start}=" if start.startswith("-") else ""
    expected = [f"{option}{item}" for item in offered]
    assert sorted(item.partition("\t")[0].rstrip("/") for item in lines) == sorted(expected)
    assert not (home / "pwned").exists()


@pytest.mark.parametrize(("name", "file"), SCRIPTS.items())
def test_the_copies_are_what_is_printed(command: Command, name: str, file: str) -> None:
    assert command("completion", name) == (0, (COPIES / file).read_text("utf-8"), "")
    assert sorted(item.name for item in COPIES.iterdir()) == sorted(SCRIPTS.values())


def test_a_plugin_of_another_name_is_completed_as_well(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the file that runs; where that is not known, by its usual one."""
    for program in ("/usr/bin/kubectl-gateway_policy", "kubectl-gateway_policy.exe"):
        monkeypatch.setattr(sys, "argv", [program])
        shown = command("completion", "kubectl").out
        assert 'exec kubectl-gateway_policy __complete "$@"' in shown
        assert "kubectl_complete-gateway_policy" in shown
        assert command("completion", "zsh").out.startswith("#compdef kubectl-gateway_policy\n")
    monkeypatch.setattr(sys, "argv", ["kubectl_policy/__main__.py"])
    assert command("completion", "zsh").out.startswith("#compdef kubectl-policy\n")
