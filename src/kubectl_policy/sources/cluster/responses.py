"""Responses of an API server: objects, refusals, and the events of a watch; of Secrets, the metadata alone."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from urllib3.exceptions import HTTPError

from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at, text_at
from kubectl_policy.sources.cluster.request_failures import RequestFailed, printable, refusal_of, refusal_of_error
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decode_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json


# A list that takes more bytes is asked for in pages.
MAX_BYTES: Final = 2**28
_MAX_REFUSAL_BYTES: Final = 2**20
_BODY_PIECE: Final = 2**18
_EVENTS_PIECE: Final = 2**16
# etcd takes no object that is larger than a small part of it.
_MAX_LINE_BYTES: Final = 2**26


# Decodes an answer; raises ValueError where that is not JSON, and DocumentError where it is nested too deep.
Decode: TypeAlias = "Callable[[bytes | bytearray], Json]"


def decode_response(response: BaseHTTPResponse, decode: Decode = decode_json) -> Mapping[str, Json]:
    """Read the object in a response, piece by piece.

    Raises RequestRefused for everything but success and an object, and what urllib3 raises while it reads.
    """
    status = response.status
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        location = printable(response.headers.get("Location", ""))
        raise RequestFailed(status, "the server redirects elsewhere, where no credentials are sent", location)
    is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    limit = MAX_BYTES if is_success else _MAX_REFUSAL_BYTES
    raw = bytearray()
    while piece := response.read1(_BODY_PIECE):
        raw += piece
        if len(raw) > limit:
            refused = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if is_success else status
            raise RequestFailed(refused, f"the answer is larger than {limit >> 20} MiB")
    try:
        body = decode(raw) if is_success else decode_json(raw)
    except DocumentError:
        raise RequestFailed(status, "the answer is nested too deep") from None
    except ValueError:
        body = None
    if is_success and isinstance(body, dict):
        if body.get("kind") == "Status" and body.get("status") == "Failure":
            raise refusal_of(integer_at(body, "code") or status, body)
        return cast("Mapping[str, Json]", body)
    media_type = printable(response.headers.get("Content-Type", "").partition(";")[0])
    if media_type == "text/html":
        reason = (
            f"the server answered with status {status} and {media_type}: is there a proxy or a login page in between?"
        )
        raise RequestFailed(status, reason, retry=refusal_of(status, {}).retry)
    if is_success:
        reason = "the server answered with something that is not a JSON object"
        raise RequestFailed(status, reason, media_type, retry=body is None)
    raise refusal_of(status, body if isinstance(body, dict) else {}, response.headers.get("Retry-After", ""))


def strip_secrets(answer: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the metadata of Secrets without annotations, as `kubectl apply` leaves all that a Secret holds in one.

    Raises RequestRefused for more than metadata: servers that do not know it yet answer with the whole object.
    """
    if answer.get("kind") not in {"PartialObjectMetadata", "PartialObjectMetadataList"}:
        raise RequestFailed(HTTPStatus.NOT_ACCEPTABLE, "the server does not give the metadata of Secrets alone")
    stripped = _strip(answer)
    # Go writes null where there are none.
    if "items" in answer and isinstance(answer["items"], list | None):
        stripped["items"] = [_strip(item) for item in mappings_at(answer, "items")]
    return stripped


def _strip(secret: Mapping[str, Json]) -> dict[str, Json]:
    dropped = {"annotations", "managedFields"}
    metadata = {name: field for name, field in mapping_at(secret, "metadata").items() if name not in dropped}
    return {**{name: secret[name] for name in ("apiVersion", "kind") if name in secret}, "metadata": metadata}


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
        unfinished = b""
        try:
            while piece := self._response.read1(_EVENTS_PIECE):
                *lines, unfinished = (unfinished + piece).split(b"\n")
                yield from filter(None, map(self._decode, lines))
                if len(unfinished) > _MAX_LINE_BYTES:
                    raise RequestFailed(0, f"an event is larger than {_MAX_LINE_BYTES >> 20} MiB")
        except (HTTPError, OSError) as error:
            if not self._is_closed:
                raise refusal_of_error(error, "the server is silent") from None
        finally:
            self._response.close()

    def _decode(self, line: bytes) -> Mapping[str, Json] | None:
        """Return the object in an event; None if nothing changed."""
        try:
            event = decode_json(line) if line.strip() else None
        except (ValueError, DocumentError):
            raise RequestFailed(0, "the server sent an event that is not JSON", retry=True) from None
        event_type, changed = text_at(event, "type"), mapping_at(event, "object")
        if event_type == "ERROR":
            raise refusal_of(integer_at(changed, "code") or 0, changed)
        self.resource_version = text_at(changed, "metadata.resourceVersion") or self.resource_version
        if event_type not in {"ADDED", "MODIFIED", "DELETED"}:
            return None
        return strip_secrets(changed) if self._is_of_secrets else changed
