"""Values in one line: as they are, or lists of named things in short, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.wording.names import flow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json

# A value with more characters is shown in short, if it lists things.
_LONGEST: Final = 80
# As many things of a list are shown.
_MAX_ITEMS: Final = 4


def brief(value: Json) -> str:
    """Return a value in one line; of a long list of objects, their names and the first field of each."""
    text = flow(value)
    return text if len(text) <= _LONGEST else beginning(value) or text


def brief_change(before: Json, after: Json) -> tuple[str, str]:
    """Return two values in one line each; of long lists of named objects, the names and what differs in each."""
    texts = flow(before), flow(after)
    old, new = _by_name(before), _by_name(after)
    if max(map(len, texts)) <= _LONGEST or not (old and new):
        return texts
    return _differences(old, new), _differences(new, old)


def beginning(value: Json) -> str:
    """`[acme] issuer https://login.acme.com …`: return a list of objects by their names, and the first field of each.

    It is "" for anything else.
    """
    items = value if isinstance(value, list) else []
    objects = [item for item in items if isinstance(item, Mapping)]
    return _joined([_object(item) for item in objects]) if len(objects) == len(items) else ""


def _object(item: Mapping[str, Json]) -> str:
    name = item.get("name")
    rest = [(key, child) for key, child in item.items() if key != "name"]
    parts = [f"[{name}]"] if isinstance(name, str) else []
    parts += [f"{key} {_first(child)}" for key, child in rest[:1]]
    return " ".join(parts) + (" …" if len(rest) > 1 else "")


def _first(value: Json) -> str:
    """Return a value, or a sign that there is one where it is long."""
    text = flow(value)
    return text if len(text) <= _LONGEST else "…"


def _joined(texts: Sequence[str]) -> str:
    rest = len(texts) - _MAX_ITEMS
    return ", ".join([*texts[:_MAX_ITEMS], *([f"and {rest} more"] if rest > 0 else [])])


def _by_name(value: Json) -> dict[str, Mapping[str, Json]]:
    """Return the objects of a list by their names; nothing if one of them has none, or not one of its own."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    named = {name: item for item in items if isinstance(name := item.get("name"), str)}
    return named if isinstance(value, list) and len(named) == len(value) else {}


def _differences(items: Mapping[str, Mapping[str, Json]], other: Mapping[str, Mapping[str, Json]]) -> str:
    """Return the names of objects: those that differ with the fields in which they do first, in short the rest."""
    changed: list[str] = []
    equal: list[str] = []
    for name, item in items.items():
        counterpart = other.get(name)
        if counterpart is None:
            changed.append(f"[{name}]")
        elif item == counterpart:
            equal.append(f"[{name}]")
        else:
            changed.append(f"[{name}] {', '.join(_differing(item, counterpart))}")
    return _joined([*changed, *equal])


def _differing(item: Mapping[str, Json], counterpart: Mapping[str, Json], field: str = "") -> Iterator[str]:
    """Yield the fields of an object that differ in its counterpart, with their values; `no cache` for an absent one."""
    for key in {**item, **counterpart}:
        ours, theirs, name = item.get(key), counterpart.get(key), f"{field}{key}"
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            yield from _differing(ours, theirs, f"{name}.")
        elif ours != theirs:
            yield f"{name} {flow(ours)}" if key in item else f"no {name}"
