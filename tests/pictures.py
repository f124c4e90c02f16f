"""The pictures in docs/, and what is in them: `python -m tests.pictures` draws them anew, which takes Graphviz."""

from __future__ import annotations

import contextlib
import io
import re
import xml.etree.ElementTree as ET
from html import unescape
from pathlib import Path
from typing import Final

from kubectl_policy import cli

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = ROOT / "docs" / "pictures"
BAKERY: Final = "--effective --offline fixtures/bakery"
PICTURES: Final = {"bakery.svg": f"graph -o svg {BAKERY}", "bakery.html": f"graph -o html {BAKERY}"}


def printed(command: str) -> str:
    """What a command prints on standard output, in the folder of the project."""
    output = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        assert cli.run(command.split(), "kubectl policy") == 0
    return output.getvalue()


def words_of_svg(picture: str) -> set[str]:
    """The texts in a picture that Graphviz drew; where they are depends on its version, and on fonts."""
    texts = ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314 (our own picture)
    return {" ".join((text.text or "").split()) for text in texts} - {""}


def words_of_dot(graph: str) -> set[str]:
    """The texts that DOT has drawn: those in Graphviz's HTML, and in plain labels."""
    labels = re.findall(r"label=<(.*)>(?:,.*|)\]", graph)
    html = (text for label in labels for text in re.split(r"<[^<>]*>", label))
    plain = re.findall(r'label="([^"]*)"', graph)
    return {" ".join(unescape(text).split()) for text in (*html, *plain)} - {""}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, command in PICTURES.items():
        (FOLDER / name).write_text(printed(command), "utf-8")
