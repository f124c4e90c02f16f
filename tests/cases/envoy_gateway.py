"""Writes what this project says of recorded worlds of Envoy Gateway, for the scorer that comes with them.

`python -m tests.cases.envoy_gateway FOLDER OUTFOLDER [--profiles FILE ...]` reads FOLDER/<case>/manifests.yaml and
writes OUTFOLDER/<case>.json. It translates this project's values into the scorer's document and knows no rule of Envoy
Gateway: those are in the profiles.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_policy import PolicyError, analyze, load_profiles
from tests.cases.envoy_gateway_policies import backend_tls, effective, policies
from tests.cases.envoy_gateway_routes import gateways, listener_sets, listeners, routes
from tests.cases.worlds import world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy import Analysis, PolicyKindProfile
    from tests.cases.envoy_gateway_routes import Entry

MARKER = "manifests.yaml"


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
    parser = argparse.ArgumentParser(prog="envoy_gateway")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--profiles", type=Path, nargs="+", default=[])
    options = parser.parse_args(arguments)
    cases = sorted(options.folder.glob(f"*/{MARKER}"))
    if not cases:
        sys.stderr.write(f"{options.folder} holds no cases (folders with {MARKER})\n")
        return 2
    profiles = [profile for file in options.profiles for profile in load_profiles(file)]
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for manifests in cases:
        failed += not _written(manifests, options.out / f"{manifests.parent.name}.json", profiles)
    return 1 if failed else 0


def _written(manifests: Path, out: Path, profiles: Sequence[PolicyKindProfile]) -> bool:
    try:
        found = document(analyze(world([manifests]), profiles=profiles))
    except PolicyError as error:
        sys.stderr.write(f"{manifests}: {error}\n")
        return False
    out.write_text(json.dumps(found, indent=1), "utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
