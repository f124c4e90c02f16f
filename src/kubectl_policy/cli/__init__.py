"""The command line's entry: run, say what went wrong, leave with the right exit code."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED: Final = 130


def main() -> None:
    """Run the command that the process was started with, and end the process.

    Nothing here lives in reference cycles that are worth collecting, and what was loaded needs no tidying up: leaving
    both out halves the time that a large input takes.
    """
    gc.disable()
    code = run(sys.argv[1:], program_name(sys.argv[0]))
    for stream in (sys.stdout, sys.stderr):
        # A reader that has gone away wants no complaint, and there is nobody left to complain to.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def run(arguments: Sequence[str], program: str = "kubectl policy") -> int:
    """Run a command in this process and return its exit code; `program` is how usage texts call it."""
    from kubectl_policy.cli.app import invoke  # noqa: PLC0415 (an interrupt while importing is to be silent as well)

    try:
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
