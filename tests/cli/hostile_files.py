"""Small files that once took all time or memory, ended in a traceback, or said nothing; and what is asked about each.

`python -m tests.cli.hostile_files` asks about all of them in the current folder, in one process with 1 GiB of memory,
and prints what came of it as JSON.
"""

from __future__ import annotations

import gzip
import io
import json
import resource
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kubectl_policy.cli import run
from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Callable

MEMORY: Final = 2**30
WORLD: Final = "world.yaml"
_GATEWAY_API: Final = "gateway.networking.k8s.io/v1"
_SERVICE: Final = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
_WITHOUT_VERSION: Final = "kind: ColorPolicy\nmetadata: {name: p}\nspec: {color: red}\n"
_ONE_LINE: Final = '{"apiVersion":"example.com/v1","kind":"ColorPolicy","metadata":{"name":"p"}}'
_SECOND: Final = _ONE_LINE.replace('"p"', '"q"')


class HostileFile(NamedTuple):
    """The content of the file `input`, a command about it, its exit code and what it has to say."""

    content: Callable[[], str | bytes]
    command: str
    code: int
    says: str


class Outcome(NamedTuple):
    """What came of a command."""

    seconds: float
    code: int
    out: str
    err: str


def _object(kind: str, name: str, spec: object, **more: object) -> dict[str, object]:
    metadata = {"name": name, "namespace": "app"}
    return {"apiVersion": _GATEWAY_API, "kind": kind, "metadata": metadata, "spec": spec, **more}


def _blank_lines() -> bytes:
    header: dict[str, object] = {
        "place": "the input",
        "complete": False,
        "objects": 1,
        "gone": [],
        "listed": [],
        "assumed": [],
    }
    beginning = {"apiVersion": "snapshot.policy.kubectl/v1", "kind": "Snapshot", "taken": "", "version": ""}
    text = json.dumps({**beginning, **header, "gaps": [], "diagnostics": []}, separators=(",", ":"))
    return gzip.compress(text.encode() + b"\n" * 5_000_000)


def _one_line_of_json() -> str:
    routes = [
        _object("HTTPRoute", f"r{number}", {"parentRefs": [{"name": "g"}], "hostnames": [f"h{number}.example.com"]})
        for number in range(1_000)
    ]
    gateway = _object(
        "Gateway", "g", {"gatewayClassName": "c", "listeners": [{"name": "l", "protocol": "HTTP", "port": 80}]}
    )
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [gateway, *routes]})


def _reported_parents() -> str:
    condition = {"type": "Accepted", "status": "True", "reason": "Accepted"}
    parents = [
        {"parentRef": {"name": "g"}, "controllerName": f"example.com/c{number}", "conditions": [condition]}
        for number in range(1_000)
    ]
    route = _object("HTTPRoute", "r", {"parentRefs": [{"name": "g"}]}, status={"parents": parents})
    gateway = _object(
        "Gateway", "g", {"gatewayClassName": "c", "listeners": [{"name": "l", "protocol": "HTTP", "port": 80}]}
    )
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [gateway, route]})


FILES: Final[dict[str, HostileFile]] = {
    "a profile that is broken after its second document": HostileFile(
        lambda: "group: x.io\nkinds: {A: {class: direct}}\n---\n- b\n---\n{ never closed",
        f"get policies -A --offline {WORLD} --profiles input",
        2,
        "error: input:4: a second document: one file holds one",
    ),
    "a config file that is broken after its second document": HostileFile(
        lambda: "ignore: []\n---\n- b\n---\n{ never closed",
        f"lint {WORLD} --config input",
        2,
        "error: input:3: a second document: one file holds one",
    ),
    "a baseline without an end": HostileFile(
        lambda: "baseline: /dev/zero\n",
        f"lint {WORLD} --config input",
        3,
        "error: cannot read the baseline /dev/zero: it is a device, not a file",
    ),
    "a context without an end": HostileFile(
        lambda: "context-from: [/dev/zero]\n",
        f"lint {WORLD} --config input",
        3,
        "error: /dev/zero: cannot be read: it is a device, not a file",
    ),
    "a snapshot of blank lines": HostileFile(
        _blank_lines, "get services -A --offline input", 4, "for example: input:2: the line is not JSON"
    ),
    "JSON on one line": HostileFile(_one_line_of_json, "lint input", 0, "1001 objects of 1 file"),
    "many reported parents": HostileFile(_reported_parents, "lint input", 0, "2 objects of 1 file"),
    "many separators": HostileFile(lambda: "---\n" * 60_000 + _SERVICE, "get services --offline input", 0, "ClusterIP"),
    "many documents that are no YAML": HostileFile(
        lambda: _SERVICE + "---\na: [\n" * 30_000, "lint input", 4, "more problems like the 1,000 above it"
    ),
    "many objects without a kind": HostileFile(
        lambda: _SERVICE + "---\nkind: A\n" * 20_000, "lint input", 0, "more problems like the 1,000 above it"
    ),
    "an object without apiVersion": HostileFile(
        lambda: _WITHOUT_VERSION,
        f"lint input {WORLD}",
        0,
        "input:1: warning GWP0013 unnamed-object: an object needs both",
    ),
    "a list of objects": HostileFile(
        lambda: f"- {_ONE_LINE}\n",
        f"lint input {WORLD}",
        0,
        "input:1: warning GWP0013 unnamed-object: a list of objects",
    ),
    "JSON behind a comment": HostileFile(
        lambda: f"// policies\n{_ONE_LINE}\n",
        f"lint input {WORLD}",
        4,
        "input:1: error GWP0004 parse-error: an object inside",
    ),
    "numbers between objects": HostileFile(
        lambda: f"{_ONE_LINE}2001-01-01\n{_SECOND}\n",
        "lint input",
        0,
        "input:1: warning GWP0013",
    ),
    "two problems": HostileFile(
        lambda: f"{_SERVICE}---\nkind: A\n" + "---\n" * 5 + "kind: B\n",
        "get services --offline input",
        0,
        "2 problems in the input, for example: input:5: an object needs both",
    ),
    "a command to a CI": HostileFile(
        lambda: MANIFESTS.replace("color: red", 'colors: ["x##[add-mask]y"]'),
        "describe httproute/r -n app --offline input -o jsonpath={..value}",
        0,
        '["x\\u0023#[add-mask]y"]',
    ),
}


def ask() -> dict[str, Outcome]:
    """Ask about each file, in the current folder."""
    Path(WORLD).write_text(MANIFESTS, "utf-8")
    outcomes: dict[str, Outcome] = {}
    for name, file in FILES.items():
        content = file.content()
        Path("input").write_bytes(content if isinstance(content, bytes) else content.encode())
        out, err = io.StringIO(), io.StringIO()
        begun = time.monotonic()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(file.command.split())
        outcomes[name] = Outcome(time.monotonic() - begun, code, out.getvalue(), err.getvalue())
    return outcomes


def outcomes_in(text: str) -> dict[str, Outcome]:
    """Read what a process printed."""
    printed: dict[str, Any] = json.loads(text)
    return {name: Outcome(*outcome) for name, outcome in printed.items()}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    json.dump(ask(), sys.stdout)
