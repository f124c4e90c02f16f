"""Pictures of small worlds, and of those in fixtures/."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy import analyze, load_manifests
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphOptions
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Resource
    from kubectl_policy.questions.graph.picture import Picture

FIXTURES: Final = Path(__file__).parents[3] / "fixtures"
# A folder is a world, but for those that have several of them.
WORLDS: Final = tuple(
    sorted(
        str(folder.relative_to(FIXTURES))
        for folder in FIXTURES.iterdir()
        if folder.is_dir() and folder.name != "profiles"
        for folder in ([*folder.iterdir()] if folder.name in {"worked-examples", "repositories"} else [folder])
    )
)
# What would be syntax of one format or another, or is obeyed by a terminal or a browser.
HOSTILE: Final = (
    '"] ; evil [label="x',
    r"\N \L \"",
    "</TD></TR></TABLE>> ; evil",
    '<IMG SRC="/etc/passwd"/>',
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "&lt;b&gt; &amp; &#34;",
    "a|b; end\n  subgraph x",
    "%%{init: {}}%%",
    "`**md**` #quot; --> x",
    "\x1b[31mred\x1b[0m\u202e",
    "click n0 href javascript:alert(1)",
    "]]> <![CDATA[",
    "größe 日本語",
    "[bold]x[/bold]",
    "---",
)


def picture(*resources: Resource, **options: bool) -> Picture:
    return graph(analyze(build.snapshot(*resources)), _asked(options))


def picture_of(world: str, **options: bool) -> Picture:
    return graph(analyze(load_manifests([str(FIXTURES / world)])), _asked(options))


def _asked(options: Mapping[str, bool]) -> GraphOptions:
    return replace(GraphOptions(), **options)


def hostile_world() -> tuple[Resource, ...]:
    """A Gateway, route, Service and policy of each hostile name, and these names wherever else text may stand."""
    resources = [
        build.gateway_class(),
        build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": "inherited"}),
    ]
    for name in HOSTILE:
        listener = build.listener(name, hostname=name)
        rule = build.rule(build.backend(name), name=name, matches=[{"path": {"type": "Exact", "value": name}}])
        resources += [
            build.gateway(name, listener, namespace=name),
            build.route(name, parents=[build.parent(name)], rules=[rule], hostnames=[name], namespace=name),
            build.service(name, namespace=name),
            build.policy(name, build.target(name, "HTTPRoute"), namespace=name, color=name),
        ]
    return tuple(resources)
