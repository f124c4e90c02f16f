"""The command line: run a command, say what went wrong, and with which exit code to leave."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kubectl_policy.errors import INTERRUPTED, PolicyError

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(arguments: Sequence[str], program: str = "kubectl policy") -> int:
    """Run a command in this process and return its exit code; `program` is how usage texts call it."""
    try:
        from kubectl_policy.cli.app import invoke  # noqa: PLC0415 (an interrupt while importing is to be silent as well)

        return invoke(arguments, program)
    except PolicyError as error:
        from kubectl_policy.cli.terminal import complain  # noqa: PLC0415 (only where something went wrong)

        complain(f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else []))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def program_name(argv0: str) -> str:
    """How the user called the program: kubectl runs `kubectl-a-b_c` for `kubectl a b-c`."""
    name = os.path.basename(argv0).removesuffix(".exe")  # noqa: PTH119 (pathlib costs a fifth of the time to start)
    if not name.startswith("kubectl-"):
        return "python -m kubectl_policy" if name == "__main__.py" else name
    return name.replace("-", " ").replace("_", "-")
