"""A connection to an API server that can only read, with GET, within one deadline."""

from __future__ import annotations

import sys
import time
from contextlib import closing, contextmanager
from copy import copy
from functools import partial
from http import HTTPStatus
from platform import machine
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar
from urllib.parse import urlencode

from urllib3 import HTTPHeaderDict
from urllib3.exceptions import HTTPError
from urllib3.util import Timeout

from kubectl_policy import __version__
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.api.allowed import bare_secrets, check, is_of_secrets
from kubectl_policy.sources.cluster.api.answers import Answer, ListAnswer, Refusal
from kubectl_policy.sources.cluster.api.understood import understood
from kubectl_policy.sources.cluster.api.unreachable import unreachable
from kubectl_policy.sources.cluster.api.watching import Event, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from types import TracebackType

    from urllib3 import BaseHTTPResponse, PoolManager

    from kubectl_policy.model.fields import Json

__all__ = [
    "JSON",
    "METADATA",
    "METADATA_LIST",
    "Answer",
    "Connection",
    "Event",
    "ListAnswer",
    "Reached",
    "Refusal",
    "Watch",
]

JSON: Final = "application/json"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

# Seconds between tries: a server that restarts behind a balancer is back that soon, or a gap is the better answer.
_PAUSES: Final = (0.1, 0.3, 0.9)
# As many objects as kubectl takes at once, where a server cannot give all; and pages beyond which a list never ends.
_CHUNK: Final = 500
_MOST_PAGES: Final = 100_000
_TOO_LARGE: Final = frozenset({413, 504})
# Seconds after which a server is to end a watch, and how much later nobody is there any more.
_WATCH: Final = 240
_SILENCE: Final = 60
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
    path: str
    query: Mapping[str, str]
    accept: str
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
        self._within = f" within --request-timeout {timeout:g}s" if timeout else ""

    @property
    def seconds_left(self) -> float | None:
        """The time until the deadline; None if there is none."""
        return None if self._end is None else max(self._end - time.monotonic(), 0)

    def hurried(self) -> Connection:
        """The same for what others wait for: it leaves them half of the time that there still is."""
        part = copy(self)
        part._hurry()  # noqa: SLF001 (it is one of us)
        return part

    def _hurry(self) -> None:
        if self._end is not None:
            now = time.monotonic()
            self._end = now + (self._end - now) / 2
            self._within = f" within half of the time that --request-timeout {self._timeout:g}s left"

    def get(self, path: str, query: Mapping[str, str] = _NOTHING, accept: str = JSON) -> Answer:
        """The object at a path. Of Secrets it is the metadata, whatever is accepted."""
        return Answer(HTTPStatus.OK, self._ask(_Request(path, query, accept)))

    def list(
        self, path: str, query: Mapping[str, str] = _NOTHING, accept: str = JSON, chunk_size: int = 0
    ) -> ListAnswer:
        """All objects at a path: in one answer, unless there is a `chunk_size` or the server cannot.

        What changes between two pages is as it was at the first one; where the server has forgotten that state, the
        list starts over without pages. https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
        """
        request = _Request(path, query, accept, final=frozenset() if chunk_size else _TOO_LARGE)
        try:
            return self._pages(request, chunk_size)
        except Refusal as refusal:
            if chunk_size or refusal.status not in _TOO_LARGE:
                raise
        return self._pages(_Request(path, query, accept), _CHUNK)

    def watch(self, path: str, query: Mapping[str, str], accept: str = JSON) -> Watch:
        """What changes at a path, from the `resourceVersion` in the query on, until it is closed or the server ends it.

        No deadline is over it but one of the same length for its beginning.
        https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
        """
        watching = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(_WATCH)}
        request = _Request(path, {**query, **watching}, accept)
        secret = _is_secret(request)

        def begin() -> BaseHTTPResponse:
            with self._understandable():
                timeout = Timeout(connect=self._timeout or None, read=_WATCH + _SILENCE)
                response = self._sent(request, self._access.headers(), timeout)
                if response.status != HTTPStatus.OK:
                    with closing(response):
                        understood(response, lambda: None)
                return response

        try:
            response = _Task(begin).result(self._timeout or None)
        except TimeoutError:
            raise self._late() from None
        refusal = partial(unreachable, late="the server is silent")
        return Watch(response, query.get("resourceVersion", ""), refusal, bare_secrets if secret else dict)

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
        secret = _is_secret(request)
        left = self._left()
        task = _Task(lambda: self._tried(request))
        try:
            answer = task.result(left)
        except TimeoutError:
            raise self._late() from None
        return bare_secrets(answer) if secret else answer

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
        timeout = Timeout(connect=left, read=left)
        with self._understandable(), closing(self._sent(request, headers, timeout)) as response:
            return understood(response, self._left)

    @contextmanager
    def _understandable(self) -> Generator[None]:
        """Raise Refusal for whatever stands in the way of an answer."""
        try:
            yield
        except (HTTPError, OSError) as error:
            raise unreachable(error, self._late().reason) from None
        except ValueError:
            # What is wrong with a header is not told: it may be a token.
            raise Refusal(0, "a header cannot be sent: is there a line break in the token?") from None

    def _sent(self, request: _Request, headers: Mapping[str, str], timeout: Timeout) -> BaseHTTPResponse:
        query = f"?{urlencode(request.query)}" if request.query else ""
        # Whoever is impersonated may be in several groups, each of which is a header of its own.
        sent = HTTPHeaderDict(headers)
        sent["Accept"] = request.accept
        sent.setdefault("Accept-Encoding", "identity" if "watch" in request.query else "gzip")
        sent["User-Agent"] = f"kubectl-policy/{__version__} ({sys.platform}/{machine()})"
        return self._access.pool.urlopen(
            "GET",
            f"{self._access.server}{request.path}{query}",
            headers=sent,
            redirect=False,
            retries=False,
            preload_content=False,
            timeout=timeout,
        )

    def _left(self) -> float | None:
        """The seconds until the deadline; None if there is none. Raises Refusal if it has passed."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> Refusal:
        return Refusal(0, f"no answer{self._within}")


def _is_secret(request: _Request) -> bool:
    """Whether Secrets are asked for. Raises ValueError if more of them is than metadata, and Refusal for no path."""
    check(request.path)
    secret = is_of_secrets(request.path)
    if secret and request.accept not in {METADATA, METADATA_LIST}:
        raise ValueError(f"of Secrets, nothing but metadata is asked: {request.path}")
    return secret


class _Task(Generic[Result]):
    """Work in a thread of its own, whose end nobody has to wait for; what it raises is raised where one waits."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._done, self._results = Signal(), list[Result]()
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
    return _Request(request.path, query, request.accept, final=request.final)


def _items(page: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    """The objects in a list; Go writes `null` where there are none. Raises Refusal for what is no list."""
    found = mappings_at(page, "items")
    if "items" not in page or not (page["items"] is None or found == page["items"]):
        raise Refusal(HTTPStatus.OK, "the server answered with something that is no list")
    return found
