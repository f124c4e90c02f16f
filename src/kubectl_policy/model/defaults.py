"""Filling the defaults of a schema into values, as structural schemas have it; a schema is read once for all values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.builtin_schemas import SCHEMAS
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at
from kubectl_policy.model.kinds import NAMESPACE, SERVICE, counting_definitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.refs import GroupKind
    from kubectl_policy.model.snapshot import Resource


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


_NO_SCHEMA: Final[Mapping[str, Json]] = {}
_NO_TARGET_PORT: Final = (None, 0, "")
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Defaults:
    """The defaults of every kind that is built in or defined by a CustomResourceDefinition; nothing else is changed."""

    def __init__(self, definitions: Iterable[Resource]) -> None:
        """Remember the schemas of the definitions, of two of one kind that of the one which counts."""
        self._definitions = {kind: found.raw for kind, found in counting_definitions(definitions).items()}
        self._fillers: dict[tuple[GroupKind, str], Filler] = {}

    def schema_of(self, group_kind: GroupKind, version: str = "") -> Mapping[str, Json]:
        """The openAPIV3Schema of a kind: of the version if it is defined, else of the stored, else of the first served.

        The built-in one, which names defaults only, where no definition has a schema; empty for any other kind.
        """
        definition = self._definitions.get(group_kind, {})
        return _schema_in(definition, version) or SCHEMAS.get(group_kind, _NO_SCHEMA)

    def apply(self, resource: Resource) -> Mapping[str, Json]:
        """The object with its defaults; the very same mapping if there is nothing to fill in. `raw` is not mutated."""
        version = text_at(resource.raw, "apiVersion").rpartition("/")[2]
        raw = filled_mapping(resource.raw, self._filler(resource.ref.group_kind, version))
        if resource.ref.group_kind == NAMESPACE:
            return _with_name_label(raw, resource.ref.name)
        return _with_target_ports(raw) if resource.ref.group_kind == SERVICE else raw

    def _filler(self, group_kind: GroupKind, version: str) -> Filler:
        if (group_kind, version) not in self._fillers:
            self._fillers[group_kind, version] = filler_of(self.schema_of(group_kind, version))
        return self._fillers[group_kind, version]


def _schema_in(definition: Mapping[str, Json], version: str) -> Mapping[str, Json]:
    versions = mappings_at(definition, "spec.versions")
    chosen = (
        next((found for found in versions if version and found.get("name") == version), None)
        or next((found for found in versions if found.get("storage") is True), None)
        or next((found for found in versions if found.get("served") is True), None)
    )
    # apiextensions.k8s.io/v1beta1 has one schema for all versions.
    return mapping_at(chosen, "schema.openAPIV3Schema") or mapping_at(definition, "spec.validation.openAPIV3Schema")


def _with_name_label(raw: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """A Namespace with the label that every API server sets (KEP-2161)."""
    metadata, labels = mapping_at(raw, "metadata"), mapping_at(raw, "metadata.labels")
    if labels.get(_NAME_LABEL) == name:
        return raw
    return {**raw, "metadata": {**metadata, "labels": {**labels, _NAME_LABEL: name}}}


def _with_target_ports(raw: Mapping[str, Json]) -> Mapping[str, Json]:
    """A Service whose ports name their target: the port itself unless they say otherwise (SetDefaults_Service)."""
    ports = items_at(raw, "spec.ports")
    filled = [_with_target_port(port) for port in ports]
    if all(new is old for new, old in zip(filled, ports, strict=True)):
        return raw
    return {**raw, "spec": {**mapping_at(raw, "spec"), "ports": filled}}


def _with_target_port(port: Json) -> Json:
    if isinstance(port, Mapping) and "port" in port and port.get("targetPort") in _NO_TARGET_PORT:
        return {**port, "targetPort": port["port"]}
    return port
