"""Standard output and standard error: their width, colors and encoding, and writing to them."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import PolicyError, UsageError
from kubectl_policy.render.output.escape import Commands, escape_commands, escape_controls
from kubectl_policy.render.output.text import DEFAULT_WIDTH, lay_out, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

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
    "superseded": "dim",
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
    columns = shutil.get_terminal_size((DEFAULT_WIDTH, 0)).columns
    return min(max(columns, _MIN_WIDTH), _MAX_WIDTH)


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


class HeldOutput:
    """Output that is held back until `release`: texts for standard output, and lines for standard error."""

    def __init__(self) -> None:
        """Start without output."""
        self.texts: list[str | bytes] = []
        self.remarks: list[str] = []

    @property
    def answer(self) -> str:
        """The text for standard output."""
        return "".join(map(str, self.texts))

    def release(self, prefix: str = "") -> bool:
        """Write all texts, with a prefix before each line on standard error. Return False if the pipe was closed."""
        _holding.clear()
        is_read = all(map(write, self.texts))
        write_remarks(*(f"{prefix}{line}" for line in self.remarks))
        return is_read


# The output that is held back now, if any is.
_holding: Final[list[HeldOutput]] = []


@contextmanager
def hold_output() -> Generator[HeldOutput]:
    """Hold back all output; output that is not let go is never written."""
    _holding[:] = [HeldOutput()]
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
        _holding[0].texts.append(answer)
        return True
    if sys.stdout is None:
        raise PolicyError("cannot write the answer: standard output is closed")
    try:
        if isinstance(answer, str):
            text = answer if isinstance(answer, Commands) else escape_commands(answer)
            sys.stdout.write(replace_unencodable(text, sys.stdout.encoding or "utf-8"))
        else:
            sys.stdout.buffer.write(answer)
        sys.stdout.flush()
    except BrokenPipeError:
        return False
    except OSError as error:
        raise PolicyError(f"cannot write the answer: {error.strerror}") from error
    return True


def write_remarks(*lines: str) -> None:
    """Write lines to standard error, if there is one."""
    if _holding:
        _holding[0].remarks += lines
        return
    if sys.stderr is not None:
        text = "".join(f"{escape_controls(line)}\n" for line in lines)
        with suppress(OSError):
            sys.stderr.write(replace_unencodable(escape_commands(text), sys.stderr.encoding or "utf-8"))
            sys.stderr.flush()


@contextmanager
def progress(doing: str, after: float = 0) -> Generator[Callable[[int, int, str], None] | None]:
    """Show progress in one line on standard error, which is erased at the end. Yield None without a terminal.

    Yield a function of the number of steps begun, their total (0 if unknown), and the name of the last step. Nothing is
    shown in the first seconds (`after`).
    """
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from threading import Timer

    text, is_shown = "", False

    def write_line() -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()

    def begin() -> None:
        nonlocal is_shown
        is_shown = True
        if text:
            write_line()

    def tell(begun: int, total: int, name: str) -> None:
        nonlocal text
        with suppress(OSError):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_WIDTH
            counted = f"{begun} of {total}: " if total else ""
            line = f"{doing} {counted}{escape_controls(name)} ..."
            text = replace_unencodable(line[: columns - 1], sys.stderr.encoding or "utf-8")
        if is_shown:
            write_line()

    timer = Timer(after, begin)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        if is_shown:
            text = ""
            write_line()


def replace_unencodable(text: str, encoding: str) -> str:
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
