"""A picture as one HTML page that needs nothing else: what shows it, and its data, safely embedded."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.graph.page_data import page_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.questions.graph.picture import Picture
    from kubectl_policy.render.output.text import View

# Where a page has what is put into it: `<!-- graphviz.js -->`, `<!-- data -->`, `{{script-src}}`.
_PLACE: Final = re.compile(r"<!-- (?P<part>[a-z_.-]+) -->|\{\{(?P<value>[a-z-]+)\}\}")


def graph_page(picture: Picture, _: View) -> str:
    """The page. The same picture makes the same page, byte for byte."""
    return assembled(page_data(picture))


def assembled(data: Mapping[str, Json]) -> str:
    """The page that shows some data. Only its own scripts run in it, and it asks nobody anything."""
    folder = files("kubectl_policy.render.graph") / "assets"
    page = (folder / "page.html").read_text("utf-8")
    names = [match["part"] for match in _PLACE.finditer(page) if match["part"] and match["part"] != "data"]
    parts = {name: (folder / name).read_text("utf-8") for name in names}
    values = {
        "script-src": " ".join(_hash(text) for name, text in parts.items() if name.endswith(".js")),
        "style-src": " ".join(_hash(text) for name, text in parts.items() if name.endswith(".css")),
        "title": escape(str(data["title"])),
    }
    parts["data"] = embedded(data)
    return _PLACE.sub(lambda place: parts[place["part"]] if place["part"] else values[place["value"]], page)


def embedded(data: Mapping[str, Json]) -> str:
    """Data as JSON in which nothing ends the element that it stands in, or is taken for anything but data."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # What a CI would obey in its log is written out when this is printed, unless it is here already.
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.replace("##", "#\\u0023")


def _hash(text: str) -> str:
    """What allows one script, or one sheet of styles, that a page has in it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
