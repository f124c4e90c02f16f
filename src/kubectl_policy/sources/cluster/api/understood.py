"""What a response means: the JSON object in its body, or why there is none."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.fields import integer_at
from kubectl_policy.sources.cluster.api.answers import Refusal, refusal_of, shown
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json

# No world that one computer answers questions about is larger, in bytes of one answer; what a refusal says is short.
LARGEST: Final = 2**30
_LARGEST_REFUSAL: Final = 2**20
_PIECE: Final = 2**18


def understood(response: BaseHTTPResponse, check: Callable[[], object]) -> Mapping[str, Json]:
    """The object in a response, which is read piece by piece; `check` is called after each, and may raise.

    Raises Refusal for everything but success and an object, and what urllib3 raises while it reads.
    """
    status = response.status
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        where = shown(response.headers.get("Location", ""))
        raise Refusal(status, "the server redirects elsewhere, where no credentials are sent", where)
    is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    raw = _body(response, LARGEST if is_success else _LARGEST_REFUSAL, check)
    check()
    sort = shown(response.headers.get("Content-Type", "").partition(";")[0])
    try:
        body = decoded(raw)
    except DocumentError:
        raise Refusal(status, "the answer is nested too deep") from None
    except ValueError:
        body = None
    if is_success and isinstance(body, dict):
        if body.get("kind") == "Status" and body.get("status") == "Failure":
            raise refusal_of(integer_at(body, "code") or status, body)
        return cast("Mapping[str, Json]", body)
    if sort == "text/html":
        proxy = f"the server answered with status {status} and {sort}: is there a proxy or a login page in between?"
        raise Refusal(status, proxy, retry=refusal_of(status, {}).retry)
    if is_success:
        raise Refusal(status, "the server answered with something that is no JSON object", sort, retry=body is None)
    raise refusal_of(status, body if isinstance(body, dict) else {}, response.headers.get("Retry-After", ""))


def _body(response: BaseHTTPResponse, largest: int, check: Callable[[], object]) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(_PIECE):
        size += len(piece)
        if size > largest:
            raise Refusal(response.status, f"the answer is larger than {largest >> 20} MiB")
        pieces.append(piece)
        check()
    return b"".join(pieces)
