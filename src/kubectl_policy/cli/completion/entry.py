"""`kubectl_complete-policy`, which kubectl runs at every TAB, and `kubectl-policy __complete`, which shells run."""

import os
import sys

# Seconds in which there is an answer, counted from here: who presses TAB waits no longer than 150 ms. Python has taken
# 15 of these to start, and kubectl, where it is kubectl that was asked, 40.
_LIMIT = 0.12
_LIMIT_BEHIND_KUBECTL = 0.095
# By such a part of that longer it may take to end a program that was asked, and to print what is known without it.
_GRACE = 1 / 6
_OWN_LIMIT = "KUBECTL_POLICY_COMPLETION_TIMEOUT"


def main() -> None:
    """Print candidates for the words that kubectl started the process with, and end the process; see `answer`."""
    answer(sys.argv[1:], _LIMIT_BEHIND_KUBECTL)


def answer(words: list[str], limit: float = _LIMIT) -> None:
    """Print what may stand in place of the last one of some words, and end the process, in a number of seconds.

    The exit code is always 0, and nothing is said on standard error, which is the terminal: kubectl and the shells
    would show files instead. For the same reason something is printed whatever happens, and in time. Whose cluster is
    far away can allow more seconds, up to a minute, by KUBECTL_POLICY_COMPLETION_TIMEOUT.
    """
    shown = ":4\n"
    try:
        import gc
        import signal
        import time

        own = os.environ.get(_OWN_LIMIT, "")
        if own.replace(".", "", 1).isdecimal() and own.isascii():
            limit = min(float(own), 60.0)
        deadline = time.monotonic() + limit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # What reads and computes has no limit of its own, and cannot be asked to stop.
        signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, limit * (1 + _GRACE))
        gc.disable()
        from kubectl_policy.cli.completion.candidates import complete

        shown = complete(words, deadline).text()
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        _write(shown)


def _give_up(*_: object) -> None:
    _write(":4\n")


def _write(text: str) -> None:
    try:
        with open(1, "wb", closefd=False) as out:
            out.write(text.encode("utf-8", "replace"))
    finally:
        os._exit(0)
