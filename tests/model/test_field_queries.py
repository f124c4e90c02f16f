"""Field selectors: as kubectl parses them, and as an API server selects by them."""

from __future__ import annotations

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind, Json
from kubectl_policy.model.kinds import BUILT_IN, KindNames
from kubectl_policy.model.selectors import FieldRequirement, parse_field_query, selectable_fields, selects_fields
from tests import build

NAMES = {names.group_kind.kind: names for names in BUILT_IN}


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("", ()),
        (",", ()),
        ("=", ()),
        ("a=b", (FieldRequirement("a", "b"),)),
        ("a==b", (FieldRequirement("a", "b"),)),
        ("a!=b", (FieldRequirement("a", "b", negated=True),)),
        ("a=", (FieldRequirement("a", ""),)),
        ("a=b,c!=d,", (FieldRequirement("a", "b"), FieldRequirement("c", "d", negated=True))),
        (r"a=b\,c\=\\", (FieldRequirement("a", "b,c=\\"),)),
        ("a=b!c", (FieldRequirement("a", "b!c"),)),
    ],
)
def test_conditions_are_read_as_kubectl_does(text: str, requirements: tuple[FieldRequirement, ...]) -> None:
    assert parse_field_query(text) == requirements


@pytest.mark.parametrize(("text", "term"), [("a", "a"), ("a=b,c>d", "c>d"), ("a in (b)", "a in (b)")])
def test_what_is_no_condition_is_refused(text: str, term: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_field_query(text)
    assert error.value.message == f"invalid field selector: '{text}'; can't understand '{term}'"


def test_a_definition_can_add_fields() -> None:
    versions: Json = [{"selectableFields": [{"jsonPath": ".spec.color"}, {}]}, {"name": "v1"}]
    definition = build.resource("CustomResourceDefinition", "colors.example.io", {"versions": versions})
    color = KindNames(GroupKind("example.io", "Color"), "colors")
    assert selectable_fields(color, definition) == ("metadata.name", "metadata.namespace", "spec.color")
    assert selectable_fields(NAMES["GatewayClass"], None) == ("metadata.name",)
    assert selectable_fields(NAMES["Namespace"], None) == ("metadata.name", "status.phase")
    of_services = ("metadata.name", "metadata.namespace", "spec.clusterIP", "spec.type")
    assert selectable_fields(NAMES["Service"], None) == of_services


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", True),
        ("metadata.name=web", True),
        ("metadata.name!=web", False),
        ("metadata.name=api", False),
        ("metadata.name=web,metadata.namespace=shop", True),
        ("metadata.namespace!=shop", False),
        ("metadata.namespace!=other", True),
        ("spec.type=ClusterIP", True),
        ("spec.type=NodePort", False),
        # The server chooses it.
        ("spec.clusterIP=None", None),
        ("spec.clusterIP=None,metadata.name=api", False),
    ],
)
def test_an_object_is_selected(query: str, *, expected: bool | None) -> None:
    assert selects_fields(parse_field_query(query), build.service("web", namespace="shop")) is expected


@pytest.mark.parametrize(
    ("query", "in_manifest", "from_server"),
    [
        ("status.phase=Running", None, False),
        ("spec.nodeName=a", None, False),
        # A Pod that waits for a node.
        ("spec.nodeName=", None, True),
        ("spec.hostNetwork=false", True, True),
        ("spec.hostNetwork=true", False, False),
        ("spec.serviceAccountName!=default", False, False),
    ],
)
def test_what_a_pod_lacks_is_filled_in_or_is_not_there(
    query: str, *, in_manifest: bool | None, from_server: bool
) -> None:
    requirements, pod = parse_field_query(query), build.resource("Pod", "web", {}, group="")
    assert selects_fields(requirements, pod) is in_manifest
    assert selects_fields(requirements, build.with_metadata(pod, uid="u")) is from_server


def test_pods_are_selected_by_what_runs() -> None:
    pod = build.resource("Pod", "web", {"nodeName": "a", "hostNetwork": True}, group="", status={"phase": "Running"})
    assert selects_fields(parse_field_query("status.phase=Running,spec.nodeName=a,spec.hostNetwork=true"), pod) is True
    assert selects_fields(parse_field_query("status.phase!=Running"), pod) is False
    of_pods = ("spec.nodeName", "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP")
    assert selectable_fields(NAMES["Pod"], None)[2:] == of_pods


def test_what_is_to_be_filled_in_is_undecided() -> None:
    def selected(query: str, name: str = "web", **spec: Json) -> bool | None:
        return selects_fields(parse_field_query(query), build.resource("Service", name, spec, group=""))

    assert selected("metadata.name=web-1", name="web-${N}") is None
    assert selected("metadata.name!=web-1", name="web-${N}") is None
    assert selected("metadata.name=api", name="web-${N}") is False
    assert selected("spec.type=NodePort", type="${TYPE}") is None
    assert selected("spec.type=NodePort", type="NodePort") is True
    color = build.resource("Color", "red", {"dark": True})
    assert selects_fields(parse_field_query("spec.dark=true,spec.light="), color) is True
    assert selects_fields(parse_field_query("spec.dark=false"), color) is False
