"""The terminal, or what stands in for it: its width, whether it takes colour, and writing to it."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import PolicyError, UsageError
from kubectl_policy.render.output.escape import Commands, uncommanding, visible
from kubectl_policy.render.output.text import DEFAULT_WIDTH, View, lay_out, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from kubectl_policy.render.output.formats import Shown
    from kubectl_policy.render.output.text import Document

_NARROWEST: Final = 40
_WIDEST: Final = 9_999
# Colour repeats what the words say, so a style that is missing here loses nothing.
_COLOURS: Final = {
    "title": "bold",
    "heading": "bold cyan",
    "subject": "bold",
    "value": "bold green",
    "beaten": "dim",
    "aside": "dim",
    "error": "bold red",
    "warning": "yellow",
    "command": "cyan",
}
_ASCII: Final = str.maketrans({"▸": ">", "→": "->", "·": "-", "…": "..."})


def is_terminal() -> bool:
    """Whether the answer goes to a person's terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def takes_unicode() -> bool:
    """Whether every character can be written to standard output."""
    encoding = (sys.stdout.encoding if sys.stdout else "") or "utf-8"
    return encoding.lower().replace("-", "").startswith("utf")


def width() -> int:
    """The width to lay out for, in cells: COLUMNS, else the terminal's, else 100."""
    columns = os.environ.get("COLUMNS", "").lstrip("0")
    if columns.isdecimal():
        return max(int(columns), _NARROWEST) if len(columns) <= len(str(_WIDEST)) else _WIDEST
    if is_terminal():
        with suppress(OSError):
            return max(os.get_terminal_size(sys.stdout.fileno()).columns, _NARROWEST)
    return DEFAULT_WIDTH


def view(program: str, *options: str) -> View:
    """What an answer has to be laid out for, and how the program was called."""
    return View(width(), is_terminal(), takes_unicode(), program, options)


def wants_colour(choice: str) -> bool:
    """Whether to colour: as chosen, else as NO_COLOR, FORCE_COLOR and TERM say, else at a terminal only."""
    if choice != "auto":
        return choice == "always"
    environment = os.environ.get
    if environment("NO_COLOR"):
        return False
    if environment("FORCE_COLOR") or environment("CLICOLOR_FORCE", "0") != "0":
        return True
    return is_terminal() and environment("TERM") != "dumb"


def show(answer: Shown, columns: int, *, coloured: bool) -> None:
    """Write an answer to standard output. Raises `PolicyError` if it is lost, unless the reader closed the pipe.

    At a terminal its last line is ended, so that what is said beside it, and the next prompt, have lines of their own.
    """
    if isinstance(answer, bytes):
        if is_terminal():
            raise UsageError("a picture cannot be shown in a terminal", "redirect it into a file: > graph.png")
        write(answer)
    elif isinstance(answer, str):
        write(f"{answer}\n" if is_terminal() and answer and not answer.endswith("\n") else answer)
    elif isinstance(answer, tuple):
        write(_coloured(answer, columns) if coloured else to_text(answer, columns))
    else:
        # What nobody reads is not made.
        all(map(write, answer))


class Held:
    """What is written to standard output and to standard error, until it is let go."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self._written: list[tuple[Callable[..., object], tuple[str | bytes, ...]]] = []

    def keep(self, write: Callable[..., object], *texts: str | bytes) -> None:
        """Keep what is written by a function."""
        self._written.append((write, texts))

    @property
    def answer(self) -> str:
        """What was written to standard output, as text."""
        return "".join(map(str, self._said_by(write)))

    @property
    def remarks(self) -> Sequence[str]:
        """The lines that were written to standard error."""
        return [*map(str, self._said_by(complain))]

    def _said_by(self, function: Callable[..., object]) -> Iterator[str | bytes]:
        return (text for write, texts in self._written for text in texts if write is function)

    def let_go(self, about: str = "") -> bool:
        """Write all of it; what it is `about` stands before each line on standard error. False if nobody reads it."""
        _holding.clear()
        is_read = True
        for write, texts in self._written:
            said = (f"{about}{text}" if isinstance(text, str) and write is complain else text for text in texts)
            is_read = write(*said) is not False and is_read
        return is_read


# What holds back what is written, if anything does.
_holding: Final[list[Held]] = []


@contextmanager
def held() -> Generator[Held]:
    """Hold back what is written; what is not let go is never written."""
    _holding[:] = [Held()]
    try:
        yield _holding[0]
    finally:
        _holding.clear()


def write(answer: str | bytes) -> bool:
    """Write to standard output; see `show`. False if the reader closed the pipe.

    What of a text its encoding lacks is replaced by what it has, and nothing is a command to a CI that reads it, but
    for `Commands`.
    """
    if _holding:
        _holding[0].keep(write, answer)
        return True
    if sys.stdout is None:
        raise PolicyError("cannot write the answer: standard output is closed")
    try:
        if isinstance(answer, str):
            text = answer if isinstance(answer, Commands) else uncommanding(answer)
            sys.stdout.write(encodable(text, sys.stdout.encoding or "utf-8"))
        else:
            sys.stdout.buffer.write(answer)
        sys.stdout.flush()
    except BrokenPipeError:
        return False
    except OSError as error:
        raise PolicyError(f"cannot write the answer: {error.strerror}") from error
    return True


def complain(*lines: str) -> None:
    """Write lines to standard error, if there is one."""
    if _holding:
        _holding[0].keep(complain, *lines)
        return
    if sys.stderr is not None:
        text = "".join(f"{visible(line)}\n" for line in lines)
        with suppress(OSError):
            sys.stderr.write(encodable(uncommanding(text), sys.stderr.encoding or "utf-8"))
            sys.stderr.flush()


@contextmanager
def progress(doing: str, after: float = 0) -> Generator[Callable[[int, int, str], None] | None]:
    """What shows on standard error how far something is, in one line that is gone afterwards; None without a terminal.

    It takes how many of how many things are begun, and the name of the last one; of things that nobody has counted, the
    name alone. Nothing shows until `after` so many seconds from the first call.
    """
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    line = _Line(after)

    def tell(begun: int, total: int, name: str) -> None:
        with suppress(OSError):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_WIDTH
            counted = f"{begun} of {total}: " if total else ""
            text = f"{doing} {counted}{visible(name)} ..."
            line.say(encodable(text[: columns - 1], sys.stderr.encoding or "utf-8"))

    try:
        yield tell
    finally:
        line.clear()


class _Line:
    """A line on standard error that is written anew again and again, from some seconds after it is begun."""

    def __init__(self, after: float) -> None:
        """Nothing is written yet."""
        from threading import Lock, Timer

        self._text, self._shows = "", not after
        self._lock, self._timer = Lock(), Timer(after, self._show)
        self._timer.daemon = True

    def say(self, text: str) -> None:
        """Write a text, or keep it until it is time for it."""
        with self._lock:
            self._text, is_first = text, not self._text
            if self._shows:
                self._write(text)
            elif is_first:
                self._timer.start()

    def clear(self) -> None:
        """Have nothing there, from now on."""
        self._timer.cancel()
        with self._lock:
            if self._shows:
                self._write("")
            self._shows, self._text = False, ""

    def _show(self) -> None:
        with self._lock:
            # It may be over by now.
            if self._text:
                self._shows = True
                self._write(self._text)

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()


def encodable(text: str, encoding: str) -> str:
    r"""The text with ASCII for our own symbols and `\xe9` for anything else that an encoding lacks, if it lacks any."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _coloured(document: Document, columns: int) -> str:
    # Only colour needs Rich, which takes longer to import than most questions take to answer.
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, color_system="standard", no_color=False, width=columns, legacy_windows=False)
    with console.capture() as captured:
        for row in lay_out(document, columns):
            line = Text.assemble(*((span.text, _COLOURS.get(span.style, "")) for span in row))
            line.rstrip()
            console.print(line, soft_wrap=True, highlight=False)
    return captured.get()
