"""Fields of a wrong type."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NoReturn, cast

import pytest

from kubectl_policy.model import FieldPath
from tests.build import (
    ORIGIN,
    gateway,
    gateway_class,
    grant,
    index,
    listener_set,
    policy,
    resource,
    route,
    service,
    target,
    wrong_shapes,
)

if TYPE_CHECKING:
    from kubectl_policy.model import Json


def problems(kind: str, spec: Json, group: str = "gateway.networking.k8s.io") -> list[str]:
    """The messages about an object `x` with a spec."""
    return [problem.message for problem in wrong_shapes(index(resource(kind, "x", spec, group=group)))]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "a string"),
        (1, "an integer"),
        (1.5, "a number"),
        (True, "a boolean"),
        ({}, "a mapping"),
        (cast("Json", date(2026, 1, 1)), "something else"),
    ],
)
def test_a_value_of_another_type_is_named(value: Json, words: str) -> None:
    """The message says what it is and what it must be."""
    assert problems("Gateway", {"listeners": value}) == [
        f"Gateway default/x: spec.listeners is {words}, must be a list"
    ]


WRONG: list[tuple[str, Json, str]] = [
    ("HTTPRoute", {"hostnames": ["a", 1]}, "spec.hostnames[1] is an integer, must be a string"),
    ("HTTPRoute", {"parentRefs": [{}, []]}, "spec.parentRefs[1] is a list, must be a mapping"),
    (
        "HTTPRoute",
        {"rules": [{"backendRefs": [{"port": "80"}]}]},
        "spec.rules[0].backendRefs[0].port is a string, must be an integer",
    ),
    ("Gateway", {"listeners": [{"port": True}]}, "spec.listeners[0].port is a boolean, must be an integer"),
    ("ListenerSet", {"parentRef": "g"}, "spec.parentRef is a string, must be a mapping"),
    ("ReferenceGrant", {"from": {}}, "spec.from is a mapping, must be a list"),
    ("GatewayClass", {"targetRefs": {}}, "spec.targetRefs is a mapping, must be a list"),
    ("GatewayClass", "x", "spec is a string, must be a mapping"),
]


@pytest.mark.parametrize(("kind", "spec", "expected"), WRONG)
def test_a_wrong_field_is_found_wherever_it_is(kind: str, spec: Json, expected: str) -> None:
    """In lists of lists, too; what is below a wrong value is not looked at."""
    assert problems(kind, spec) == [f"{kind} default/x: {expected}".replace("GatewayClass default/x", "GatewayClass x")]


def test_null_and_absence_are_no_problem() -> None:
    """An API server drops null."""
    assert problems("Gateway", {"listeners": None}) == []
    assert problems("Gateway", {}) == []


def test_every_kind_may_be_a_policy() -> None:
    """Its target references are looked at, and an origin tells where."""
    (found,) = wrong_shapes(index(policy("p", targetRef={"name": 1})))
    assert (found.rule, found.severity, found.field) == ("wrong-type", "error", "spec.targetRef.name")
    assert (found.subject, found.origin) == (policy().ref, ORIGIN)


def test_sound_objects_have_no_problems() -> None:
    """What the builders make is what the API wants."""
    world = [gateway_class(), gateway(), listener_set(), route(), service(), grant(), policy("p", target("g"))]
    assert wrong_shapes(index(*world)) == ()


def test_no_field_of_a_sound_object_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen in one walk, however long the table is."""

    def each(path: FieldPath, value: Json) -> NoReturn:
        pytest.fail(f"{path} is looked up in {value}")

    monkeypatch.setattr(FieldPath, "each", each)
    rules: list[Json] = [{"name": "r", "backendRefs": [{"name": "s", "port": 80}, None]}, {}]
    assert problems("HTTPRoute", {"hostnames": ["a"], "parentRefs": [{"name": "g"}], "rules": rules}) == []
    assert problems("Service", {"ports": None, "other": [1]}, group="") == []


def test_what_is_in_a_value_of_another_type_is_not_looked_for() -> None:
    """A mapping has no items, and a list no fields."""
    assert problems("HTTPRoute", {"hostnames": {"a": 1}}) == [
        "HTTPRoute default/x: spec.hostnames is a mapping, must be a list"
    ]
    assert problems("Service", {"ports": [[{"name": 1}]]}, group="") == [
        "Service default/x: spec.ports[0] is a list, must be a mapping"
    ]
