"""An API server on loopback that serves a small world, and with which anything may go wrong, path by path."""

from __future__ import annotations

import gzip
import json
import socket
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext, SSLSocket
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Final, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from urllib3 import HTTPHeaderDict

from kubectl_policy.model.kinds import BUILT_IN, plural
from tests.sources.cluster import faults
from tests.sources.cluster.faults import Fault

Thing = dict[str, Any]

_VERBS: Final = ["get", "list", "watch", "create", "delete"]
_CORE: Final = {each.group_kind: each for each in BUILT_IN}
# As kube-apiserver: shorter answers are not worth it.
_COMPRESSED_FROM: Final = 128 * 1024


class Kind(NamedTuple):
    """A kind that is served, in one version of it; those of a group are served in the order in which they are given."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    verbs: tuple[str, ...] = tuple(_VERBS)
    categories: tuple[str, ...] = ()


class Request(NamedTuple):
    method: str
    path: str
    query: Mapping[str, str]
    headers: HTTPHeaderDict
    # The path and the query as they were sent: to a proxy, a whole address.
    target: str = ""
    # The certificate that the client presented.
    client: object = None


class FaultyServer:
    """Serves objects by their paths, lists of them and discovery, over HTTP on loopback, while it is entered.

    Kinds are served because they are given, because there are objects of them, or because definitions among the objects
    define them. An `old` server knows neither aggregated discovery nor metadata alone. Groups that are `stale` do not
    answer. With a context for `tls`, it is spoken. `requests` are all that came in.
    """

    def __init__(
        self,
        objects: Iterable[Thing] = (),
        kinds: Iterable[Kind] = (),
        *,
        old: bool = False,
        tls: SSLContext | None = None,
    ) -> None:
        self.objects, self.kinds, self.old, self._tls = [*objects], [*kinds], old, tls
        self.stale: set[str] = set()
        # What changed, and the version before which that is forgotten.
        self.changes: list[Thing] = []
        self.oldest = 0
        self.requests: list[Request] = []
        self.connections: list[socket.socket] = []
        self.closing = Event()
        self._faults: dict[str, tuple[Fault, int]] = {}
        self._lock = Lock()
        self._add_kinds()

    def _add_kinds(self) -> None:
        known = {(kind.group, kind.version, kind.kind) for kind in self.kinds}
        found: list[Kind] = []
        for obj in self.objects:
            if obj["kind"] == "CustomResourceDefinition":
                spec, names = obj["spec"], obj["spec"]["names"]
                scope = spec["scope"] == "Namespaced", tuple(names.get("shortNames", ()))
                versions = [version["name"] for version in spec["versions"] if version["served"]]
                found += (Kind(spec["group"], name, names["kind"], names["plural"], *scope) for name in versions)
        for obj in self.objects:
            named = (*group_and_version(obj), obj["kind"])
            found.append(Kind(*named, plural(obj["kind"].lower()), "namespace" in obj["metadata"]))
        for kind in found:
            if (kind.group, kind.version, kind.kind) not in known:
                known.add((kind.group, kind.version, kind.kind))
                self.kinds.append(kind)

    def change(self, sort: str, thing: Thing) -> None:
        """Let an object be `ADDED`, `MODIFIED` or `DELETED`, which watches are told."""
        version = str(1_001 + len(self.changes))
        thing = {**thing, "metadata": {**thing["metadata"], "resourceVersion": version}}
        others = [obj for obj in self.objects if self.path_of(obj) != self.path_of(thing)]
        self.objects = others if sort == "DELETED" else [*others, thing]
        self.changes.append({"type": sort, "object": thing})

    def path_of(self, thing: Thing) -> str:
        group, version = group_and_version(thing)
        known = next(kind for kind in self.kinds if (kind.group, kind.kind) == (group, thing["kind"]))
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        inside = f"/namespaces/{thing['metadata']['namespace']}" if known.namespaced else ""
        return f"{root}{inside}/{known.plural}/{thing['metadata']['name']}"

    def fault(self, path: str, fault: Fault, times: int = -1) -> None:
        """What goes wrong at a path, or at all that begin with it if it ends in `*`; so many times if a number says."""
        self._faults[path] = (fault, times)

    def fault_at(self, path: str) -> Fault | None:
        """What goes wrong with the next request to a path."""
        with self._lock:
            for where in (path, *sorted((each for each in self._faults if each.endswith("*")), key=len, reverse=True)):
                fault, times = self._faults.get(where, (None, 0))
                if fault and times and (where == path or path.startswith(where[:-1])):
                    self._faults[where] = (fault, times - 1)
                    return fault
        return None

    def paths(self) -> list[str]:
        """The paths of all requests that came in, in their order."""
        return [request.path for request in self.requests]

    def count(self, path: str) -> int:
        return self.paths().count(path)

    @property
    def clients(self) -> list[object]:
        """The certificates with which requests came in."""
        return [request.client for request in self.requests]

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.authority}"

    def __enter__(self) -> Self:
        handler = type("OwnHandler", (Handler,), {"faulty": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        if self._tls:
            # Each thread shakes hands for itself, when it first reads.
            self._http.socket = self._tls.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop, let go whoever is kept waiting, and end the connections that nobody ended."""
        self.closing.set()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._http.shutdown()
        self._http.socket.close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    """Answers what comes in on one connection: rightly, unless something is to go wrong."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    faulty: FaultyServer

    def setup(self) -> None:
        super().setup()
        self.faulty.connections.append(self.connection)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (as it is called there)
        """Say nothing."""

    def handle(self) -> None:
        """Answer requests until the connection ends, for whatever reason."""
        with suppress(OSError):
            super().handle()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query, headers = dict(parse_qsl(url.query)), HTTPHeaderDict(self.headers.items())
        client = self.connection.getpeercert() if isinstance(self.connection, SSLSocket) else None
        self.request_now = Request(self.command, url.path, query, headers, self.path, client)
        self.faulty.requests.append(self.request_now)
        fault = self.faulty.fault_at(url.path)
        # Who has asked may be gone by now.
        with suppress(OSError):
            (fault or Handler.answer_rightly)(self)

    # Whatever else comes in is among the requests too, so that a test sees it.
    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 (names that http.server gives)

    def answer_rightly(self) -> None:
        path, query = self.request_now.path, self.request_now.query
        if query.get("watch") == "true":
            self._tell_changes(int(query.get("resourceVersion") or 0))
            return
        found = _answered(self.faulty, self.request_now, self.headers.get("Accept", ""))
        if found is None:
            *_, kind, name = path.split("/")
            faults.status(404, f'{kind} "{name}" not found')(self)
        elif "limit" in query and "items" in found:
            self.send_json(_page(found, int(query["limit"]), int(query.get("continue", 0))))
        else:
            self.send_json(found)

    def _tell_changes(self, version: int) -> None:
        """Answer with what changed after a version, or with what there is, and what changes until the server stops."""
        self.send_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        told = 0
        if not version:
            told = len(self.faulty.changes)
            for thing in filter(self._is_watched, self.faulty.objects):
                self._tell({"type": "ADDED", "object": thing})
        elif version < self.faulty.oldest:
            status = {"kind": "Status", "status": "Failure", "code": 410, "message": "too old resource version"}
            self._tell({"type": "ERROR", "object": status})
        while not self.wait(0.01):
            for event in self.faulty.changes[told:]:
                told += 1
                is_new = int(event["object"]["metadata"]["resourceVersion"]) > version
                if is_new and self._is_watched(event["object"]):
                    self._tell(event)

    def _is_watched(self, thing: Thing) -> bool:
        path = self.faulty.path_of(thing)
        is_there = self.request_now.path in {path.rpartition("/")[0], _everywhere(path), path}
        return is_there and _is_selected(thing, self.request_now.query)

    def _tell(self, event: Thing) -> None:
        line = json.dumps(event).encode() + b"\n"
        self.send_bytes(b"%x\r\n%s\r\n" % (len(line), line))

    def send_json(self, body: Thing) -> None:
        text = json.dumps(body).encode()
        if len(text) >= _COMPRESSED_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
            faults.raw(gzip.compress(text, 1), headers={"Content-Encoding": "gzip"})(self)
        else:
            faults.raw(text)(self)

    def send_bytes(self, sent: bytes) -> None:
        self.wfile.write(sent)
        self.wfile.flush()

    def wait(self, seconds: float | None) -> bool:
        """Wait, at most until the server stops: whether it does."""
        return self.faulty.closing.wait(seconds)

    def hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def group_and_version(thing: Thing) -> tuple[str, str]:
    """The API group of an object, which is empty for the core, and the version."""
    group, _, version = str(thing["apiVersion"]).rpartition("/")
    return group, version


def _everywhere(path: str) -> str:
    """The path of all objects of the kind of the one at a path."""
    steps = path.split("/")
    return "/".join([*steps[:-4], steps[-2]] if "namespaces" in steps[:-2] else steps[:-1])


def _page(found: Thing, limit: int, start: int) -> Thing:
    items, metadata = found["items"][start : start + limit], dict(found["metadata"])
    if start + limit < len(found["items"]):
        metadata["continue"] = str(start + limit)
    return {**found, "items": items, "metadata": metadata}


def _answered(server: FaultyServer, request: Request, accept: str) -> Thing | None:
    steps = [unquote(step) for step in request.path.strip("/").split("/")]
    if steps == ["version"]:
        return {"major": "1", "minor": "20" if server.old else "36", "gitVersion": "v1.36.3"}
    if steps in (["api"], ["apis"]):
        is_aggregated = not server.old and "APIGroupDiscoveryList" in accept
        return (_aggregated if is_aggregated else _groups)(server, core=steps == ["api"])
    group, version, *rest = ["", *steps[1:]] if steps[0] == "api" else [*steps[1:], "", ""]
    if group in server.stale:
        return None
    rest = [step for step in rest if step]
    return _objects(server, request, (group, version), rest) if rest else _resources(server, group, version)


def _versions(server: FaultyServer, *, core: bool) -> dict[str, dict[str, list[Kind]]]:
    """The kinds by group and version, of the core or of all others."""
    groups: dict[str, dict[str, list[Kind]]] = defaultdict(lambda: defaultdict(list))
    for kind in server.kinds:
        if (kind.group == "") == core:
            groups[kind.group][kind.version].append(kind)
    return groups


def _aggregated(server: FaultyServer, *, core: bool) -> Thing:
    items = [
        {
            "metadata": {"name": group, "creationTimestamp": None},
            "versions": [
                {
                    "version": version,
                    "freshness": "Stale" if group in server.stale else "Current",
                    "resources": [] if group in server.stale else [_aggregated_kind(kind) for kind in kinds],
                }
                for version, kinds in versions.items()
            ],
        }
        for group, versions in _versions(server, core=core).items()
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_kind(kind: Kind) -> Thing:
    response = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return {
        "resource": kind.plural,
        "responseKind": response,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.kind.lower(),
        "verbs": [*kind.verbs],
        "shortNames": [*kind.short_names],
        "categories": [*kind.categories],
        "subresources": [{"subresource": "status", "responseKind": response, "verbs": ["get", "patch"]}],
    }


def _groups(server: FaultyServer, *, core: bool) -> Thing:
    groups = _versions(server, core=core)
    if core:
        return {"kind": "APIVersions", "versions": [*groups.get("", {})], "serverAddressByClientCIDRs": []}
    listed: list[Thing] = []
    for group, versions in groups.items():
        named = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
        listed.append({"name": group, "versions": named, "preferredVersion": named[0]})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}


def _resources(server: FaultyServer, group: str, version: str) -> Thing | None:
    resources: list[Thing] = []
    for kind in server.kinds:
        if (kind.group, kind.version) == (group, version):
            named = {"name": kind.plural, "singularName": kind.kind.lower(), "kind": kind.kind}
            more = {"namespaced": kind.namespaced, "verbs": [*kind.verbs], "shortNames": [*kind.short_names]}
            resources.append({**named, **more, "categories": [*kind.categories]})
            resources.append(
                {**named, "name": f"{kind.plural}/status", "namespaced": kind.namespaced, "verbs": ["get"]}
            )
    group_version = f"{group}/{version}" if group else version
    listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}
    return listed if resources else None


def _objects(server: FaultyServer, request: Request, served: tuple[str, str], steps: list[str]) -> Thing | None:
    """The object, or the list of those, to which the steps after group and version lead."""
    namespace = ""
    # Otherwise it is a Namespace that is asked for.
    if len(steps) > 2 and steps[0] == "namespaces":
        namespace, steps = steps[1], steps[2:]
    known = [kind for kind in server.kinds if (kind.group, kind.version, kind.plural) == (*served, steps[0])]
    if not known:
        return None
    kind, name = known[0], steps[1] if len(steps) > 1 else ""
    # An API server converts between the versions of a kind.
    version = f"{kind.group}/{kind.version}" if kind.group else kind.version
    found = [
        {**obj, "apiVersion": version}
        for obj in server.objects
        if (group_and_version(obj)[0], obj["kind"]) == (kind.group, kind.kind)
        and (not namespace or obj["metadata"].get("namespace") == namespace)
        and (not name or obj["metadata"]["name"] == name)
        and _is_selected(obj, request.query)
    ]
    accept = request.headers.get("Accept", "")
    is_metadata = "PartialObjectMetadata" in accept and not server.old
    if is_metadata:
        partial = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"}
        found = [{**partial, "metadata": each["metadata"]} for each in found]
        version = "meta.k8s.io/v1"
    if name:
        return found[0] if found else None
    list_kind = "PartialObjectMetadataList" if is_metadata else f"{kind.kind}List"
    return {
        "apiVersion": version,
        "kind": list_kind,
        "metadata": {"resourceVersion": str(1_000 + len(server.changes))},
        "items": found,
    }


def _is_selected(thing: Thing, query: Mapping[str, str]) -> bool:
    """Whether an object is one that the selectors in a query mean.

    Of labels, those that are there or have a value; of fields, those that have one, or have it not.
    """
    labels = thing["metadata"].get("labels", {})
    for part in filter(None, query.get("labelSelector", "").split(",")):
        name, is_value, value = part.partition("=")
        if name not in labels or (is_value and labels[name] != value):
            return False
    for part in filter(None, query.get("fieldSelector", "").split(",")):
        field, _, value = part.partition("=")
        found: Any = thing
        for step in field.removesuffix("!").split("."):
            found = found.get(step, {})
        if (found == value) == field.endswith("!"):
            return False
    return True
