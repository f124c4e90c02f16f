"""The audit log of an API server: an independent witness of the requests that it got."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_LONGEST_DELAY: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as the server understood it; `resource` is `PLURAL[.GROUP][/SUBRESOURCE]`, empty for other paths."""

    user: str
    agent: str
    verb: str
    resource: str
    namespace: str
    name: str
    path: str
    status: int


@dataclass(frozen=True)
class AuditLog:
    """What a server writes down, a line when it has answered a request or has begun to answer a watch."""

    path: Path

    @contextmanager
    def recorded(self, agent: str = "") -> Generator[list[Request]]:
        """The requests of a block, by clients whose User-Agent begins so; they are in the list after the block."""
        start = self.path.stat().st_size
        found: list[Request] = []
        yield found
        found += self._since(start, agent)

    def requests(self, agent: str = "") -> list[Request]:
        """All requests since the server was started, by clients whose User-Agent begins so."""
        return self._since(0, agent)

    def _since(self, start: int, agent: str) -> list[Request]:
        # The line of a request is written just after its answer.
        size = -1
        while size != (size := self.path.stat().st_size):
            time.sleep(_LONGEST_DELAY)
        with self.path.open("rb") as file:
            file.seek(start)
            # Some client may be in the middle of a line.
            lines = file.read().rpartition(b"\n")[0].splitlines()
        events = {event["auditID"]: event for event in map(json.loads, lines)}
        return [_request(event) for event in events.values() if event.get("userAgent", "").startswith(agent)]


def verbs_and_resources(requests: list[Request]) -> set[tuple[str, str]]:
    return {(request.verb, request.resource) for request in requests}


def _request(event: dict[str, Any]) -> Request:
    what: dict[str, str] = event.get("objectRef", {})
    resource = ".".join(filter(None, (what.get("resource"), what.get("apiGroup"))))
    return Request(
        # Whoever is impersonated may do it; but for that, the user is who asks.
        user=event.get("impersonatedUser", event["user"]).get("username", ""),
        agent=event.get("userAgent", ""),
        verb=event["verb"],
        resource="/".join(filter(None, (resource, what.get("subresource")))),
        namespace=what.get("namespace", ""),
        name=what.get("name", ""),
        path=event["requestURI"],
        status=event.get("responseStatus", {}).get("code", 0),
    )
