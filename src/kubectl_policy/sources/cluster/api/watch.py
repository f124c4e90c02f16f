"""Watches: the changes of objects, as the server sends them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from urllib3.exceptions import HTTPError

from kubectl_policy.model.fields import integer_at, mapping_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.api.refusals import RequestRefused, refusal_of
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json

_PIECE: Final = 2**16
# etcd takes no object that is larger than a small part of it.
_MAX_LINE_BYTES: Final = 2**26


@value()
class WatchEvent:
    """An object that was `ADDED`, `MODIFIED` or `DELETED`, as it is now or was last."""

    type: str
    object: Mapping[str, Json]


class Watch:
    """Events until the watch is closed, also by another thread, or the server ends it.

    Then it ends without an error, and `resource_version` is where the next one begins. It raises RequestRefused if the
    connection is cut, and with the status 410 if the server forgot what changed since: then all is to be listed anew.
    """

    def __init__(
        self,
        response: BaseHTTPResponse,
        resource_version: str,
        refusal_of_error: Callable[[Exception], RequestRefused],
        strip: Callable[[Mapping[str, Json]], Mapping[str, Json]],
    ) -> None:
        """Read the events in the body of a response; of objects, only what `strip` returns is kept."""
        self._response, self.resource_version = response, resource_version
        self._refusal_of_error, self._strip = refusal_of_error, strip
        self._is_closed = False

    def close(self) -> None:
        """End it, also for a thread that waits for the next event."""
        self._is_closed = True
        # It may have ended by itself.
        with suppress(OSError, ValueError, RuntimeError):
            self._response.shutdown()

    def __iter__(self) -> Iterator[WatchEvent]:
        """Iterate over the events, as they come."""
        try:
            for line in self._lines():
                event = self._decode(line)
                if event:
                    yield event
        except (HTTPError, OSError) as error:
            if not self._is_closed:
                raise self._refusal_of_error(error) from None
        finally:
            self._response.close()

    def _lines(self) -> Iterator[bytes]:
        line = bytearray()
        while piece := self._response.read1(_PIECE):
            *ends, rest = piece.split(b"\n")
            for end in ends:
                yield bytes(line + end)
                line.clear()
            line += rest
            if len(line) > _MAX_LINE_BYTES:
                raise RequestRefused(0, f"an event is larger than {_MAX_LINE_BYTES >> 20} MiB")

    def _decode(self, line: bytes) -> WatchEvent | None:
        """Return the event in a line; None if nothing changed."""
        try:
            event = decoded(line) if line.strip() else None
        except (ValueError, DocumentError):
            raise RequestRefused(0, "the server told an event that is no JSON", retry=True) from None
        event_type, changed = text_at(event, "type"), mapping_at(event, "object")
        if event_type == "ERROR":
            raise refusal_of(integer_at(changed, "code") or 0, changed)
        self.resource_version = text_at(changed, "metadata.resourceVersion") or self.resource_version
        is_change = event_type in {"ADDED", "MODIFIED", "DELETED"}
        return WatchEvent(event_type, self._strip(changed)) if is_change else None
