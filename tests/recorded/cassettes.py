"""Cassettes: what a real API server answered to some commands, and who gave them."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from kubectl_policy.model import Json
from tests.live.proxy import Exchange
from tests.live.server import ADMIN, BAKER

FOLDER: Final = Path(__file__).parent / "cassettes"
_PORT: Final = "6443"
SERVER: Final = f"https://cluster.example:{_PORT}"
_VERSION: Final = 1
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z")
# What every server makes up anew.
_MADE_UP: Final[Mapping[str, Json]] = {
    "clusterIP": "10.0.0.10",
    "clusterIPs": ["10.0.0.10"],
    "resourceVersion": "1",
    "uid": "00000000-0000-4000-8000-000000000000",
}
_CREATED: Final = "2026-01-01T00:00:00Z"
# Who wrote which field is longer than all else together.
_LEFT_OUT: Final = "managedFields"


def written(exchanges: Iterable[Exchange], port: int) -> str:
    """A cassette of some exchanges with a server at a port, each kept once and in an order that is always the same."""
    kept = {json.dumps(each["request"]): each for each in map(_interaction, exchanges)}
    text = json.dumps({"version": _VERSION, "interactions": [kept[key] for key in sorted(kept)]}, indent=1)
    # Every cluster has a Service for its own API server.
    return re.sub(rf"\b{port}\b", _PORT, text) + "\n"


def _interaction(exchange: Exchange) -> dict[str, Any]:
    query = f"?{urlencode(exchange.query, doseq=True)}" if exchange.query else ""
    headers = {"Content-Type": [exchange.content_type]}
    return {
        "request": {
            "method": exchange.method,
            "uri": f"{SERVER}{exchange.path}{query}",
            "headers": {"Accept": [exchange.accept]},
            "body": None,
        },
        "response": {
            "status": {"code": exchange.status, "message": ""},
            "headers": headers,
            "body": scrubbed(json.loads(exchange.plain)),
        },
    }


def scrubbed(value: Json) -> Json:
    """An answer without what differs from one recording to the next."""
    match value:
        case dict():
            return {
                key: _MADE_UP[key] if key in _MADE_UP and not isinstance(each, dict) else scrubbed(each)
                for key, each in value.items()
                if key != _LEFT_OUT
            }
        case list():
            return [scrubbed(each) for each in value]
        case str():
            return _TIME.sub(_CREATED, value)
        case _:
            return value


class Format:
    @staticmethod
    def deserialize(text: str) -> dict[str, Any]:
        """What vcrpy takes a cassette for: there, a body is text."""
        cassette: dict[str, Any] = json.loads(text)
        for interaction in cassette["interactions"]:
            interaction["response"]["body"] = {"string": json.dumps(interaction["response"]["body"])}
        return cassette


def same_accept(asked: Any, kept: Any) -> None:  # noqa: ANN401 (vcrpy has no types)
    """Assert that the same form of an answer is asked for: whole objects, or metadata alone."""
    assert asked.headers["Accept"] == kept.headers["Accept"]


USERS: Final = (ADMIN, BAKER)
COMMANDS: Final = (
    "describe httproute/baker -n baker",
    "describe retrypolicy/resilience -n baker",
    "get policies -A",
    "blast-radius retrypolicy/resilience -n baker",
    "status -A",
    "explain retrypolicy",
)
