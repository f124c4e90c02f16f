"""Programs of others that some tests need; where one is not there, what needs it is skipped, and says how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

MERMAID: Final = Path(__file__).parent / "mermaid"
_DOT: Final = shutil.which("dot")
_NODE: Final = shutil.which("node")
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")

needs_dot: Final = pytest.mark.skipif(_DOT is None, reason="no Graphviz: apt install graphviz, or make programs")


def browser() -> str:
    """A browser that Playwright can drive; empty if there is none."""
    found = os.environ.get("KUBECTL_POLICY_CHROMIUM") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    return found or ""


def dot(text: str, form: str) -> str:
    """What Graphviz makes of DOT. It must not complain about anything."""
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [_DOT or "dot", f"-T{form}"], input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def has_mermaid() -> bool:
    """Whether there are Node.js and Mermaid, as `make programs` installs it from its lock file."""
    return _NODE is not None and (MERMAID / "node_modules" / "mermaid").is_dir()


needs_mermaid: Final = pytest.mark.skipif(not has_mermaid(), reason="no Node.js, or no Mermaid: make programs")


def mermaid_problems(*files: Path) -> list[str]:
    """What Mermaid's own parser says of some files, a line for each that it does not take."""
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [_NODE or "node", "parse.mjs", *map(str, files)],
        cwd=MERMAID,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(files)
    return [line for line in lines if not line.endswith(": flowchart-v2")]
