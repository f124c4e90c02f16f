"""Contents that policies need of the objects to which they refer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.attachment.validity import ignored_settings, policy_failure
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.needs import RequiredObject
from tests.build import index, policy, resource, service

KIND: Final = GroupKind("example.com", "ColorPolicy")


def failure(holder: Resource, reference: Mapping[str, Json], **choices: Any) -> str:  # noqa: ANN401 (choices of a need)
    """Why a policy with a reference to an object that exists is invalid."""
    need = RequiredObject(field="spec.ref", group="", kinds=(holder.ref.kind,), competes=True, **choices)
    profile = PolicyKindProfile(KIND, "direct", "profile", needs=(need,))
    found = policy_failure(policy("p", ref=reference), profile, index(holder, complete=True))
    assert found is None or (found.state, found.competes) == ("policy invalid", True)
    return found.message if found else ""


NAMED: Final[Mapping[str, Json]] = {"name": "s"}


@pytest.mark.parametrize(
    ("reference", "ports", "message"),
    [
        ({"name": "s", "port": 80}, [80], ""),
        ({"name": "s", "port": 81}, [80], "spec.ref.port 81 is no port of Service default/s"),
        (NAMED, [80], "spec.ref needs a port of Service default/s"),
        ({"name": "s", "port": "${PORT}"}, [80], ""),
        ({"name": "s", "port": 81}, [{"port": "${PORT}"}], ""),
    ],
)
def test_a_port(reference: Mapping[str, Json], ports: list[Any], message: str) -> None:
    assert failure(service("s", *ports), reference, port_kinds=frozenset({"Service"})) == message
    assert failure(service("s", *ports), reference) == ""


@pytest.mark.parametrize(
    ("kind", "body", "choices", "message"),
    [
        ("Secret", {"data": {"id": "x"}}, {"keys": ("id",)}, ""),
        ("Secret", {"stringData": {"id": "x"}}, {"keys": ("id",)}, ""),
        ("Secret", {}, {"keys": ("id",)}, ""),
        ("Secret", {"data": {"id": ""}}, {"keys": ("id", "key")}, "which has no id and no key"),
        ("Secret", {"data": {"${KEY}": "x"}}, {"keys": ("id",)}, ""),
        ("ConfigMap", {"data": {"any": "x"}}, {"any_key": True}, ""),
        ("ConfigMap", {"binaryData": {"any": "eA=="}}, {"any_key": True}, ""),
        ("ConfigMap", {}, {"any_key": True}, "which is empty"),
        ("ConfigMap", {"data": {}}, {}, ""),
        ("Bundle", {"data": {}}, {"keys": ("id",)}, ""),
    ],
)
def test_keys(kind: str, body: dict[str, Json], choices: dict[str, Any], message: str) -> None:
    """Data that was withheld, or has a placeholder for a key, may have any; other kinds have no data."""
    holder = resource(kind, "s", group="")
    holder = replace(holder, raw={**holder.raw, **body})
    expected = f"spec.ref names {kind} default/s, {message}" if message else ""
    assert failure(holder, NAMED, **choices) == expected


def test_a_setting_that_is_ignored_without_them() -> None:
    need = RequiredObject(
        field="spec.ref", group="", kinds=("Service",), fail_open="spec.open", port_kinds=frozenset({"Service"})
    )
    profile = PolicyKindProfile(KIND, "direct", "profile", needs=(need,))
    opened = policy("p", ref=dict(NAMED), open=True)
    world = index(service("s", 80), complete=True)
    assert policy_failure(opened, profile, world) is None
    reasons = [part.reason for part in ignored_settings(world, opened, profile)]
    assert reasons == ["spec.ref needs a port of Service default/s"]
