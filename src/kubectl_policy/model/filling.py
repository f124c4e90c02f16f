"""Filling the defaults of a schema into values, as structural schemas have it; a schema is read once for all values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model.fields import mapping_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model.fields import Json


class Filler(NamedTuple):
    """What a schema fills into one value.

    A value that is absent becomes the `default`, if there is one, and so does a null, unless it is `nullable`. Of what
    is there, `properties` are filled, then what is not `named` in the schema by `others`, or each item of a list by
    `items`.
    """

    default: Json
    nullable: bool
    properties: tuple[tuple[str, Filler], ...]
    named: frozenset[str]
    others: Filler | None
    items: Filler | None

    @property
    def goes_on(self) -> bool:
        """Whether there is anything to fill in within a value."""
        return bool(self.properties or self.others or self.items)


def filler_of(schema: Mapping[str, Json]) -> Filler:
    """What a schema fills in: `Default` in apiextensions-apiserver, pkg/apiserver/schema/defaulting."""
    properties = mapping_at(schema, "properties")
    filler = Filler(
        None,
        schema.get("nullable") is True,
        tuple(_worthwhile(properties)),
        frozenset(properties),
        _or_none(schema, "additionalProperties"),
        _or_none(schema, "items"),
    )
    return filler._replace(default=filled(schema.get("default"), filler))


def _worthwhile(properties: Mapping[str, Json]) -> Iterator[tuple[str, Filler]]:
    """The properties with anything to fill in."""
    for key, about in properties.items():
        found = filler_of(about) if isinstance(about, Mapping) else None
        if found and (found.default is not None or found.goes_on):
            yield key, found


def _or_none(schema: Mapping[str, Json], key: str) -> Filler | None:
    below = mapping_at(schema, key)
    found = filler_of(below) if below else None
    return found if found and (found.default is not None or found.goes_on) else None


def filled(value: Json, filler: Filler) -> Json:
    """A value that is there with its defaults; the very same one if there is nothing to fill in."""
    if isinstance(value, (dict, Mapping)):
        return filled_mapping(value, filler)
    if isinstance(value, list) and filler.items:
        items = filler.items
        new = [_present(item, items) for item in value]
        return new if any(one is not other for one, other in zip(new, value, strict=True)) else value
    return value


def filled_mapping(value: Mapping[str, Json], filler: Filler) -> Mapping[str, Json]:
    """A mapping with its defaults; the very same one if there is nothing to fill in."""
    changed: dict[str, Json] = {}
    for key, below in filler.properties:
        if key in value:
            new = _present(value[key], below)
            if new is not value[key]:
                changed[key] = new
        elif below.default is not None:
            changed[key] = below.default
    for key, old in value.items() if filler.others else ():
        new = _present(old, filler.others) if filler.others and key not in filler.named else old
        if new is not old:
            changed[key] = new
    return {**value, **changed} if changed else value


def _present(value: Json, filler: Filler) -> Json:
    """A value that is there, with its defaults; a null that the schema does not allow counts as absent."""
    if value is None:
        return None if filler.nullable else filler.default
    return filled(value, filler) if filler.goes_on else value
