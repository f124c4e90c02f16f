"""Worlds with a crowd in them: one team's objects among those of any number of other teams that are written alike.

What others have does not bear on what is asked: they live in namespaces of their own (`teams`), or have routes on the
one team's Gateway that differ in their names and hostnames (`neighbours`).
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_policy import load_manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Snapshot

TEAM: Final = "shop"
_CROWDS: Final = Path(__file__).parent / "crowds"

_CLASS: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: public
spec:
  controllerName: CONTROLLER
"""


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """The controller of all Gateways, and what is asked about: a policy kind, and a policy without effect on the route.

    `tests/crowds/` has the policies of a team in a file named after the implementation, below the definitions of their
    kinds if there are any. The last policy is on the route `web`, of a sort that every neighbour has as well.
    """

    controller: str
    elsewhere: str
    kind: str


IMPLEMENTATIONS: Final = {
    "unknown": Implementation(
        controller="example.io/gateway-controller", elsewhere="retrypolicy/admin", kind="retrypolicy"
    ),
    "envoy-gateway": Implementation(
        controller="gateway.envoyproxy.io/gatewayclass-controller",
        elsewhere="backendtrafficpolicy/labelled",
        kind="securitypolicy",
    ),
    "istio": Implementation(
        controller="istio.io/gateway-controller", elsewhere="requestauthentication/absent", kind="telemetry"
    ),
    "kgateway": Implementation(
        controller="kgateway.dev/kgateway", elsewhere="trafficpolicy/labelled", kind="httplistenerpolicy"
    ),
    "nginx-gateway-fabric": Implementation(
        controller="gateway.nginx.org/nginx-gateway-controller",
        elsewhere="upstreamsettingspolicy/web",
        kind="upstreamsettingspolicy",
    ),
    "kuadrant": Implementation(controller="istio.io/gateway-controller", elsewhere="authpolicy/edge", kind="dnspolicy"),
}


def _read(name: str) -> list[str]:
    return (_CROWDS / f"{name}.yaml").read_text("utf-8").split("---\n")


def _documents(name: str, *, neighbours: bool) -> Iterator[str]:
    """Yield the documents of the one team, then without end those of others, or of routes on the one team's Gateway."""
    written = _read(name)
    definitions = [document for document in written if "\nkind: CustomResourceDefinition\n" in document]
    policies = written[len(definitions) :]
    yield _CLASS.replace("CONTROLLER", IMPLEMENTATIONS[name].controller)
    yield from definitions
    team = [*_read("team"), *policies]
    neighbour = [
        document.replace("TEAM", TEAM) for document in (*_read("neighbour"), policies[-1].replace("web", "NAME"))
    ]
    yield from (document.replace("TEAM", TEAM) for document in team)
    for number in count():
        if neighbours and number >= _TEAMS:
            yield from (document.replace("NAME", f"route-{number}") for document in neighbour)
        else:
            yield from (document.replace("TEAM", f"team-{number}") for document in team)


# So many other teams there are in every world: of what there is once or twice, all is read.
_TEAMS: Final = 20


def world(name: str, size: int, *, neighbours: bool = False) -> Snapshot:
    """So many objects, read from text, where an implementation has all Gateways."""
    text = "---\n".join(islice(_documents(name, neighbours=neighbours), size))
    return load_manifests("-", stdin=StringIO(text))
