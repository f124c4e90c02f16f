"""Read a file that a person or a config file names: a regular file or a pipe, and no more of it than a limit."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from io import BytesIO
from typing import Final

# Bytes as they are, also where text is written with other line breaks; a pipe is opened without a wait for its writer.
_TO_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
# Size of the pieces in which a file of unknown size is read.
_PIECE: Final = 2**16
# For so many milliseconds, a pipe waits for a program that writes to it.
_PATIENCE: Final = 3_000
_NOT_FILES: Final = ((stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
# A pipe can be read once, and several parts of the program may ask for its content.
_pipes: dict[tuple[str, int, int], bytes] = {}


def read_named_file(path: str, limit: int) -> bytes:
    """Return the content of a file or pipe, and no more of it than the limit and one byte.

    Raises OSError, also for a device, a socket and a pipe to which no program writes, and ValueError.
    """
    status = os.stat(path)  # noqa: PTH116 (to import Path takes longer than to read a file)
    if _is_null(status):
        return b""
    for is_of_type, noun in _NOT_FILES:
        if is_of_type(status.st_mode):
            raise OSError(errno.EINVAL, f"it is {noun}, not a file", path)
    if not stat.S_ISFIFO(status.st_mode):
        return _read(path, limit, status.st_size)
    key = (path, status.st_dev, status.st_ino)
    if key not in _pipes:
        _pipes[key] = _read(path, limit)
    return _pipes[key][: limit + 1]


def read_named_text(path: str, limit: int) -> str:
    """Return the text of a file or pipe of at most `limit` bytes. Raises OSError, UnicodeDecodeError and ValueError."""
    content = read_named_file(path, limit)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit >> 20} MiB: this is another kind of file", path)
    return content.decode("utf-8-sig")


def _read(path: str, limit: int, size: int = -1) -> bytes:
    """Read a file of a known size in one piece, and a pipe to its end."""
    # To make a file object takes as long as to read a small file.
    file = os.open(path, _TO_READ)
    try:
        data = _first_byte(file) if size < 0 else os.read(file, min(size, limit) + 1)
        # Files of the system itself have no size, and a file may have changed meanwhile.
        if not data or len(data) in {size, limit + 1}:
            return data
        content = BytesIO()
        length = content.write(data)
        while length <= limit and (piece := os.read(file, min(_PIECE, limit + 1 - length))):
            length += content.write(piece)
        return content.getvalue()
    finally:
        os.close(file)


def _first_byte(pipe: int) -> bytes:
    """Wait for the first byte in a pipe, or for its end. Raises OSError where no program writes to it."""
    import select  # noqa: PLC0415 (few inputs are pipes)

    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    first = b""
    if not waiting.poll(_PATIENCE):
        # Without a writer, a pipe is at its end; a writer that is slow blocks.
        with suppress(BlockingIOError):
            first = os.read(pipe, 1)
            if not first:
                raise OSError(errno.EPIPE, "no program writes to this pipe")
    os.set_blocking(pipe, True)
    return first or os.read(pipe, 1)


def _is_null(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and os.path.samestat(status, os.stat(os.devnull))  # noqa: PTH116 (see above)
