"""Authorship of fields: as git records it, or as an API server does in `metadata.managedFields`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from kubectl_policy.model.fields import Json, Step, mappings_at, same_json, text_at


class Authorship(Struct, frozen=True, kw_only=True):
    """The author and time of a change; both are empty for an uncommitted line."""

    who: Annotated[
        str, Meta(description="The author of the commit, or the field manager; empty for an uncommitted line.")
    ]
    when: Annotated[str, Meta(description="The time in ISO 8601 format; empty for an uncommitted line.")]
    commit: Annotated[
        str, Meta(description="The id of the git commit; empty for an uncommitted line and for a field manager.")
    ] = ""


class Commit(Struct, frozen=True, kw_only=True):
    """A commit in git."""

    id: Annotated[str, Meta(description="The id of the commit.")]
    author: Annotated[str, Meta(description="The author of the commit.")]
    when: Annotated[str, Meta(description="The time in ISO 8601 format; empty if unknown.")]
    subject: Annotated[str, Meta(description="The first line of the commit message.")]


NOT_COMMITTED = Authorship(who="", when="")


def field_owner(raw: Json, steps: Sequence[Step]) -> Authorship | None:
    """Return the owner of a field by `managedFields`, the latest one of several; None where nobody owns it."""
    entries = mappings_at(raw, "metadata.managedFields")
    owners = [entry for entry in entries if steps and _owns(entry.get("fieldsV1"), raw, steps)]
    last = max(owners, key=lambda entry: text_at(entry, "time"), default=None)
    return Authorship(who=text_at(last, "manager"), when=text_at(last, "time")) if last else None


def _owns(fields: Json, held: Json, steps: Sequence[Step]) -> bool:
    """Whether a set of fields has a field, or a field around it as a whole."""
    for step in steps:
        if not isinstance(fields, Mapping):
            return False
        if not fields.keys() - {"."}:
            # A field set without entries is owned as a whole.
            return True
        if isinstance(step, str):
            fields, held = fields.get(f"f:{step}"), held.get(step) if isinstance(held, Mapping) else None
        else:
            items = held if isinstance(held, list | tuple) else ()
            held = items[step] if isinstance(step, int) and step < len(items) else None
            fields = next((fields[name] for name in fields if _names(name, held, step)), None)
    return isinstance(fields, Mapping)


def _names(name: str, item: Json, position: Step) -> bool:
    """Whether `k:{"name":"a"}`, `v:"a"` or `i:0` names an item of a list."""
    notation, _, written = name.partition(":")
    if notation == "i":
        return written == str(position)
    try:
        value: Json = json.loads(written) if notation in {"k", "v"} else None
    except (ValueError, RecursionError):
        return False
    if notation == "k" and isinstance(value, Mapping) and isinstance(item, Mapping):
        return all(key in item and same_json(item[key], expected) for key, expected in value.items())
    return notation == "v" and same_json(value, item)
