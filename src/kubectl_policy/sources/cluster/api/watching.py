"""What changes in a cluster, as the server tells it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from urllib3.exceptions import HTTPError

from kubectl_policy.model.fields import integer_at, mapping_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.api.answers import Refusal, refusal_of
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json

_PIECE: Final = 2**16
# etcd takes no object that is larger than a small part of it.
_LONGEST_LINE: Final = 2**26


@value()
class Event:
    """An object that was `ADDED`, `MODIFIED` or `DELETED`, as it is now or was last."""

    type: str
    object: Mapping[str, Json]


class Watch:
    """The events of a watch: as many as there are until it is closed, also by another thread, or the server ends it.

    It ends without an error then; `resource_version` is where the next one begins. It raises Refusal if the connection
    is cut, and with the status 410 if the server does not know any more what changed since: then all is listed anew.
    """

    def __init__(
        self,
        response: BaseHTTPResponse,
        resource_version: str,
        refusal: Callable[[Exception], Refusal],
        kept: Callable[[Mapping[str, Json]], Mapping[str, Json]],
    ) -> None:
        """By a response whose body is the events; what is `kept` of an object is told."""
        self._response, self.resource_version, self._refusal, self._kept = response, resource_version, refusal, kept
        self._is_closed = False

    def close(self) -> None:
        """End it, also for a thread that waits for the next event."""
        self._is_closed = True
        # It may have ended by itself.
        with suppress(OSError, ValueError, RuntimeError):
            self._response.shutdown()

    def __iter__(self) -> Iterator[Event]:
        """The events, as they come."""
        try:
            for line in self._lines():
                event = self._event(line)
                if event:
                    yield event
        except (HTTPError, OSError) as error:
            if not self._is_closed:
                raise self._refusal(error) from None
        finally:
            self._response.close()

    def _lines(self) -> Iterator[bytes]:
        begun: list[bytes] = []
        size = 0
        while piece := self._response.read1(_PIECE):
            *ends, rest = piece.split(b"\n")
            for end in ends:
                yield b"".join([*begun, end])
                begun, size = [], 0
            begun.append(rest)
            size += len(rest)
            if size > _LONGEST_LINE:
                raise Refusal(0, f"an event is larger than {_LONGEST_LINE >> 20} MiB")

    def _event(self, line: bytes) -> Event | None:
        """What a line tells; None if it tells no change."""
        try:
            told = decoded(line) if line.strip() else None
        except (ValueError, DocumentError):
            raise Refusal(0, "the server told an event that is no JSON", retry=True) from None
        sort, changed = text_at(told, "type"), mapping_at(told, "object")
        if sort == "ERROR":
            raise refusal_of(integer_at(changed, "code") or 0, changed)
        self.resource_version = text_at(changed, "metadata.resourceVersion") or self.resource_version
        return Event(sort, self._kept(changed)) if sort in {"ADDED", "MODIFIED", "DELETED"} else None
