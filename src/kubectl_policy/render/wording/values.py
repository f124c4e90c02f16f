"""Values in one line: as a whole or, at a terminal, the beginning of a long one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.text import cells, cut
from kubectl_policy.render.wording.names import flow

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.render.output.text import View

# A value is cut to what is left of its line, but not to less than this.
_LEAST: Final = 24


def shortened(value: Json, room: int, view: View) -> str:
    """A value in one line; at a terminal the beginning of a long one, by the names of what it lists."""
    text = flow(value)
    room = max(room, _LEAST)
    if not view.cuts or cells(text) <= room:
        return text
    return cut(_beginning(value) or text, room)


def _beginning(value: Json) -> str:
    """`[acme] issuer https://login.acme.com …`: a list of objects by their names, and the first field of each."""
    items = value if isinstance(value, list) else []
    objects = [item for item in items if isinstance(item, Mapping)]
    if not objects or len(objects) < len(items):
        return ""
    return ", ".join(_object(item) for item in objects)


def _object(item: Mapping[str, Json]) -> str:
    name = item.get("name")
    rest = [(key, child) for key, child in item.items() if key != "name"]
    words = [f"[{name}]"] if isinstance(name, str) else []
    words += [f"{key} {flow(child)}" for key, child in rest[:1]]
    return " ".join(words) + (" …" if len(rest) > 1 else "")
