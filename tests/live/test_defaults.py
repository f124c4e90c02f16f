"""What the reader of manifests fills in is what a server does."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_policy import GroupKind, ObjectRef, load_manifests
from kubectl_policy.model.defaults import BUILT_IN_DEFAULTS, built_in_schema
from kubectl_policy.model.fields import labels_of, mapping_at
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, SERVICE
from kubectl_policy.model.kinds import CRD
from tests.live.conftest import BAKERY
from tests.live.server import Server

SPARSE: Final = Path(__file__).parent / "sparse.yaml"
# What a server decides for itself, and what no answer is about.
OF_THE_CLUSTER: Final = {
    SERVICE: ("clusterIP", "clusterIPs", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy", "sessionAffinity"),
    GroupKind("", "Namespace"): ("finalizers",),
}
# Of earlier releases of Gateway API.
FORMER: Final = frozenset({"BackendLBPolicy", "XListenerSet"})


@pytest.fixture(scope="module")
def definitions(server: Server) -> dict[GroupKind, dict[str, Any]]:
    """The definitions of Gateway API as the server has them."""
    return {
        GroupKind(definition["spec"]["group"], definition["spec"]["names"]["kind"]): definition
        for definition in json.loads(server.kubectl("get", "customresourcedefinitions", "-o", "json"))["items"]
        if definition["spec"]["group"] in {GATEWAY_API, GATEWAY_API_EXPERIMENTAL}
    }


@pytest.mark.parametrize("path", [SPARSE, BAKERY], ids=["sparse", "bakery"])
def test_the_reader_fills_in_what_the_server_does(server: Server, path: Path) -> None:
    """Objects that leave out whatever they may, and those of the story: what the server made of them."""
    server.apply(path)
    index = Index(load_manifests([path]))
    returned = json.loads(server.kubectl("get", "-f", str(path), "-o", "json"))["items"]
    theirs = {_ref(raw): raw for raw in returned if raw["kind"] != CRD.kind}
    assert {resource.ref for resource in index.snapshot.resources if resource.ref.group_kind != CRD} == {*theirs}
    for ref, each in theirs.items():
        left_out = OF_THE_CLUSTER.get(ref.group_kind, ())
        spec = {key: value for key, value in each["spec"].items() if key not in left_out}
        assert mapping_at(index.defaulted(ref), "spec") == spec, str(ref)
        assert labels_of(index.defaulted(ref)) == each["metadata"].get("labels", {}), str(ref)


def _ref(raw: dict[str, Any]) -> ObjectRef:
    kind = GroupKind(raw["apiVersion"].rpartition("/")[0], raw["kind"])
    return ObjectRef(kind, raw["metadata"].get("namespace", ""), raw["metadata"]["name"])


@pytest.mark.parametrize(
    "kind", [kind for kind in BUILT_IN_DEFAULTS if kind.kind not in FORMER and kind != SERVICE], ids=str
)
def test_what_is_built_in_is_what_definitions_say(
    definitions: dict[GroupKind, dict[str, Any]], kind: GroupKind
) -> None:
    versions = definitions[kind]["spec"]["versions"]
    assert versions
    for version in versions:
        assert dict(_defaults(built_in_schema(kind))) == dict(_defaults(version["schema"]["openAPIV3Schema"])), version[
            "name"
        ]


def test_no_kind_is_missing(definitions: dict[GroupKind, dict[str, Any]]) -> None:
    """All kinds with defaults are built in, and what is left of earlier releases is no more there."""
    assert not FORMER & {kind.kind for kind in definitions}
    with_defaults = {
        kind
        for kind, definition in definitions.items()
        if any(dict(_defaults(version["schema"]["openAPIV3Schema"])) for version in definition["spec"]["versions"])
    }
    assert with_defaults == {kind for kind in BUILT_IN_DEFAULTS if kind.kind not in FORMER and kind != SERVICE}


def _defaults(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every default of a schema with its path, but for those of a status, which controllers write."""
    if "default" in schema:
        yield path, schema["default"]
    for key, inner in schema.get("properties", {}).items():
        if (path, key) != ("", "status"):
            yield from _defaults(inner, f"{path}.{key}")
    if "items" in schema:
        yield from _defaults(schema["items"], f"{path}[]")
