"""Cache of what a server serves: a file of the user, for some hours; a file with anything wrong counts as none."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_policy.sources.cluster.api.served import Served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.sources.cluster.api.served import Discovery

# As long as kubectl keeps its own: cli-runtime, pkg/genericclioptions/config_flags.go, `ToDiscoveryClient`.
_SECONDS: Final = 6 * 3600.0
# Clocks of file systems may be ahead by as many seconds.
_MAX_AHEAD: Final = 60
_MAX_BYTES: Final = 2**24
# The form of the file; one of another form counts as none.
_FORM: Final = 1
_FIELDS: Final = (
    *("group", "version", "kind", "plural", "singular"),
    *("namespaced", "short_names", "verbs", "categories"),
)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9.-]")


class CachedKinds(msgspec.Struct, frozen=True):
    """The content of the file: the fields of each kind, in their order."""

    form: int
    server: str
    kinds: list[tuple[str, str, str, str, str, bool, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]


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
    """Return the kinds that a server served some hours ago; none if that is too old, or is not to be trusted."""
    path = cache_path(server, cache_dir)
    try:
        cached = msgspec.json.decode(_read(path) if path else b"", type=CachedKinds)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ()
    if cached.form != _FORM or cached.server != server:
        return ()
    kinds = [Served(*row) for row in cached.kinds]
    return kinds if all(kind.is_possible for kind in kinds) else ()


def write_cache(discovery: Discovery, server: str, cache_dir: str = "") -> None:
    """Write what a server serves into the file, for nobody else to read; where that is not possible, do nothing."""
    path = cache_path(server, cache_dir)
    if not path:
        return
    kinds = [attrgetter(*_FIELDS)(kind) for kind in discovery.kinds.values()]
    content = msgspec.json.encode(CachedKinds(_FORM, server, kinds))
    new = path.with_name(f".{path.name}.{os.getpid()}")
    # Several commands may write at once: each writes a file of its own, and the last one stays.
    with suppress(OSError):
        _make_folder(path.parent)
        new.unlink(missing_ok=True)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _read(path: Path) -> bytes:
    """Return the content of a file of the user that nobody else could write to; nothing if it is another's, or old."""
    try:
        # Opening a pipe would wait for who writes into it.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            is_own = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            is_young = -_MAX_AHEAD < time.time() - status.st_mtime < _SECONDS
            is_usable = stat.S_ISREG(status.st_mode) and is_own and is_young and status.st_size < _MAX_BYTES
            return file.read() if is_usable else b""
    except (OSError, ValueError):
        return b""
