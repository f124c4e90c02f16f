"""Which object is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.shared.selection import find, kinds_named
from tests.build import crd, gateway, index, namespace, policy, ref, resource, route, service, target

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef

WORLD: Final = index(
    namespace("default"),
    gateway("edge"),
    route("shop"),
    route("shop", namespace="far"),
    service("till"),
    crd("ColorPolicy"),
    policy("red", target("edge")),
    resource("Odd", "x", {}, group="a.example"),
    resource("Odd", "x", {}, group="b.example"),
    resource("Odd", "y", {}, group="b.example"),
)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("httprote", "did you mean httproute, httproutes"),
        ("zzz", "the input has: namespace, service, odd.a.example, customresourcedefinition."),
        ("httproute.wrong.example", "the input has: namespace"),
    ],
)
def test_an_unknown_type_is_refused(words: str, hint: str) -> None:
    """With the nearest types, or all that there are."""
    with pytest.raises(UsageError) as error:
        find(WORLD, words, "shop", "default")
    assert error.value.message == f'there is no resource type "{words}" in the input'
    assert error.value.hint.startswith(hint)
    assert error.value.exit_code == 2


def test_an_ambiguous_name_is_refused() -> None:
    """Where objects of two kinds have it; one of them alone is meant."""
    with pytest.raises(UsageError) as error:
        find(WORLD, "odd", "x", "default")
    assert (error.value.message, error.value.hint) == (
        '"odd" names several kinds',
        "say which one: odd.a.example/x, odd.b.example/x",
    )
    assert find(WORLD, "odd", "y", "default") == ref("Odd", "y", group="b.example")


@pytest.mark.parametrize(
    ("kind", "name", "home", "message", "hint"),
    [
        ("httproute", "shop", "near", " in namespace near", "it exists in namespace default, far: add -n default"),
        ("gateway", "edgy", "default", " in namespace default", "did you mean edge?"),
        ("gateway", "zzz", "default", " in namespace default", "there are: default/edge"),
        ("gatewayclass", "zzz", "default", "", "the input has no gatewayclass at all"),
    ],
)
def test_what_is_not_there_is_not_found(kind: str, name: str, home: str, message: str, hint: str) -> None:
    """With the way to it, as far as there is one."""
    with pytest.raises(NotFoundError) as error:
        find(WORLD, kind, name, home)
    assert (error.value.message, error.value.hint) == (f'{kind} "{name}" not found{message}', hint)
    assert error.value.exit_code == 3


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("httproute", ref("HTTPRoute", "shop")),
        ("HTTPRoutes", ref("HTTPRoute", "shop")),
        ("httproute.gateway.networking.k8s.io", ref("HTTPRoute", "shop")),
        ("httproutes.v1.gateway.networking.k8s.io", ref("HTTPRoute", "shop")),
        ("ns", ref("Namespace", "shop", "", "")),
    ],
)
def test_a_type_has_many_names(words: str, expected: ObjectRef) -> None:
    """As for kubectl: kind, plural, short name, with group, with version and group."""
    world = index(route("shop"), namespace("shop"))
    assert find(world, words, "shop", "default") == expected


def test_kinds_with_objects_come_first() -> None:
    """Then by group and kind; a kind of which nothing is known has its own name and a regular plural."""
    assert [kind.group for kind in kinds_named(WORLD, "odds")] == ["a.example", "b.example"]
    assert kinds_named(WORLD, "lset")[0].kind == "ListenerSet"
    assert kinds_named(index(resource("XListenerSet", "x", {}, group="gateway.networking.x-k8s.io")), "lset")[
        0
    ].kind == ("XListenerSet")


@pytest.mark.parametrize(
    ("singular", "expected"),
    [
        ("gateway", "gateways"),
        ("policy", "policies"),
        ("gatewayclass", "gatewayclasses"),
        ("box", "boxes"),
        ("switch", "switches"),
        ("mesh", "meshes"),
        ("y", "ys"),
    ],
)
def test_the_plural_is_that_of_the_code_generators(singular: str, expected: str) -> None:
    """Which is not always English."""
    assert plural(singular) == expected
