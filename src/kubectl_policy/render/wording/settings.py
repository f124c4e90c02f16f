"""Settings in answers: values in one line, what is said beside them, and which fields only repeat a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.render.output.text import Span, cells, cut
from kubectl_policy.render.wording.names import flow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.questions.describe.policies import FieldOutcome
    from kubectl_policy.questions.shared.in_force import Setting
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution import Fate

INDENT: Final = 2
GAP: Final = 3
# What is said of a field that its policy leaves out, and that the definition of its kind fills in.
DEFAULT: Final = "default of its kind"
# A value is cut to what is left of its line, but not to less than this.
_LEAST: Final = 24
# As many letters of the id of a commit as git shows.
SHORT_ID: Final = 7


_Field = TypeVar("_Field", "Setting", "Fate", "FieldOutcome")


def blame_words(placed: Setting | FieldOutcome) -> str:
    """`alice, 2026-01-03, 1a2b3c4`; empty where nobody asked who wrote it, or that cannot be told."""
    blame = placed.blame
    if blame is None:
        return ""
    parts = (blame.who, blame.when.partition("T")[0], blame.commit[:SHORT_ID])
    return ", ".join(filter(None, parts)) or "not committed yet"


def perhaps(setting: Setting) -> str:
    """What is said of a setting where it is not known how policies combine."""
    return "" if setting.certain else " (may hold)"


def default_spans(field: Setting | FieldOutcome) -> tuple[Span, ...]:
    """What distinguishes a field that its policy leaves out from one that somebody wrote; nothing for the latter."""
    return (Span(f" ({DEFAULT})", "aside", prose=True),) if field.defaulted else ()


def without_keys(fields: tuple[_Field, ...]) -> Iterator[_Field]:
    """Fields without those that only repeat the key that a list element is named by, next to others of the element."""
    for place, field in enumerate(fields):
        element, _, _ = field.field.rpartition(".")
        neighbours = fields[max(place - 1, 0) : place] + fields[place + 1 : place + 2]
        repeats = element.endswith("]") and element.endswith(f"[{flow(field.value)}]")
        if not (repeats and any(other.field.startswith(f"{element}.") for other in neighbours)):
            yield field


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
