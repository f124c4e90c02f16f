"""Connection to an API server that can only read, with GET, within one deadline."""

from __future__ import annotations

import re
import sys
import time
from concurrent.futures import Future
from contextlib import closing
from copy import copy
from http import HTTPStatus
from platform import machine
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import unquote, urlencode

from msgspec import Struct
from msgspec.structs import replace
from urllib3 import HTTPHeaderDict
from urllib3.exceptions import HTTPError
from urllib3.util import Timeout

from kubectl_policy import __version__
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.sources.cluster.request_failures import RequestFailed, refusal_of_error
from kubectl_policy.sources.cluster.responses import Decode, Watch, decode_response, strip_secrets
from kubectl_policy.text.json_reader import decode_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from urllib3 import BaseHTTPResponse

    from kubectl_policy.model.fields import Json
    from kubectl_policy.sources.cluster.access import Access

JSON: Final = "application/json"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

# Seconds before each retry: a server that restarts behind a balancer is back that soon, or a gap is the better answer.
_PAUSES: Final = (0.1, 0.3, 0.9)
# As many objects as kubectl takes at once, where a server cannot give all.
_CHUNK: Final = 500
_TOO_LARGE: Final = frozenset({413, 504})
# Seconds after which a server is to end a watch, and after which a silent one is cut.
_WATCH: Final = 240
_WATCH_SILENCE: Final = 300
_NO_QUERY: Final[Mapping[str, str]] = {}
_SECRETS: Final = re.compile("api/v1/(watch/)?(namespaces/[^/]+/)?secrets(/|$)")

Result = TypeVar("Result")


class ListAnswer(Struct, frozen=True):
    """The objects of all pages of a list, and the state of the cluster that they are from.

    Objects of kinds that Kubernetes itself has do not say their `apiVersion` and `kind` in lists.
    """

    items: Sequence[Mapping[str, Json]]
    resource_version: str


class _Request(Struct, frozen=True):
    path: str
    query: Mapping[str, str]
    accept: str
    decode: Decode = decode_json


class Connection:
    """Connection of one command to one API server, which threads may share.

    There is one deadline for all that is asked. Every method ends by then, whatever the server, the resolver of names
    or a credential plugin does, and raises `RequestFailed`, or an error of the access itself.
    """

    def __init__(self, access: Access, *, timeout: float = 30.0) -> None:
        """Set the deadline `timeout` seconds from now; 0 sets none."""
        self.access, self._timeout = access, timeout
        self._end = time.monotonic() + timeout if timeout else None
        self._within = f" within --request-timeout {timeout:g}s" if timeout else ""

    @property
    def seconds_left(self) -> float | None:
        """The time until the deadline; None if there is none."""
        return None if self._end is None else max(self._end - time.monotonic(), 0)

    def hurried(self) -> Connection:
        """Return the connection for what others wait for: it leaves them half of the time until the deadline."""
        hurried, seconds = copy(self), self.seconds_left
        if seconds is not None:
            hurried._end = time.monotonic() + seconds / 2  # noqa: SLF001 (of this class)
            hurried._within = f" within half of the time that --request-timeout {self._timeout:g}s left"  # noqa: SLF001 (see above)
        return hurried

    def get(
        self, path: str, query: Mapping[str, str] = _NO_QUERY, accept: str = JSON, decode: Decode = decode_json
    ) -> Mapping[str, Json]:
        """Get the object at a path. Of Secrets it is the metadata, whatever is accepted."""
        return self._ask(_Request(path, query, accept, decode))

    def list(
        self,
        path: str,
        query: Mapping[str, str] = _NO_QUERY,
        accept: str = JSON,
        chunk_size: int = 0,
        decode: Decode = decode_json,
    ) -> ListAnswer:
        """List all objects at a path: in one answer, unless there is a `chunk_size` or the answer is too large.

        What changes between two pages is as it was at the first one; where the server has forgotten that state, the
        list starts over without pages. https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
        """
        request = _Request(path, query, accept, decode)
        try:
            return self._list_pages(request, chunk_size)
        except RequestFailed as refusal:
            if chunk_size or refusal.status not in _TOO_LARGE:
                raise
        return self._list_pages(request, _CHUNK)

    def watch(self, path: str, query: Mapping[str, str], accept: str = JSON) -> Watch:
        """Watch a path, from the `resourceVersion` in the query on, until it is closed or the server ends it.

        No deadline is over it but one of the same length for its beginning.
        https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
        """
        options = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(_WATCH)}
        request = _Request(path, {**query, **options}, accept)
        is_of_secrets = _is_of_secrets(request)
        timeout = self._timeout or None

        def begin(headers: Mapping[str, str]) -> BaseHTTPResponse:
            response = self._send(request, headers, Timeout(connect=timeout, read=_WATCH_SILENCE))
            if response.status != HTTPStatus.OK:
                with closing(response):
                    decode_response(response)
            return response

        response = self._wait(lambda: self._ask_with_new_credentials(begin), timeout)
        return Watch(response, query.get("resourceVersion", ""), is_of_secrets=is_of_secrets)

    def _list_pages(self, request: _Request, chunk_size: int) -> ListAnswer:
        items: list[Mapping[str, Json]] = []
        query = {**request.query, **({"limit": str(chunk_size)} if chunk_size else {})}
        token = ""
        while True:
            try:
                page = self._ask(replace(request, query=query))
            except RequestFailed as refusal:
                if refusal.status != HTTPStatus.GONE or not (token and chunk_size):
                    raise
                return self._list_pages(request, 0)
            listed = mappings_at(page, "items")
            # Go writes null where there are none.
            if "items" not in page or not (page["items"] is None or listed == page["items"]):
                raise RequestFailed(HTTPStatus.OK, "the server answered with something that is not a list")
            items += listed
            last, token = token, text_at(page, "metadata.continue")
            if not token:
                return ListAnswer(items, text_at(page, "metadata.resourceVersion"))
            if token == last:
                raise RequestFailed(HTTPStatus.OK, "the server answers with the same page of a list again and again")
            # The token says which state it is of, and servers refuse to be told twice.
            query = {name: text for name, text in query.items() if not name.startswith("resourceVersion")}
            query["continue"] = token

    def _ask(self, request: _Request) -> Mapping[str, Json]:
        is_secret = _is_of_secrets(request)
        answer = self._wait(lambda: self._ask_with_retries(request), self.seconds_left)
        return strip_secrets(answer) if is_secret else answer

    def _wait(self, work: Callable[[], Result], seconds: float | None) -> Result:
        """Return what comes of the work, in a thread of its own: nothing else ends the wait for a resolver of names."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 (it is raised where somebody waits)
                future.set_exception(error)

        Thread(target=run, daemon=True).start()
        try:
            return future.result(seconds)
        except TimeoutError:
            raise self._timeout_refusal() from None

    def _ask_with_retries(self, request: _Request) -> Mapping[str, Json]:
        def ask(headers: Mapping[str, str]) -> Mapping[str, Json]:
            seconds = self.seconds_left
            if seconds == 0:
                raise self._timeout_refusal()
            with closing(self._send(request, headers, Timeout(connect=seconds, read=seconds))) as response:
                return decode_response(response, request.decode)

        for pause in _PAUSES:
            try:
                return self._ask_with_new_credentials(ask)
            except RequestFailed as refusal:
                if not refusal.retry:
                    raise
                self._pause(refusal, pause)
        return self._ask_with_new_credentials(ask)

    def _ask_with_new_credentials(self, ask: Callable[[Mapping[str, str]], Result]) -> Result:
        """Ask, and once more if the credentials were refused and there are new ones.

        Raises RequestRefused for whatever stands in the way of an answer.
        """
        headers = self.access.headers()
        try:
            try:
                return ask(headers)
            except RequestFailed as refusal:
                if refusal.status != HTTPStatus.UNAUTHORIZED or not self.access.renew(headers):
                    raise
            return ask(self.access.headers())
        except (HTTPError, OSError) as error:
            raise refusal_of_error(error, self._timeout_refusal().reason) from None
        except ValueError:
            # What is wrong with a header is not told: it may be a token.
            raise RequestFailed(0, "a header cannot be sent: is there a line break in the token?") from None

    def _pause(self, refusal: RequestFailed, seconds: float) -> None:
        """Wait as long as the server says, or a little, where that leaves time to ask again."""
        seconds_left = self.seconds_left
        pause = max(refusal.wait, seconds)
        if seconds_left is not None and pause >= seconds_left:
            if not refusal.wait:
                raise refusal
            limit = f"longer than --request-timeout {self._timeout:g}s leaves"
            reason = f"{refusal.reason}: the server asks to wait {refusal.wait:g}s, {limit}"
            raise RequestFailed(refusal.status, reason, refusal.message)
        time.sleep(pause)

    def _send(self, request: _Request, headers: Mapping[str, str], timeout: Timeout) -> BaseHTTPResponse:
        query = f"?{urlencode(request.query)}" if request.query else ""
        # Whoever is impersonated may be in several groups, each of which is a header of its own.
        headers = HTTPHeaderDict(headers)
        headers["Accept"] = request.accept
        headers.setdefault("Accept-Encoding", "identity" if "watch" in request.query else "gzip")
        headers["User-Agent"] = f"kubectl-policy/{__version__} ({sys.platform}/{machine()})"
        return self.access.pool.urlopen(
            "GET",
            f"{self.access.server}{request.path}{query}",
            headers=headers,
            redirect=False,
            retries=False,
            preload_content=False,
            timeout=timeout,
        )

    def _timeout_refusal(self) -> RequestFailed:
        return RequestFailed(0, f"no answer{self._within}")


def _is_of_secrets(request: _Request) -> bool:
    """Whether Secrets are at the path of a request, of which nothing but the metadata may be asked.

    Raises RequestRefused where a name in the path can be none of an object, and would lead elsewhere: a name from an
    object, such as `a/proxy` or `..`, must not decide what is read (`IsValidPathSegmentName` of
    k8s.io/apimachinery/pkg/api/validation/path). Raises ValueError if more than metadata is asked.
    """
    names = [unquote(segment) for segment in request.path.removeprefix("/").split("/")]
    if any(not name or name in {".", ".."} or "/" in name or "%" in name for name in names):
        raise RequestFailed(HTTPStatus.NOT_FOUND, "not found", "nothing can have such a name")
    is_secret = _SECRETS.match("/".join(names)) is not None
    if is_secret and request.accept not in {METADATA, METADATA_LIST}:
        raise ValueError(f"of Secrets, nothing but metadata is asked: {request.path}")
    return is_secret
