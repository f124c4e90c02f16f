"""The processes that complete: `kubectl_complete-policy` for kubectl, and `kubectl-policy __complete` for shells."""

import os
import sys

# Seconds from here to the answer, so that a TAB takes 150 ms: Python starts within 15 ms, and kubectl within 40 ms.
_LIMIT = 0.12
_LIMIT_BEHIND_KUBECTL = 0.095
# The part of the limit that it may take longer, to end kubectl and to print what is known without it.
_GRACE = 1 / 6
_LIMIT_VARIABLE = "KUBECTL_POLICY_COMPLETION_TIMEOUT"


def main() -> None:
    """Complete the words with which kubectl started the process, and end the process; see `answer`."""
    answer(sys.argv[1:], _LIMIT_BEHIND_KUBECTL)


def answer(arguments: list[str], limit: float = _LIMIT) -> None:
    """Print candidates for the last word within a number of seconds, and end the process.

    The exit code is 0, and nothing is written to standard error, which is the terminal: otherwise kubectl and shells
    would show files. For the same reason a directive is printed in any case, and in time. Users with a distant cluster
    can allow more seconds, up to a minute, with KUBECTL_POLICY_COMPLETION_TIMEOUT.
    """
    text = ":4\n"
    try:
        import gc
        import signal
        import time

        configured = os.environ.get(_LIMIT_VARIABLE, "")
        if configured.replace(".", "", 1).isdecimal() and configured.isascii():
            limit = min(float(configured), 60.0)
        deadline = time.monotonic() + limit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # Reading and computing have no time limit of their own, and cannot be asked to stop.
        signal.signal(signal.SIGALRM, lambda _signal, _frame: _write(":4\n"))
        signal.setitimer(signal.ITIMER_REAL, limit * (1 + _GRACE))
        gc.disable()
        from kubectl_policy.cli.completion.candidates import complete

        text = complete(arguments, deadline).text()
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        _write(text)


def _write(text: str) -> None:
    try:
        with open(1, "wb", closefd=False) as out:
            out.write(text.encode("utf-8", "replace"))
    finally:
        os._exit(0)
