"""What an API server would have filled in: the defaults of an object's schema, and the few that no schema can say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.builtin_schemas import SCHEMAS
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at
from kubectl_policy.model.filling import filled_mapping, filler_of
from kubectl_policy.model.kinds import NAMESPACE, SERVICE
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.filling import Filler
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
