"""What an API server would have filled in: the defaults of an object's schema, and the few that no schema can say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.builtin_schemas import SCHEMAS
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at
from kubectl_policy.model.kinds import NAMESPACE, SERVICE
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.resource import Resource

_NO_SCHEMA: Final[Mapping[str, Json]] = {}
_NO_TARGET_PORT: Final = (None, 0, "")
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Defaults:
    """The defaults of every kind that is built in or defined by a CustomResourceDefinition; nothing else is changed."""

    def __init__(self, definitions: Iterable[Resource]) -> None:
        """Remember the schemas of the definitions; of two definitions of one kind the later one counts."""
        self._definitions = {
            GroupKind(text_at(definition.raw, "spec.group"), text_at(definition.raw, "spec.names.kind")): definition.raw
            for definition in definitions
        }

    def schema_of(self, group_kind: GroupKind, version: str = "") -> Mapping[str, Json]:
        """The openAPIV3Schema of a kind: of the version if it is defined, else of the stored, else of the first served.

        The built-in one, which names defaults only, where no definition has a schema; empty for any other kind.
        """
        definition = self._definitions.get(group_kind, {})
        return _schema_in(definition, version) or SCHEMAS.get(group_kind, _NO_SCHEMA)

    def apply(self, resource: Resource) -> Mapping[str, Json]:
        """The object with its defaults; the very same mapping if there is nothing to fill in. `raw` is not mutated."""
        version = text_at(resource.raw, "apiVersion").rpartition("/")[2]
        raw = _filled_mapping(resource.raw, self.schema_of(resource.ref.group_kind, version))
        if resource.ref.group_kind == NAMESPACE:
            return _with_name_label(raw, resource.ref.name)
        return _with_target_ports(raw) if resource.ref.group_kind == SERVICE else raw


def _schema_in(definition: Mapping[str, Json], version: str) -> Mapping[str, Json]:
    versions = mappings_at(definition, "spec.versions")
    chosen = (
        next((found for found in versions if version and found.get("name") == version), None)
        or next((found for found in versions if found.get("storage") is True), None)
        or next((found for found in versions if found.get("served") is True), None)
    )
    # apiextensions.k8s.io/v1beta1 has one schema for all versions.
    return mapping_at(chosen, "schema.openAPIV3Schema") or mapping_at(definition, "spec.validation.openAPIV3Schema")


def _filled(value: Json, schema: Mapping[str, Json]) -> Json:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _filled_mapping(value, schema)
    if isinstance(value, list):
        return _filled_list(value, mapping_at(schema, "items"))
    return value


def _filled_mapping(value: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """A mapping with its defaults, as `Default` in apiextensions-apiserver, pkg/apiserver/schema/defaulting, has it."""
    properties = mapping_at(schema, "properties")
    others = mapping_at(schema, "additionalProperties")
    changed: dict[str, Json] = {}
    for key, about in properties.items():
        if not isinstance(about, Mapping):
            continue
        if key in value:
            _note(changed, key, value[key], about)
        elif about.get("default") is not None:
            changed[key] = _filled(about["default"], about)
    for key, old in value.items() if others else ():
        if key not in properties:
            _note(changed, key, old, others)
    return {**value, **changed} if changed else value


def _note(changed: dict[str, Json], key: str, old: Json, schema: Mapping[str, Json]) -> None:
    new = _filled_present(old, schema)
    if new is not old:
        changed[key] = new


def _filled_list(value: list[Json], schema: Mapping[str, Json]) -> list[Json]:
    filled = [_filled_present(item, schema) for item in value]
    return filled if any(new is not old for new, old in zip(filled, value, strict=True)) else value


def _filled_present(value: Json, schema: Mapping[str, Json]) -> Json:
    """A value that is there, with its defaults; a null that the schema does not allow counts as absent."""
    if value is None and schema.get("nullable") is not True:
        return _filled(schema.get("default"), schema)
    return _filled(value, schema)


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
