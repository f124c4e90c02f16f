"""Writes what this project says of recorded worlds of kgateway, for the scorer that comes with them.

`python -m tests.cases.kgateway FOLDER OUTFOLDER [--profiles FILE ...]` reads FOLDER/<case>/manifests.yaml, and of
FOLDER/<case>/facts.json nothing but `settings`, and writes OUTFOLDER/<case>.json. It translates this project's values
into the scorer's document and knows no rule of kgateway: those are in the profiles.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy import Implementation
from tests.cases import predictions
from tests.cases.kgateway_paths import reached
from tests.cases.kgateway_policies import effective, policies
from tests.cases.kgateway_routes import listener_sets, listeners, routes
from tests.cases.worlds import fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json
    from tests.cases.objects import Entry

FACTS: Final = "facts.json"
_PREFIX: Final = "kgateway"


def document(analysis: Analysis) -> dict[str, list[Entry]]:
    """What is said of one world."""
    rules = list(reached(analysis))
    return {
        "policies": policies(analysis),
        "routes": routes(analysis),
        "listenerSets": listener_sets(analysis),
        "listeners": listeners(analysis, rules),
        "effective": effective(analysis, rules),
    }


def settings_of(case: Path) -> Implementation:
    """The settings of the controller under which a case was recorded, by the names that profiles give them."""
    file = case / FACTS
    if not file.is_file():
        return Implementation()
    values = fields(fields(cast("Json", json.loads(file.read_text("utf-8")))).get("settings"))
    return Implementation(
        settings=dict(pair for variable, value in values.items() for pair in _named(variable, str(value)))
    )


def _named(variable: str, value: str) -> Iterator[tuple[str, str]]:
    """A variable as settings, each field of a JSON object for itself: `KGW_POLICY_MERGE` is `kgateway.policyMerge`."""
    first, *others = variable.removeprefix("KGW_").lower().split("_")
    name = f"{_PREFIX}.{first}{''.join(map(str.capitalize, others))}"
    try:
        decoded = cast("Json", json.loads(value))
    except ValueError:
        decoded = value
    if isinstance(decoded, dict):
        yield from _flat(name, decoded)
    else:
        yield name, value


def _flat(name: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _flat(f"{name}.{key}", child)
    else:
        yield name, str(value)


def main(arguments: Sequence[str]) -> int:
    """Write the document of each case; 2 if there is none, 1 if one could not be answered."""
    return predictions.main("kgateway", document, arguments, settings_of)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
