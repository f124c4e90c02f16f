"""A connection to an API server that can only read: GET, and asking what one may do, within one deadline."""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing
from http import HTTPStatus
from platform import machine
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar, cast
from urllib.parse import unquote, urlencode

from urllib3.exceptions import HTTPError
from urllib3.util import Timeout

from kubectl_policy import __version__
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.answers import Answer, ListAnswer, Refusal, refusal_of, shown
from kubectl_policy.sources.cluster.unreachable import unreachable
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from types import TracebackType

    from urllib3 import BaseHTTPResponse, PoolManager

    from kubectl_policy.model.fields import Json

__all__ = ["JSON", "METADATA", "METADATA_LIST", "Answer", "Connection", "ListAnswer", "Reached", "Refusal"]

JSON: Final = "application/json"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

# No world that one computer answers questions about is larger, in bytes of one answer; what a refusal says is short.
_LARGEST: Final = 2**30
_LARGEST_REFUSAL: Final = 2**20
_PIECE: Final = 2**18
# Seconds between tries: a server that restarts behind a balancer is back that soon, or a gap is the better answer.
_PAUSES: Final = (0.1, 0.3, 0.9)
# As many objects as kubectl takes at once, where a server cannot give all; and pages beyond which a list never ends.
_CHUNK: Final = 500
_MOST_PAGES: Final = 100_000
_TOO_LARGE: Final = frozenset({413, 504})
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_NOTHING: Final[Mapping[str, str]] = {}

Result = TypeVar("Result")


class Reached(Protocol):
    """What a connection needs to know of the access to a cluster."""

    @property
    def server(self) -> str:
        """The URL of the server, without a slash at its end."""
        ...

    @property
    def pool(self) -> PoolManager:
        """What connects: TLS, client certificates and proxies are set up in it."""
        ...

    @property
    def headers(self) -> Callable[[], Mapping[str, str]]:
        """What gives the headers that say who asks; the next call may give fresher ones."""
        ...


@value()
class _Request:
    method: str
    path: str
    query: Mapping[str, str]
    accept: str
    body: bytes | None = None
    # What is not asked again in the same way, though it may be worth it otherwise.
    final: AbstractSet[int] = frozenset()


class Connection:
    """What is asked of one API server by one command; threads may share it.

    There is one deadline for all that is asked. Every method ends by then, whatever the server, the resolver of names
    or a credential plugin does, and raises `Refusal`, or an error of the access itself.
    """

    def __init__(self, access: Reached, *, timeout: float = 30.0) -> None:
        """The deadline is `timeout` seconds from now; 0 is none."""
        self._access, self._timeout = access, timeout
        self._end = time.monotonic() + timeout if timeout else None
        self._allowed: dict[tuple[str, ...], bool | None] = {}

    def get(self, path: str, query: Mapping[str, str] = _NOTHING, accept: str = JSON) -> Answer:
        """The object at a path. Of Secrets it is the metadata, whatever is accepted."""
        return Answer(HTTPStatus.OK, self._ask(_Request("GET", path, query, accept)))

    def list(
        self, path: str, query: Mapping[str, str] = _NOTHING, accept: str = JSON, chunk_size: int = 0
    ) -> ListAnswer:
        """All objects at a path: in one answer, unless there is a `chunk_size` or the server cannot.

        What changes between two pages is as it was at the first one; where the server has forgotten that state, the
        list starts over without pages. https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
        """
        request = _Request("GET", path, query, accept, final=frozenset() if chunk_size else _TOO_LARGE)
        try:
            return self._pages(request, chunk_size)
        except Refusal as refusal:
            if chunk_size or refusal.status not in _TOO_LARGE:
                raise
        return self._pages(_Request("GET", path, query, accept), _CHUNK)

    def may(self, verb: str, group: str, resource: str, namespace: str = "", name: str = "") -> bool | None:
        """Whether who asks may do it, as the server says; None where it does not say."""
        asked = (verb, group, resource, namespace, name)
        if asked not in self._allowed:
            self._allowed[asked] = self._review(asked)
        return self._allowed[asked]

    def _review(self, asked: tuple[str, ...]) -> bool | None:
        names = ("verb", "group", "resource", "namespace", "name")
        attributes = {name: each for name, each in zip(names, asked, strict=True) if each}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        try:
            answer = self._ask(_Request("POST", _REVIEWS, _NOTHING, JSON, json.dumps(review).encode()))
        except Refusal:
            return None
        status = mapping_at(answer, "status")
        allowed = status.get("allowed")
        unsure = not isinstance(allowed, bool) or (not allowed and bool(status.get("evaluationError")))
        return None if unsure else bool(allowed)

    def _pages(self, request: _Request, chunk_size: int, *, is_second_time: bool = False) -> ListAnswer:
        items: list[Mapping[str, Json]] = []
        token = ""
        for _ in range(_MOST_PAGES):
            try:
                page = self._ask(_page(request, chunk_size, token))
            except Refusal as refusal:
                if refusal.status != HTTPStatus.GONE or not token or is_second_time:
                    raise
                return self._pages(request, 0, is_second_time=True)
            items += _items(page)
            last, token = token, text_at(page, "metadata.continue")
            if not token:
                return ListAnswer(items, text_at(page, "metadata.resourceVersion"))
            if token == last:
                break
        raise Refusal(HTTPStatus.OK, "the server answers with the same page of a list again and again")

    def _ask(self, request: _Request) -> Mapping[str, Json]:
        """What the server answers, asked in a thread of its own: nothing else ends the wait for a resolver of names."""
        _check(request.path)
        secret = _is_of_secrets(request.path)
        if secret and request.accept not in {METADATA, METADATA_LIST}:
            raise ValueError(f"of Secrets, nothing but metadata is asked: {request.path}")
        left = self._left()
        task = _Task(lambda: self._tried(request))
        try:
            answer = task.result(left)
        except TimeoutError:
            raise self._late() from None
        return _bare(answer) if secret else answer

    def _tried(self, request: _Request) -> Mapping[str, Json]:
        headers = self._access.headers()
        is_fresh, tries = False, 0
        while True:
            try:
                return self._once(request, headers)
            except Refusal as refusal:
                if refusal.status == HTTPStatus.UNAUTHORIZED and not is_fresh:
                    headers, old, is_fresh = self._access.headers(), headers, True
                    if headers == old:
                        raise
                    continue
                if not refusal.retry or refusal.status in request.final or tries == len(_PAUSES):
                    raise
                self._pause(refusal, _PAUSES[tries])
                tries += 1

    def _pause(self, refusal: Refusal, seconds: float) -> None:
        """Wait as long as the server says, or a little, where that leaves time to ask again."""
        left = self._left()
        pause = max(refusal.wait, seconds)
        if left is not None and pause >= left:
            if not refusal.wait:
                raise refusal
            wanted = (
                f"the server asks to wait {refusal.wait:g}s, longer than --request-timeout {self._timeout:g}s leaves"
            )
            raise Refusal(refusal.status, f"{refusal.reason}: {wanted}", refusal.message)
        time.sleep(pause)

    def _once(self, request: _Request, headers: Mapping[str, str]) -> Mapping[str, Json]:
        left = self._left()
        query = f"?{urlencode(request.query)}" if request.query else ""
        sent = {
            **headers,
            "Accept": request.accept,
            "Accept-Encoding": "gzip",
            "User-Agent": f"kubectl-policy/{__version__} ({sys.platform}/{machine()})",
            **({"Content-Type": JSON} if request.body else {}),
        }
        try:
            response = self._access.pool.urlopen(
                request.method,
                f"{self._access.server}{request.path}{query}",
                headers=sent,
                body=request.body,
                redirect=False,
                retries=False,
                preload_content=False,
                timeout=Timeout(connect=left, read=left),
            )
            with closing(response):
                return self._understood(response)
        except ValueError as error:
            # What is wrong with a header is not told: it may be a token.
            if isinstance(error, HTTPError):
                raise unreachable(error, self._late().reason) from None
            raise Refusal(0, "a header cannot be sent: is there a line break in the token?") from None
        except (HTTPError, OSError) as error:
            raise unreachable(error, self._late().reason) from None

    def _understood(self, response: BaseHTTPResponse) -> Mapping[str, Json]:
        status = response.status
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            where = shown(response.headers.get("Location", ""))
            raise Refusal(status, "the server redirects elsewhere, where no credentials are sent", where)
        is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
        raw = self._body(response, _LARGEST if is_success else _LARGEST_REFUSAL)
        self._left()
        sort = shown(response.headers.get("Content-Type", "").partition(";")[0])
        try:
            body = decoded(raw)
        except DocumentError:
            raise Refusal(status, "the answer is nested too deep") from None
        except ValueError:
            body = None
        if is_success and isinstance(body, dict):
            if body.get("kind") == "Status" and body.get("status") == "Failure":
                code = body.get("code")
                raise refusal_of(code if isinstance(code, int) else status, body)
            return cast("Mapping[str, Json]", body)
        if sort == "text/html":
            proxy = f"the server answered with status {status} and {sort}: is there a proxy or a login page in between?"
            raise Refusal(status, proxy, retry=refusal_of(status, {}).retry)
        if is_success:
            raise Refusal(status, "the server answered with something that is no JSON object", sort, retry=body is None)
        raise refusal_of(status, body if isinstance(body, dict) else {}, response.headers.get("Retry-After", ""))

    def _body(self, response: BaseHTTPResponse, largest: int) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := response.read1(_PIECE):
            size += len(piece)
            if size > largest:
                raise Refusal(response.status, f"the answer is larger than {largest >> 20} MiB")
            pieces.append(piece)
            self._left()
        return b"".join(pieces)

    def _left(self) -> float | None:
        """The seconds until the deadline; None if there is none. Raises Refusal if it has passed."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> Refusal:
        within = f" within --request-timeout {self._timeout:g}s" if self._timeout else ""
        return Refusal(0, f"no answer{within}")


class _Task(Generic[Result]):
    """Work in a thread of its own, whose end nobody has to wait for; what it raises is raised where one waits."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._done, self._results = Event(), list[Result]()
        self._error: BaseException | None = None
        Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], Result]) -> None:
        with self:
            self._results.append(work())

    def __enter__(self) -> None:
        """Begin; what is raised until the end is kept."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        self._error = error
        self._done.set()
        return True

    def result(self, seconds: float | None) -> Result:
        """What came of the work. Raises TimeoutError if nothing did in so many seconds."""
        if not self._done.wait(seconds):
            raise TimeoutError
        if self._error:
            raise self._error
        return self._results[0]


def _page(request: _Request, chunk_size: int, token: str) -> _Request:
    query = dict(request.query)
    if chunk_size:
        query["limit"] = str(chunk_size)
    if token:
        # The token says which state it is of, and servers refuse to be told twice.
        query = {name: each for name, each in query.items() if not name.startswith("resourceVersion")}
        query["continue"] = token
    return _Request(request.method, request.path, query, request.accept, final=request.final)


def _items(page: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    """The objects in a list; Go writes `null` where there are none. Raises Refusal for what is no list."""
    found = mappings_at(page, "items")
    if "items" not in page or not (page["items"] is None or found == page["items"]):
        raise Refusal(HTTPStatus.OK, "the server answered with something that is no list")
    return found


def _check(path: str) -> None:
    """Raise Refusal where a name in a path can be none of an object, and would lead elsewhere.

    As `IsValidPathSegmentName` of k8s.io/apimachinery/pkg/api/validation/path has it: a name from an object, such as
    `a/proxy` or `..`, must not decide what is read.
    """
    segments = [unquote(segment) for segment in path.removeprefix("/").split("/")]
    if any(not each or each in {".", ".."} or "/" in each or "%" in each for each in segments):
        raise Refusal(HTTPStatus.NOT_FOUND, "not found", "nothing can have such a name")


def _is_of_secrets(path: str) -> bool:
    match path.removeprefix("/").split("/"):
        case ["api", "v1", "secrets", *_] | ["api", "v1", "namespaces", _, "secrets", *_]:
            return True
        case ["api", "v1", "watch", *rest]:
            return "secrets" in rest
        case _:
            return False


def _bare(answer: Mapping[str, Json]) -> Mapping[str, Json]:
    """The metadata of Secrets without annotations, in one of which `kubectl apply` leaves all that a Secret holds.

    Raises Refusal for what is more than metadata: servers that do not know it yet answer with the whole object.
    """
    if answer.get("kind") not in {"PartialObjectMetadata", "PartialObjectMetadataList"}:
        raise Refusal(HTTPStatus.NOT_ACCEPTABLE, "the server does not give the metadata of Secrets alone")
    items = answer.get("items")
    bare = _without_content(answer)
    if isinstance(items, list):
        bare["items"] = [_without_content(each) for each in items if isinstance(each, dict)]
    return bare


def _without_content(secret: Mapping[str, Json]) -> dict[str, Json]:
    metadata = mapping_at(secret, "metadata")
    kept = {name: each for name, each in metadata.items() if name not in {"annotations", "managedFields"}}
    return {**{name: secret[name] for name in ("apiVersion", "kind") if name in secret}, "metadata": kept}
