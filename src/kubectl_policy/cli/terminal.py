"""Standard output and standard error: their width, colors and encoding, and writing to them."""

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

_MIN_WIDTH: Final = 40
_MAX_WIDTH: Final = 9_999
# Styles without a color are not colored: colors add nothing to the text.
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
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def takes_unicode() -> bool:
    """Whether standard output can encode every character."""
    encoding = (sys.stdout.encoding if sys.stdout else "") or "utf-8"
    return encoding.lower().replace("-", "").startswith("utf")


def width() -> int:
    """Return the width for layout, in cells: COLUMNS, else the width of the terminal, else 100."""
    columns = os.environ.get("COLUMNS", "").lstrip("0")
    if columns.isdecimal():
        return max(int(columns), _MIN_WIDTH) if len(columns) <= len(str(_MAX_WIDTH)) else _MAX_WIDTH
    if is_terminal():
        with suppress(OSError):
            return max(os.get_terminal_size(sys.stdout.fileno()).columns, _MIN_WIDTH)
    return DEFAULT_WIDTH


def view(program: str, *options: str) -> View:
    """Return the view for which an answer is laid out; the program and options are for suggested commands."""
    return View(width(), is_terminal(), takes_unicode(), program, options)


def wants_colour(choice: str) -> bool:
    """Whether to color: by `--color`, else by NO_COLOR, FORCE_COLOR and TERM, else only at a terminal."""
    if choice != "auto":
        return choice == "always"
    environment = os.environ.get
    if environment("NO_COLOR"):
        return False
    if environment("FORCE_COLOR") or environment("CLICOLOR_FORCE", "0") != "0":
        return True
    return is_terminal() and environment("TERM") != "dumb"


def show(answer: Shown, columns: int, *, coloured: bool) -> None:
    """Write an answer to standard output. Raise `PolicyError` if this fails, unless the reader closed the pipe.

    At a terminal a missing last newline is added, so that remarks and the next prompt start on new lines.
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
        # A closed pipe ends the answer.
        all(map(write, answer))


class Held:
    """Output to standard output and standard error that is held back until `let_go`."""

    def __init__(self) -> None:
        """Start without output."""
        self._written: list[tuple[Callable[..., object], tuple[str | bytes, ...]]] = []

    def keep(self, write: Callable[..., object], *texts: str | bytes) -> None:
        """Keep the texts that a function would write."""
        self._written.append((write, texts))

    @property
    def answer(self) -> str:
        """The text for standard output."""
        return "".join(map(str, self._texts_of(write)))

    @property
    def remarks(self) -> Sequence[str]:
        """The lines for standard error."""
        return [*map(str, self._texts_of(complain))]

    def _texts_of(self, function: Callable[..., object]) -> Iterator[str | bytes]:
        return (text for write, texts in self._written for text in texts if write is function)

    def let_go(self, prefix: str = "") -> bool:
        """Write all texts, with a prefix before each line on standard error. Return False if the pipe was closed."""
        _holding.clear()
        is_read = True
        for write, texts in self._written:
            prefixed = (f"{prefix}{text}" if isinstance(text, str) and write is complain else text for text in texts)
            is_read = write(*prefixed) is not False and is_read
        return is_read


# The output that is held back now, if any is.
_holding: Final[list[Held]] = []


@contextmanager
def held() -> Generator[Held]:
    """Hold back all output; output that is not let go is never written."""
    _holding[:] = [Held()]
    try:
        yield _holding[0]
    finally:
        _holding.clear()


def write(answer: str | bytes) -> bool:
    """Write to standard output; see `show`. Return False if the reader closed the pipe.

    Characters that the encoding lacks are replaced, and text that a CI system would run as a command is escaped, except
    `Commands`.
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
    """Show progress in one line on standard error, which is erased at the end. Yield None without a terminal.

    Yield a function of the number of steps begun, their total (0 if unknown), and the name of the last step. Nothing is
    shown until `after` seconds have passed since the first call.
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
    """A line on standard error that is overwritten, and is shown some seconds after its first text."""

    def __init__(self, after: float) -> None:
        """Start without text."""
        from threading import Lock, Timer

        self._text, self._shows = "", not after
        self._lock, self._timer = Lock(), Timer(after, self._show)
        self._timer.daemon = True

    def say(self, text: str) -> None:
        """Show a text, or keep it until the line is shown."""
        with self._lock:
            self._text, is_first = text, not self._text
            if self._shows:
                self._write(text)
            elif is_first:
                self._timer.start()

    def clear(self) -> None:
        """Erase the line, and show nothing from now on."""
        self._timer.cancel()
        with self._lock:
            if self._shows:
                self._write("")
            self._shows, self._text = False, ""

    def _show(self) -> None:
        with self._lock:
            # The progress may have ended.
            if self._text:
                self._shows = True
                self._write(self._text)

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()


def encodable(text: str, encoding: str) -> str:
    r"""Replace what an encoding lacks: symbols of ours by ASCII, other characters by escapes such as `\xe9`."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _coloured(document: Document, columns: int) -> str:
    # Rich takes longer to import than most questions take to answer.
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, color_system="standard", no_color=False, width=columns, legacy_windows=False)
    with console.capture() as captured:
        for row in lay_out(document, columns):
            line = Text.assemble(*((span.text, _COLOURS.get(span.style, "")) for span in row))
            line.rstrip()
            console.print(line, soft_wrap=True, highlight=False)
    return captured.get()
