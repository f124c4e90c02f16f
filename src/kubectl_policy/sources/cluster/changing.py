"""What changes in a cluster after it was read: watches for all that was asked, each in a thread of its own."""

from __future__ import annotations

import time
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.api.connection import METADATA
from kubectl_policy.sources.cluster.api.refusals import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.sources.cluster.api.connection import Connection
    from kubectl_policy.sources.cluster.api.watch import Watch

# Each is a connection to the server.
_MOST: Final = 64
_GONE: Final = 410
_PAUSE: Final = 1.0


@value()
class Watched:
    """What is watched: the objects at a path or, with a field selector, those that it selects."""

    path: str
    selector: str = ""


class Changes:
    """What changes since a cluster was read, for somebody who waits for that."""

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._signal, self._lock = Event(), Lock()
        self._running: dict[Watched, _Watching] = {}
        self._refused: set[Watched] = set()
        self.is_whole = True

    def follow(self, connection: Connection, wanted: Mapping[Watched, str]) -> None:
        """Watch what is wanted, from the versions on at which it was read, and nothing else from now on.

        What is watched already goes on. Not everything can be: then this `is_whole` no more.
        """
        chosen = dict([*wanted.items()][:_MOST])
        with self._lock:
            for each in self._running.keys() - chosen.keys():
                self._running.pop(each).close()
            new = {each: version for each, version in chosen.items() if each not in {*self._running, *self._refused}}
            self._running |= {each: _Watching(each, version) for each, version in new.items()}
            self.is_whole = len(chosen) == len(wanted) and self._refused.isdisjoint(chosen)
            begun = [self._running[each] for each in new]
        for watching in begun:
            Thread(target=self._watch, args=(watching, connection), daemon=True).start()

    def wait(self, seconds: float | None) -> bool:
        """Wait until something changes, or may have, but no longer than some seconds: whether it does."""
        changes = self._signal.wait(seconds)
        self._signal.clear()
        return changes

    def close(self) -> None:
        """Watch nothing any more."""
        with self._lock:
            for each in self._running.values():
                each.close()
            self._running.clear()

    def _watch(self, watching: _Watching, connection: Connection) -> None:
        is_begun = False
        try:
            while watch := watching.begin(connection):
                is_begun = True
                for _ in watch:
                    self._signal.set()
        except RequestRefused as refusal:
            with self._lock:
                if watching.is_closed:
                    return
                self._running.pop(watching.watched, None)
                if not is_begun and refusal.status != _GONE:
                    self._refused.add(watching.watched)
                    self.is_whole = False
            # What changed in the meantime is not known: somebody has to look.
            self._signal.set()


class _Watching:
    """Something that is watched, by one watch after the other: servers end them after some minutes."""

    def __init__(self, watched: Watched, version: str) -> None:
        self.watched, self._version = watched, version
        self.is_closed = False
        self._current: Watch | None = None

    def begin(self, connection: Connection) -> Watch | None:
        """The next watch, from where the last one ended; None if it is closed. Raises RequestRefused."""
        if self._current:
            self._version = self._current.resource_version
            # Some servers end them at once.
            time.sleep(_PAUSE)
        if self.is_closed:
            return None
        query = {"resourceVersion": self._version} if self._version else {}
        selected = {"fieldSelector": self.watched.selector} if self.watched.selector else {}
        self._current = connection.watch(self.watched.path, {**query, **selected}, METADATA)
        return self._current

    def close(self) -> None:
        """End it; one that is only just begun may go on for some minutes, and nobody listens."""
        self.is_closed = True
        if self._current:
            self._current.close()
