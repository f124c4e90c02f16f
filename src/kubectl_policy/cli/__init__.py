"""The command line: run a command, and turn errors into messages and exit codes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import INTERRUPTED, PolicyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# In characters: longer than any path, name or selector. Each argument is searched for, and shown as it is.
_MAX_ARGUMENT: Final = 16_384


def run(arguments: Sequence[str], program: str = "kubectl policy") -> int:
    """Run a command in this process and return its exit code; `program` is how usage texts call the program."""
    longest = max(map(len, arguments), default=0)
    try:
        if longest > _MAX_ARGUMENT:
            problem = f"an argument has {longest:,} characters"
            raise UsageError(problem, f"no more than {_MAX_ARGUMENT:,} are read")
        from kubectl_policy.cli.app import run_app

        return run_app(arguments, program)
    except PolicyError as error:
        from kubectl_policy.cli.terminal import write_remarks

        write_remarks(f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else []))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def program_name(argv0: str) -> str:
    """Return how the user called the program: kubectl runs `kubectl-a-b_c` for `kubectl a b-c`.

    bash and zsh put the path of the program that they start into `$_`: then kubectl was not used.
    """
    name = os.path.basename(argv0).removesuffix(".exe")  # noqa: PTH119 (pathlib costs a fifth of the time to start)
    if not name.startswith("kubectl-"):
        return "python -m kubectl_policy" if name == "__main__.py" else name
    if os.environ.get("_") == argv0:
        return name
    return name.replace("-", " ").replace("_", "-")
