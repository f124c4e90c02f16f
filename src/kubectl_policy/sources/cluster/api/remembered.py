"""What a server serves, written down for some hours in a file of the user: whatever is wrong with it, it is as none."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import items_at
from kubectl_policy.sources.cluster.api.served import Served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model.fields import Json
    from kubectl_policy.sources.cluster.api.served import Discovery

# As long as kubectl keeps its own: cli-runtime, pkg/genericclioptions/config_flags.go, `ToDiscoveryClient`.
_HOURS: Final = 6
_LIFE: Final = _HOURS * 3600.0
# Clocks of file systems may be ahead by as many seconds.
_AHEAD: Final = 60
_LARGEST: Final = 2**24
# The form of the file; another one is as none.
_FORM: Final = 1
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9.-]")


def place_of(server: str, cache_dir: str = "") -> Path | None:
    """The file about a server, beside what kubectl keeps and in a folder of our own; None without a home.

    As with kubectl, a `cache_dir` beats $KUBECACHEDIR, which beats ~/.kube/cache, and the folder is called like the
    host.
    """
    root = cache_dir or os.environ.get("KUBECACHEDIR") or _in_home()
    host = _NOT_IN_NAMES.sub("_", server.partition("://")[2] or server).strip(".")
    return Path(root) / "kubectl-policy" / host / "discovery.json" if root and host else None


def _in_home() -> str:
    try:
        return str(Path.home() / ".kube" / "cache")
    except RuntimeError:
        return ""


def remembered(server: str, cache_dir: str = "") -> Sequence[Served]:
    """The kinds that a server was written down to serve; none if that is too old, or is not to be trusted."""
    place = place_of(server, cache_dir)
    text = _read(place) if place else b""
    try:
        kept: Json = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return ()
    if not isinstance(kept, dict) or kept.get("form") != _FORM or kept.get("server") != server:
        return ()
    served = [_served(row) for row in items_at(kept, "kinds")]
    return tuple(each for each in served if each) if all(served) else ()


def remember(discovery: Discovery, server: str, cache_dir: str = "") -> None:
    """Write down what a server serves, for nobody else to read; where that is not possible, nothing happens."""
    place = place_of(server, cache_dir)
    if not place:
        return
    rows = [_row(each) for each in discovery.kinds.values()]
    text = json.dumps({"form": _FORM, "server": server, "kinds": rows}, separators=(",", ":"))
    new = place.with_name(f".{place.name}.{os.getpid()}")
    # Several commands may write at once: each writes a file of its own, and the last one stays.
    with suppress(OSError):
        _make_folder(place.parent)
        new.unlink(missing_ok=True)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
            new.replace(place)
        finally:
            new.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _read(place: Path) -> bytes:
    """What is in a file of the user that nobody else could write to; nothing if it is another's, or old."""
    try:
        # Opening a pipe would wait for who writes into it.
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            own = found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            young = -_AHEAD < time.time() - found.st_mtime < _LIFE
            return file.read() if stat.S_ISREG(found.st_mode) and own and young and found.st_size < _LARGEST else b""
    except (OSError, ValueError):
        return b""


def _row(served: Served) -> list[object]:
    names = [served.group, served.version, served.kind, served.plural, served.singular]
    return [*names, served.namespaced, [*served.short_names], [*served.verbs], [*served.categories]]


def _served(row: Json) -> Served | None:
    """A kind as it was written down; None if it is none."""
    match row:
        case [str(group), str(version), str(kind), str(plural), str(singular), bool(is_namespaced), one, two, three]:
            short_names, verbs, categories = _names(one), _names(two), _names(three)
        case _:
            return None
    if short_names is None or verbs is None or categories is None:
        return None
    found = Served(group, version, kind, plural, singular, is_namespaced, short_names, verbs, categories)
    return found if found.is_possible else None


def _names(names: Json) -> tuple[str, ...] | None:
    if not isinstance(names, list):
        return None
    texts = tuple(name for name in names if isinstance(name, str))
    return texts if len(texts) == len(names) else None
