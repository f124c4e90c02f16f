"""`lint` as a function from words to what it says, and a folder with small worlds in it."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import pytest

from tests.lint.policy_manifests import CORS, JWT, gateway, policy, route, service

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

SHOP: Final = gateway() + route() + service()
TOKEN: Final = policy("SecurityPolicy", "Gateway/public", JWT)
WORLDS: Final = {
    # All is in order.
    "right.yaml": SHOP,
    # An error, on line 19.
    "wrong.yaml": gateway() + route(section="htp") + service(),
    # A warning, on line 36: a policy on the route replaces the one on the Gateway.
    "less.yaml": SHOP + TOKEN + policy("SecurityPolicy", "HTTPRoute/cart", CORS),
    # The Gateway is not here: an unknown, and a piece of information.
    "open.yaml": route() + service(),
    "platform.yaml": gateway(),
}
# What there is to say of some of them.
SECTION: Final = "error GWP4002 HTTPRoute shop/cart"
PARENT: Final = "error GWP4001 HTTPRoute shop/cart"
DROPPED: Final = "warning GWP2005 SecurityPolicy shop/cart"
NOT_LOADED: Final = "info GWP0001"


class LintWorld(NamedTuple):
    """What came out of `lint -o json`, and what it finds: `FILE:LINE SEVERITY RULE OBJECT`."""

    code: int
    document: dict[str, Any]
    err: str

    def said(self, part: str = "findings") -> list[str]:
        """What is in a part of the report."""
        findings = [each.get("finding", each) for each in self.document[part]]
        return [
            " ".join(filter(None, (_place(finding), finding["severity"], finding["rule"], _object(finding))))
            for finding in findings
        ]

    @property
    def findings(self) -> list[str]:
        """What counts."""
        return self.said()


def _place(finding: dict[str, Any]) -> str:
    origin = finding["origin"] or {"source": "", "line": 0}
    return f"{origin['source']}:{origin['line']}" if origin["line"] else str(origin["source"])


def _object(finding: dict[str, Any]) -> str:
    findings = finding["object"]
    return f"{findings['kind']} {'/'.join(filter(None, (findings['namespace'], findings['name'])))}" if findings else ""


class Lint(Protocol):
    """Runs `lint -o json` in this process."""

    def __call__(self, *arguments: str | Path, stdin: str = "") -> LintWorld:
        """What came out of it."""
        ...


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, which is in no repository and has `WORLDS` in it."""
    folder = tmp_path / "here"
    folder.mkdir()
    for name, text in WORLDS.items():
        (folder / name).write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def lint(command: Command, monkeypatch: pytest.MonkeyPatch) -> Lint:
    """`lint("wrong.yaml", "--complete")`."""

    def call(*arguments: str | Path, stdin: str = "") -> LintWorld:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code, out, err = command("lint", *arguments, "-o", "json")
        return LintWorld(code, json.loads(out) if out else {}, err)

    return call
