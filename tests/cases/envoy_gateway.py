"""Writes what this project says of recorded worlds of Envoy Gateway, for the scorer that comes with them.

`python -m tests.cases.envoy_gateway FOLDER OUTFOLDER [--profiles FILE ...]` reads FOLDER/<case>/manifests.yaml and
writes OUTFOLDER/<case>.json. It translates this project's values into the scorer's document and knows no rule of Envoy
Gateway: those are in the profiles.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.cases import predictions
from tests.cases.envoy_gateway_policies import backend_tls, effective, policies
from tests.cases.envoy_gateway_routes import gateways, listener_sets, listeners, routes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy import Analysis
    from tests.cases.objects import Entry


def document(analysis: Analysis) -> dict[str, list[Entry]]:
    """What is said of one world."""
    return {
        "policies": policies(analysis),
        "routes": routes(analysis),
        "gateways": gateways(analysis),
        "listenerSets": listener_sets(analysis),
        "listeners": listeners(analysis),
        "effective": effective(analysis),
        "backendTLS": backend_tls(analysis),
    }


def main(arguments: Sequence[str]) -> int:
    """Write the document of each case; 2 if there is none, 1 if one could not be answered."""
    return predictions.main("envoy_gateway", document, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
