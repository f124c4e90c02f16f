"""Answers of a server: the JSON object in a response, or the refusal that it means; of Secrets, the metadata."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at
from kubectl_policy.sources.cluster.api.refusals import RequestRefused, printable, refusal_of
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json

# A list that takes more bytes is asked for in pages.
MAX_BYTES: Final = 2**28
_MAX_REFUSAL_BYTES: Final = 2**20
_PIECE: Final = 2**18


def decode_response(response: BaseHTTPResponse) -> Mapping[str, Json]:
    """Read the object in a response, piece by piece.

    Raises RequestRefused for everything but success and an object, and what urllib3 raises while it reads.
    """
    status = response.status
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        location = printable(response.headers.get("Location", ""))
        raise RequestRefused(status, "the server redirects elsewhere, where no credentials are sent", location)
    is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    limit = MAX_BYTES if is_success else _MAX_REFUSAL_BYTES
    raw = bytearray()
    while piece := response.read1(_PIECE):
        raw += piece
        if len(raw) > limit:
            refused = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if is_success else status
            raise RequestRefused(refused, f"the answer is larger than {limit >> 20} MiB")
    try:
        body = decoded(raw)
    except DocumentError:
        raise RequestRefused(status, "the answer is nested too deep") from None
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
        raise RequestRefused(status, reason, retry=refusal_of(status, {}).retry)
    if is_success:
        reason = "the server answered with something that is no JSON object"
        raise RequestRefused(status, reason, media_type, retry=body is None)
    raise refusal_of(status, body if isinstance(body, dict) else {}, response.headers.get("Retry-After", ""))


def strip_secrets(answer: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the metadata of Secrets without annotations, as `kubectl apply` leaves all that a Secret holds in one.

    Raises RequestRefused for more than metadata: servers that do not know it yet answer with the whole object.
    """
    if answer.get("kind") not in {"PartialObjectMetadata", "PartialObjectMetadataList"}:
        raise RequestRefused(HTTPStatus.NOT_ACCEPTABLE, "the server does not give the metadata of Secrets alone")
    stripped = _strip(answer)
    # Go writes null where there are none.
    if "items" in answer and isinstance(answer["items"], list | None):
        stripped["items"] = [_strip(item) for item in mappings_at(answer, "items")]
    return stripped


def _strip(secret: Mapping[str, Json]) -> dict[str, Json]:
    dropped = {"annotations", "managedFields"}
    metadata = {name: field for name, field in mapping_at(secret, "metadata").items() if name not in dropped}
    return {**{name: secret[name] for name in ("apiVersion", "kind") if name in secret}, "metadata": metadata}
