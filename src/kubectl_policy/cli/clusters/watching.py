"""`--watch`: the answer, and again whenever it changes; at a terminal in place, else one after the other."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from kubectl_policy.cli import terminal
from kubectl_policy.cli.clusters.live import settled
from kubectl_policy.errors import ClusterError, PolicyError
from kubectl_policy.render.output.escape import visible
from kubectl_policy.render.output.formats import format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    from kubectl_policy.cli.clusters.live import Live

# Seconds: between two answers at least, and at most where something cannot be watched; and when to try again.
_PACE: Final = 1.0
_POLL: Final = 3.0
_RETRIES: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
_TICK: Final = 0.5
# Of a terminal that does not say its height.
_LINES: Final = 24
# To another screen, where lines that are too long are cut and no cursor is seen; and back.
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"


def watched(live: Live, ask: Callable[[Live], int], output: str) -> int:
    """Answer from a cluster, and again whenever the answer changes, until nobody reads it any more.

    Raises `PolicyError` if there is no answer at first. Afterwards what is wrong is said, and asked is again.
    """
    from kubectl_policy.sources.cluster.changing import Changes

    changes, failures = Changes(), 0
    with _place(output) as place:
        said, end, pause = _asked(live, ask)
        if isinstance(end, PolicyError):
            said.let_go()
            raise end
        while True:
            shown = time.monotonic()
            if isinstance(end, ClusterError):
                place.tell_old(end.message)
                changes.wait(_RETRIES[min(failures, len(_RETRIES) - 1)])
                failures += 1
            else:
                failures = 0
                live.watch(changes)
                if not place.show(said, f"error: {end.message}" if isinstance(end, PolicyError) else ""):
                    return 0
                _wait(changes.wait, place, None if changes.is_whole else _POLL)
            time.sleep(max(0.0, shown + pause - time.monotonic()))
            live = live.afresh()
            # What was read for the last answer is in cycles, which nobody else collects here.
            gc.collect()
            said, end, pause = _asked(live, ask)


def _asked(live: Live, ask: Callable[[Live], int]) -> tuple[terminal.Held, int | PolicyError, float]:
    """What is said, the end, and for how many seconds not to ask again: what always changes is not always asked for."""
    begun = time.monotonic()
    try:
        said, end = settled(live, partial(ask, live))
    except ClusterError as error:
        said, end = terminal.Held(), error
    return said, end, max(_PACE, min(time.monotonic() - begun, _POLL))


def _wait(changed: Callable[[float | None], bool], place: _Place, seconds: float | None) -> None:
    """Wait until something changed, also the size of the place, or for some seconds."""
    end = None if seconds is None else time.monotonic() + seconds
    while not (changed(_TICK) or place.has_changed or (end is not None and time.monotonic() >= end)):
        pass


class _Place(Protocol):
    """Where answers are shown."""

    @property
    def has_changed(self) -> bool:
        """Whether an answer would be laid out in another way now."""
        ...

    def show(self, said: terminal.Held, error: str) -> bool:
        """Show an answer, if it is another one, and what there is to say instead of one. False if nobody reads it."""
        ...

    def tell_old(self, why: str) -> None:
        """Say that what is shown may be old, from now on, and why."""
        ...

    def close(self) -> None:
        """Show nothing any more."""
        ...


@contextmanager
def _place(output: str) -> Generator[_Place]:
    form = format_of(output)
    if terminal.is_terminal() and form.styled and os.environ.get("TERM") != "dumb":
        place: _Place = _Screen()
    else:
        place = _Stream({"yaml": "---\n", "json": ""}.get(output, "\n"))
    try:
        yield place
    finally:
        place.close()


class _Stream:
    """One answer after the other, with something between them."""

    has_changed = False

    def __init__(self, between: str) -> None:
        """Nothing is shown yet."""
        self._between = between
        self._shown: tuple[object, ...] = ()
        self._since, self._why = _now(), ""

    def show(self, said: terminal.Held, error: str) -> bool:
        """See `_Place`."""
        texts = (said.answer, said.remarks, error)
        if self._why:
            terminal.complain(f"{_now()}: the cluster answers again")
        self._since, self._why = _now(), ""
        before, self._shown = self._shown, texts
        if texts == before:
            return True
        # Also what has become of an object that is gone: there is no other answer.
        if before and said.answer and not terminal.write(self._between):
            return False
        is_read = said.let_go()
        if error:
            terminal.complain(f"{_now()}: {error}")
        return is_read

    def tell_old(self, why: str) -> None:
        """See `_Place`."""
        if why != self._why:
            terminal.complain(f"{_now()}: the answer may be old, it is as of {self._since}: {why}")
        self._why = why

    def close(self) -> None:
        """See `_Place`."""


class _Screen:
    """A terminal, whose other screen has the last answer; what was on it is there again afterwards."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self._text, self._state, self._size = "", "", os.terminal_size((0, 0))
        self._since, self._is_open = _now(), False

    @property
    def has_changed(self) -> bool:
        """See `_Place`."""
        return self._is_open and os.get_terminal_size(sys.stdout.fileno()) != self._size

    def show(self, said: terminal.Held, error: str) -> bool:
        """See `_Place`."""
        remarks = "".join(f"{visible(line)}\n" for line in (*said.remarks, *([error] if error else [])))
        # Without an answer, the last one stays.
        self._text = f"{said.answer or (self._text if error else '')}{remarks}"
        self._since = _now()
        return self._draw(f"as of {self._since}; Ctrl-C ends")

    def tell_old(self, why: str) -> None:
        """See `_Place`."""
        self._draw(f"may be old: as of {self._since}, asked again at {_now()}: {why}")

    def _draw(self, state: str) -> bool:
        if not self._is_open:
            self._open()
        self._size = os.get_terminal_size(sys.stdout.fileno())
        height = self._size.lines or _LINES
        room, lines = max(height - 2, 1), self._text.splitlines()
        if len(lines) > room:
            lines = [*lines[: room - 1], f"... {len(lines) - room + 1} more lines"]
        # Written over what is there, at once: so nothing flickers.
        drawn = "".join(f"{line}\x1b[K\n" for line in lines)
        return terminal.write(f"\x1b[H{drawn}\x1b[J\x1b[{height}H\x1b[2m{visible(state)}\x1b[0m\x1b[K")

    def _open(self) -> None:
        self._is_open = True
        for each in _ENDING:
            signal.signal(each, self._end)
        terminal.write(_ENTER)

    def _end(self, number: int, _: FrameType | None) -> None:
        # What is being written may be interrupted by this, and is not to be written on.
        os.write(sys.stdout.fileno(), _LEAVE.encode())
        os._exit(128 + number)

    def close(self) -> None:
        """See `_Place`."""
        if self._is_open:
            self._is_open = False
            terminal.write(_LEAVE)


_ENDING: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _now() -> str:
    return time.strftime("%H:%M:%S")
