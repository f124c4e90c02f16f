"""Write one document per recorded world, for the scorer that comes with the worlds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from kubectl_policy import Analysis, Implementation, PolicyError, PolicyKindProfile, analyze, load_profiles
from tests.cases.worlds import world

MARKER = "manifests.yaml"

# What is said of one world, and the settings under which a case (its folder) was recorded.
Document: TypeAlias = "Callable[[Analysis], object]"
SettingsOf: TypeAlias = "Callable[[Path], Implementation]"


def main(
    name: str, document: Document, arguments: Sequence[str], settings_of: SettingsOf = lambda _: Implementation()
) -> int:
    """Write the document of each case; return 2 if there is no case, 1 if one has no answer."""
    parser = argparse.ArgumentParser(prog=name)
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
        failed += not _written(case, options.out / f"{case.name}.json", document, profiles, settings_of)
    return 1 if failed else 0


def _written(
    case: Path, out: Path, document: Document, profiles: Sequence[PolicyKindProfile], settings_of: SettingsOf
) -> bool:
    try:
        analysis = analyze(world([case / MARKER]), profiles=profiles, implementation=settings_of(case))
        answer = document(analysis)
    except PolicyError as error:
        sys.stderr.write(f"{case / MARKER}: {error}\n")
        return False
    out.write_text(json.dumps(answer, indent=1), "utf-8")
    return True
