"""Write one document per recorded world, for the scorer that comes with the worlds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kubectl_policy import PolicyError, analyze, load_profiles
from tests.cases.worlds import world

MARKER = "manifests.yaml"


def main(adapter: Any, arguments: Sequence[str]) -> int:  # noqa: ANN401 (a module)
    """Write the `document` of each case, under the `settings_of` it if the adapter reads any.

    Return 2 if there is no case, 1 if one has no answer.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--profiles", type=Path, nargs="+", default=[])
    options = parser.parse_args(arguments)
    cases = sorted(file.parent for file in options.folder.glob(f"*/{MARKER}"))
    if not cases:
        sys.stderr.write(f"{options.folder} holds no cases (folders with {MARKER})\n")
        return 2
    profiles = [profile for file in options.profiles for profile in load_profiles(file)]
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in cases:
        settings = adapter.settings_of(case) if hasattr(adapter, "settings_of") else None
        try:
            analysis = analyze(world([case / MARKER]), profiles=profiles, implementation=settings)
            answer = adapter.document(analysis)
        except PolicyError as error:
            sys.stderr.write(f"{case / MARKER}: {error}\n")
            failed += 1
        else:
            (options.out / f"{case.name}.json").write_text(json.dumps(answer, indent=1), "utf-8")
    return 1 if failed else 0
