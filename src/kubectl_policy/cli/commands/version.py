"""`completion` and `version`: commands that read neither manifests nor a cluster."""

import os
import re
import sys
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from kubectl_policy.cli import terminal
from kubectl_policy.cli.completion import SCRIPTS
from kubectl_policy.cli.options import OutputOption
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_NAME: Final = "policy"
# What the command works without, and does less.
_PACKAGES: Final = ("cel-expr-python", "ryaml")
_PROGRAMS: Final = ("flate", "git", "helm", "kubectl", "kustomize")


def completion(
    shell: Annotated[
        list[str] | None, typer.Argument(metavar="SHELL", help="One of bash, fish, zsh and kubectl.")
    ] = None,
) -> None:
    """Generate a shell completion script.

    bash, zsh and fish: a script that completes the command kubectl-policy; its first lines say how to load it. kubectl:
    the executable that completes `kubectl policy` wherever kubectl itself is completed. The package installs it; it is
    needed only where the plugin was installed without it. The script is printed, and no file is written.

    \b
    Examples:
      source <(kubectl policy completion bash)
      kubectl policy completion fish | source
      kubectl policy completion kubectl > ~/.local/bin/kubectl_complete-policy
    """
    arguments = shell or []
    if len(arguments) != 1 or arguments[0] not in SCRIPTS:
        problem = f"there is no completion for {' '.join(arguments)}" if arguments else "the shell is missing"
        raise UsageError(problem, f"it is one of {', '.join(SCRIPTS)}")
    folder = f"{os.path.dirname(os.path.dirname(__file__))}/completion/scripts"  # noqa: PTH120 (pathlib is slow to load)
    with open(f"{folder}/{SCRIPTS[arguments[0]]}", encoding="utf-8") as file:  # noqa: PTH123 (see above)
        script = file.read()
    program = os.path.basename(sys.argv[0]).removesuffix(".exe")  # noqa: PTH119 (see above)
    name = program.removeprefix("kubectl-") if program.startswith("kubectl-") else _NAME
    terminal.write(re.sub(rf"(kubectl(?:_complete)?-){_NAME}", rf"\g<1>{name}", script))


def version(
    output: Annotated[Literal["json", "yaml"] | None, OutputOption("--output", "-o", help="Output format.")] = None,
) -> None:
    """Print the version.

    With --output, also the versions of Python and of the platform, and which optional packages and programs are
    installed: without cel-expr-python, rules (CEL) of definitions are not checked; without ryaml, YAML is read slowly;
    helm, kustomize and flate render.

    \b
    Examples:
      kubectl policy version
      kubectl policy version -o json
    """
    from kubectl_policy import __version__

    if not output:
        terminal.write(f"kubectl-policy {__version__}\n")
        return
    from kubectl_policy.render.output.encoding import as_yaml, json_pieces
    from kubectl_policy.sources.programs.installed import find_program

    python = ".".join(map(str, sys.version_info[:3]))
    client: dict[str, Json] = {"version": __version__, "pythonVersion": python, "platform": sys.platform}
    client["packages"] = {name: _version_of(name) for name in _PACKAGES}
    client["programs"] = {name: find_program(name) or None for name in _PROGRAMS}
    document: dict[str, Json] = {"clientVersion": client}
    text = as_yaml(document, unicode=True) if output == "yaml" else "".join(json_pieces(document))
    terminal.write(f"{text}\n")


def _version_of(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
