"""Cache of what a server serves: a file of the user, for some hours; a file with anything wrong counts as none."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_policy.sources.cluster.api.discovery import Discovery, Served, ask_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.sources.cluster.api.connection import Connection

# As long as kubectl keeps its own: cli-runtime, pkg/genericclioptions/config_flags.go, `ToDiscoveryClient`.
_SECONDS: Final = 6 * 3600.0
# Clocks of file systems may be ahead by as many seconds.
_MAX_AHEAD: Final = 60
_MAX_BYTES: Final = 2**24
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9.-]")


class CachedKinds(msgspec.Struct, frozen=True):
    """The content of the file."""

    server: str
    kinds: tuple[Served, ...]


def discover(connection: Connection, server: str, cache_dir: str = "") -> Discovery:
    """Return what a server serves, as it was some hours ago if that is cached; `refresh` asks the server.

    What it answers is cached below `cache_dir` unless something is missing from it. Raises RequestRefused if nothing is
    cached and the server does not answer.
    """

    def ask() -> Discovery:
        discovery = ask_server(connection)
        if not discovery.gaps:
            write_cache(discovery, server, cache_dir)
        return discovery

    cached = read_cache(server, cache_dir)
    return Discovery(cached, ask_again=ask) if cached else ask()


def cache_path(server: str, cache_dir: str = "") -> Path | None:
    """Return the path of the file about a server; None without a home.

    As with kubectl, a `cache_dir` beats $KUBECACHEDIR, which beats ~/.kube/cache, and the folder is called like the
    host.
    """
    host = _NOT_IN_NAMES.sub("_", server.partition("://")[2] or server).strip(".")
    with suppress(RuntimeError):
        root = cache_dir or os.environ.get("KUBECACHEDIR") or Path.home() / ".kube" / "cache"
        return Path(root) / "kubectl-policy" / host / "discovery.json" if host else None
    return None


def read_cache(server: str, cache_dir: str = "") -> Sequence[Served]:
    """Return the kinds that a server served some hours ago; none if that is too old, or others could write the file."""
    try:
        # Opening a pipe would wait for who writes into it.
        handle = os.open(cache_path(server, cache_dir) or "", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            is_own = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            is_young = -_MAX_AHEAD < time.time() - status.st_mtime < _SECONDS
            is_usable = stat.S_ISREG(status.st_mode) and is_own and is_young and status.st_size < _MAX_BYTES
            cached = msgspec.json.decode(file.read() if is_usable else b"", type=CachedKinds)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return ()
    return cached.kinds if cached.server == server and all(kind.is_possible for kind in cached.kinds) else ()


def write_cache(discovery: Discovery, server: str, cache_dir: str = "") -> None:
    """Write what a server serves into the file, for nobody else to read; where that is not possible, do nothing."""
    path = cache_path(server, cache_dir)
    if not path:
        return
    with suppress(OSError):
        for parent in reversed(path.parents):
            parent.mkdir(mode=0o700, exist_ok=True)
        # Several commands may write at once: each writes a file of its own, and the last one stays.
        with TemporaryDirectory(dir=path.parent) as folder:
            new = Path(folder) / path.name
            new.touch(mode=0o600)
            new.write_bytes(msgspec.json.encode(CachedKinds(server, tuple(discovery.kinds.values()))))
            new.replace(path)
