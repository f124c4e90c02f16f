"""Show the answer of a command again whenever it changes (`--watch`): at a terminal in place, else one by one."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Final

from kubectl_policy.cli import terminal
from kubectl_policy.cli.clusters import run_until_settled
from kubectl_policy.errors import ClusterError, PolicyError
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.formats import format_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from kubectl_policy.cli.clusters import AskedCluster
    from kubectl_policy.sources.cluster.watches import ClusterWatches

# The seconds between two answers, and those after which a cluster is asked again that cannot be watched or reached.
_MIN_PAUSE_SECONDS: Final = 1.0
_MAX_PAUSE_SECONDS: Final = 3.0
_POLL_SECONDS: Final = 3.0
_RETRY_SECONDS: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
# How often it is looked whether the terminal has another size.
_TICK_SECONDS: Final = 0.5
# The height of a terminal that does not say it.
_DEFAULT_HEIGHT: Final = 24
# Escape sequences: to another screen, where long lines are cut and no cursor is seen; and back.
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_ENDING_SIGNALS: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def watch(live: AskedCluster, command: Callable[[AskedCluster], int], output_format: str) -> int:
    """Answer from a cluster, and again whenever the answer changes, until nobody reads it any more.

    Raises `PolicyError` if there is no answer at first. Later errors are shown, and the cluster is asked again.
    """
    from kubectl_policy.sources.cluster.watches import ClusterWatches

    watches, failures = ClusterWatches(), 0
    is_screen = terminal.is_terminal() and format_of(output_format).styled and os.environ.get("TERM") != "dumb"
    display = (_Screen if is_screen else _Display)({"yaml": "---\n", "json": ""}.get(output_format, "\n"))
    with closing(display):
        output, end, pause = _answer(live, command)
        if isinstance(end, PolicyError):
            output.release()
            raise end
        while True:
            shown_at = time.monotonic()
            if isinstance(end, ClusterError):
                display.show_stale(end.message)
                watches.wait(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
                failures += 1
            else:
                failures = 0
                if live.cluster:
                    live.cluster.watch(watches)
                if not display.show(output, f"error: {end.message}" if isinstance(end, PolicyError) else ""):
                    return 0
                _wait(watches, display)
            time.sleep(max(0.0, shown_at + pause - time.monotonic()))
            live = live.unread_copy()
            # What was read for the last answer is in cycles, which nothing else collects here.
            gc.collect()
            output, end, pause = _answer(live, command)


def _answer(
    live: AskedCluster, command: Callable[[AskedCluster], int]
) -> tuple[terminal.HeldOutput, int | PolicyError, float]:
    """Return the output of a command, its end, and the seconds before the next answer: a slow answer is rarer."""
    started_at = time.monotonic()
    try:
        output, end = run_until_settled(live, partial(command, live))
    except ClusterError as error:
        output, end = terminal.HeldOutput(), error
    return output, end, max(_MIN_PAUSE_SECONDS, min(time.monotonic() - started_at, _MAX_PAUSE_SECONDS))


def _wait(watches: ClusterWatches, display: _Display) -> None:
    """Wait until the cluster or the size of the display changes; where changes may go unnoticed, a while at most."""
    end = None if watches.is_complete else time.monotonic() + _POLL_SECONDS
    while not (watches.wait(_TICK_SECONDS) or display.is_resized or (end is not None and time.monotonic() >= end)):
        pass


class _Display:
    """Show answers one after the other, with a separator between them."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._shown: tuple[object, ...] = ()
        self._updated, self._stale_reason = _now(), ""

    @property
    def is_resized(self) -> bool:
        """Whether an answer would be laid out in another way now."""
        return False

    def show(self, output: terminal.HeldOutput, error: str) -> bool:
        """Show an answer, or an error instead of one, unless that is shown already; return whether anybody reads it."""
        if self._stale_reason:
            terminal.write_remarks(f"{_now()}: the cluster answers again")
        self._updated, self._stale_reason = _now(), ""
        last, self._shown = self._shown, (output.answer, output.remarks, error)
        if self._shown == last:
            return True
        if last and output.answer and not terminal.write(self._separator):
            return False
        is_read = output.release()
        if error:
            terminal.write_remarks(f"{_now()}: {error}")
        return is_read

    def show_stale(self, reason: str) -> None:
        """Show that the last answer may be stale from now on, and why."""
        if reason != self._stale_reason:
            terminal.write_remarks(f"{_now()}: the answer may be old, it is as of {self._updated}: {reason}")
        self._stale_reason = reason

    def close(self) -> None:
        """Show nothing any more."""


class _Screen(_Display):
    """Show the last answer on the other screen of a terminal, which shows its first screen again afterwards."""

    _text, _size, _is_open = "", os.terminal_size((0, 0)), False

    @property
    def is_resized(self) -> bool:
        return self._is_open and os.get_terminal_size(sys.stdout.fileno()) != self._size

    def show(self, output: terminal.HeldOutput, error: str) -> bool:
        """Show an answer; with an error, the last answer stays."""
        remarks = "".join(f"{escape_controls(line)}\n" for line in (*output.remarks, *([error] if error else [])))
        self._text = f"{output.answer or (self._text if error else '')}{remarks}"
        self._updated = _now()
        return self._draw(f"as of {self._updated}; Ctrl-C ends")

    def show_stale(self, reason: str) -> None:
        self._draw(f"may be old: as of {self._updated}, asked again at {_now()}: {reason}")

    def _draw(self, status: str) -> bool:
        if not self._is_open:
            self._is_open = True
            for ending in _ENDING_SIGNALS:
                signal.signal(ending, self._end)
            terminal.write(_ENTER)
        self._size = os.get_terminal_size(sys.stdout.fileno())
        height = self._size.lines or _DEFAULT_HEIGHT
        room, lines = max(height - 2, 1), self._text.splitlines()
        if len(lines) > room:
            lines = [*lines[: room - 1], f"... {len(lines) - room + 1} more lines"]
        # Written over the last answer, at once: so nothing flickers.
        drawn = "".join(f"{line}\x1b[K\n" for line in lines)
        return terminal.write(f"\x1b[H{drawn}\x1b[J\x1b[{height}H\x1b[2m{escape_controls(status)}\x1b[0m\x1b[K")

    def _end(self, number: int, _: FrameType | None) -> None:
        # This may interrupt a write, which is not to go on.
        os.write(sys.stdout.fileno(), _LEAVE.encode())
        os._exit(128 + number)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            terminal.write(_LEAVE)


def _now() -> str:
    return time.strftime("%H:%M:%S")
