"""Watch: the changes of objects at a path, as the server sends them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from urllib3.exceptions import HTTPError

from kubectl_policy.model.fields import integer_at, mapping_at, text_at
from kubectl_policy.sources.cluster.api.answers import strip_secrets
from kubectl_policy.sources.cluster.api.refusals import RequestRefused, refusal_of, refusal_of_error
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json

_PIECE: Final = 2**16
# etcd takes no object that is larger than a small part of it.
_MAX_LINE_BYTES: Final = 2**26


class Watch:
    """Objects that changed, as they are now or were last, until the watch is closed or the server ends it.

    Then it ends without an error, and `resource_version` is where the next one begins. It raises RequestRefused if the
    connection is cut, and with the status 410 if the server forgot what changed since: then all is to be listed anew.
    """

    def __init__(self, response: BaseHTTPResponse, resource_version: str, *, is_of_secrets: bool) -> None:
        """Read the events in the body of a response; of Secrets, only the metadata is kept."""
        self._response, self.resource_version, self._is_of_secrets = response, resource_version, is_of_secrets
        self._is_closed = False

    def close(self) -> None:
        """End it, also for another thread that waits for the next change."""
        self._is_closed = True
        # It may have ended by itself.
        with suppress(OSError, ValueError, RuntimeError):
            self._response.shutdown()

    def __iter__(self) -> Iterator[Mapping[str, Json]]:
        """Iterate over the changed objects, as the server reports them."""
        rest = b""
        try:
            while piece := self._response.read1(_PIECE):
                *lines, rest = (rest + piece).split(b"\n")
                yield from filter(None, map(self._decode, lines))
                if len(rest) > _MAX_LINE_BYTES:
                    raise RequestRefused(0, f"an event is larger than {_MAX_LINE_BYTES >> 20} MiB")
        except (HTTPError, OSError) as error:
            if not self._is_closed:
                raise refusal_of_error(error, "the server is silent") from None
        finally:
            self._response.close()

    def _decode(self, line: bytes) -> Mapping[str, Json] | None:
        """Return the object in an event; None if nothing changed."""
        try:
            event = decoded(line) if line.strip() else None
        except (ValueError, DocumentError):
            raise RequestRefused(0, "the server told an event that is no JSON", retry=True) from None
        event_type, changed = text_at(event, "type"), mapping_at(event, "object")
        if event_type == "ERROR":
            raise refusal_of(integer_at(changed, "code") or 0, changed)
        self.resource_version = text_at(changed, "metadata.resourceVersion") or self.resource_version
        if event_type not in {"ADDED", "MODIFIED", "DELETED"}:
            return None
        return strip_secrets(changed) if self._is_of_secrets else changed
