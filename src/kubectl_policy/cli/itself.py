"""`completion` and `version`: what the program says of itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

from kubectl_policy.cli.parameters import Argument, Command, Option, declared
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from kubectl_policy.model import Json

# What completion is for, and the file with the script.
SCRIPTS: Final = {
    "bash": "kubectl-policy.bash",
    "fish": "kubectl-policy.fish",
    "kubectl": "kubectl_complete-policy",
    "zsh": "kubectl-policy.zsh",
}
_EXECUTABLE: Final = "kubectl-policy"
_FORMATS: Final = ("json", "yaml")


def _format(name: str) -> str:
    if name and name not in _FORMATS:
        problem = f"invalid value for '--output' / '-o': '{name}' is not one of 'json', 'yaml'"
        raise UsageError(problem, "for example: -o json")
    return name


Shell = Annotated[list[str] | None, Argument(metavar="SHELL", help="bash, fish, zsh, or kubectl.")]
Format = Annotated[
    str, Option("--output", "-o", metavar=f"[{'|'.join(_FORMATS)}]", help="Print a document.", parser=_format)
]


def _completion(program: str, given: dict[str, Any]) -> int:
    """Print what makes a shell complete these commands.

    For bash, zsh and fish: a script, to be loaded as its first lines say, for the command kubectl-policy. For kubectl:
    the executable that completes `kubectl policy` in all shells where kubectl itself is completed; it comes with the
    package, and is needed only where the plugin was installed without it. Nothing is written.

    \b
    Examples:
      source <(kubectl policy completion bash)
      kubectl policy completion fish | source
      kubectl policy completion kubectl > ~/.local/bin/kubectl_complete-policy
    """
    words: list[str] = given["shell"] or []
    if len(words) != 1 or words[0] not in SCRIPTS:
        problem = f"there is no completion for {' '.join(words)}" if words else "the shell is missing"
        raise UsageError(problem, f"it is one of {', '.join(SCRIPTS)}")
    from kubectl_policy.cli import terminal

    folder = f"{os.path.dirname(__file__)}/completion/scripts"  # noqa: PTH120 (as for profiles)
    with open(f"{folder}/{SCRIPTS[words[0]]}", encoding="utf-8") as file:  # noqa: PTH123 (see above)
        script = file.read()
    called = _executable(program)
    ours, theirs = (name.replace("kubectl-", "kubectl_complete-", 1) for name in (_EXECUTABLE, called))
    terminal.write(script.replace(_EXECUTABLE, called).replace(ours, theirs))
    return 0


def _executable(program: str) -> str:
    """The file that kubectl runs for what a user calls: `kubectl-a_b` for `kubectl a-b`."""
    if program.startswith("kubectl-"):
        return program
    kubectl, _, name = program.partition(" ")
    return f"kubectl-{name.replace('-', '_').replace(' ', '-')}" if kubectl == "kubectl" and name else _EXECUTABLE


def _version(_: str, given: dict[str, Any]) -> int:
    """Print the version.

    \b
    Examples:
      kubectl policy version
      kubectl policy version -o json
    """
    from kubectl_policy import __version__
    from kubectl_policy.cli import terminal

    if not given["format"]:
        terminal.write(f"kubectl-policy {__version__}\n")
        return 0
    from kubectl_policy.render.output.documents import as_yaml, json_pieces

    python = ".".join(map(str, sys.version_info[:3]))
    client: dict[str, Json] = {"version": __version__, "pythonVersion": python, "platform": sys.platform}
    document: dict[str, Json] = {"clientVersion": client}
    shown = as_yaml(document, unicode=True) if given["format"] == "yaml" else "".join(json_pieces(document))
    terminal.write(f"{shown}\n")
    return 0


completion: Final = Command(_completion.__doc__ or "", declared({"shell": Shell}, {}), _completion)
version: Final = Command(_version.__doc__ or "", declared({"format": Format}, {"format": ""}), _version)
