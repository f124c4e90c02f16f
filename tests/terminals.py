"""Commands at a terminal, as another process."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def stderr_at_terminal(command: Sequence[str], **environment: str) -> str:
    """Run a command whose standard error is a terminal, and return what it writes there."""
    reading_end, terminal = pty.openpty()
    variables = {**os.environ, "TERM": "xterm", **environment}
    with subprocess.Popen(command, env=variables, stderr=terminal, stdout=subprocess.PIPE) as process:  # noqa: S603 (our own)
        process.communicate(timeout=30)
    os.close(terminal)
    text = b""
    while True:
        try:
            text += os.read(reading_end, 2**16)
        except OSError:
            os.close(reading_end)
            return text.decode()
