"""Results of programs, kept by their keys in the user's cache folder, of which the least recently used go first."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_BYTES: Final = 2**28
# Room is made for many results at once: for that, the whole folder has to be listed.
_SHARE_AFTER_EVICTION: Final = 0.75
# To note every use would cost a write for each read.
_SECONDS_BETWEEN_NOTED_USES: Final = 3600.0
# Opening a pipe would wait for its writer.
_READING: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Cache:
    """Folder with a file for each key. Results that cannot be read or written are as if they were not kept."""

    def __init__(
        self, folder: Path | None = None, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        """Use a folder, by default the one of this program among the user's caches."""
        self._folder = folder or cache_folder()
        self._max_bytes, self._clock = max_bytes, clock
        # Counted when something is written for the first time.
        self._bytes: int | None = None

    def get(self, key: str) -> bytes | None:
        """Return the data that are kept for a key; None if there are none, or others could have written them."""
        if not self._folder:
            return None
        path = self._folder / key
        try:
            with os.fdopen(os.open(path, _READING), "rb") as file:
                status = os.fstat(file.fileno())
                data = zlib.decompress(file.read()) if _is_private(status) else None
        except (OSError, zlib.error):
            return None
        now = self._clock()
        if abs(now - status.st_mtime) > _SECONDS_BETWEEN_NOTED_USES:
            with suppress(OSError):
                os.utime(path, (now, now))
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keep data for a key, and make room if there is too much."""
        if not self._folder:
            return
        # The checksum in it tells whether a file is whole.
        packed = zlib.compress(data, 1)
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(self._folder / key, packed)
            self._bytes = self._bytes + len(packed) if self._bytes else sum(size for _, size, _ in self._files())
            if self._bytes > self._max_bytes:
                self._bytes = self._evict()

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file that only its owner may read, and that nobody sees before it is whole. Raises OSError."""
        handle, name = tempfile.mkstemp(dir=path.parent)
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            now = self._clock()
            os.utime(part, (now, now))
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def _evict(self) -> int:
        """Delete the least recently used files until there is room; return the size of those that stay."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= self._max_bytes * _SHARE_AFTER_EVICTION:
                break
            # Another process may be faster.
            with suppress(FileNotFoundError):
                path.unlink()
            total -= size
        return total

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield the last noted use, the size and the path of every file, also of parts that were left behind."""
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, Path(entry.path)


def cache_folder() -> Path | None:
    """Return the folder for results among the caches of the user; None without a home."""
    caches = user_caches()
    return caches / "kubectl-policy" / "rendered" if caches else None


def user_caches() -> Path | None:
    """Return the folder in which programs keep caches of the user; None without a home."""
    home = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    try:
        caches = Path(home) if home else Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    except RuntimeError:
        return None
    # By their convention, others are to be ignored.
    return caches if caches.is_absolute() else None


def _is_private(status: os.stat_result) -> bool:
    """Whether a file is a plain one, which only this user can have written."""
    is_own = sys.platform == "win32" or status.st_uid == os.getuid()
    return stat.S_ISREG(status.st_mode) and is_own and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
