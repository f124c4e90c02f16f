"""Names that nobody can know yet."""

import pytest

from kubectl_policy import GroupKind, ObjectRef
from kubectl_policy.model.unknown import is_unknown, may_be, may_equal, unknown_namespace

KIND = GroupKind("example.io", "Thing")


@pytest.mark.parametrize("name", ["", "a", "a-b.c", "0", "DoesNotExist", "*"])
def test_what_the_api_could_hold_is_known(name: str) -> None:
    """An empty name is none at all, and of some others it is known that no object has them."""
    assert not is_unknown(name)


@pytest.mark.parametrize(
    "name",
    [
        "${NAME}",
        "{{ .Values.name }}",
        "{X}",
        "ENC[AES256,data:x]",
        "<path:kv/x#y>",
        "CHANGE_ME",
        "CHANGE-ME",
        "$(X)",
        "a_b",
    ],
)
def test_what_the_api_could_not_hold_is_unknown(name: str) -> None:
    """Whatever fills it in."""
    assert is_unknown(name)
    assert may_equal(name, "anything")
    assert may_equal("anything", name)


def test_two_known_names_are_equal_or_not() -> None:
    """No doubt is cast on what is plain."""
    assert may_equal("a", "a")
    assert not may_equal("a", "b")


def test_equal_placeholders_are_equal_and_others_may_be() -> None:
    """The same variable has the same value; of two, nobody knows."""
    assert may_equal("${X}", "${X}")
    assert may_equal("${X}", "${Y}")


def test_what_stands_around_a_placeholder_is_known() -> None:
    """`${X}-web` is no name that ends otherwise."""
    assert may_equal("${X}-web", "shop-web")
    assert not may_equal("${X}-web", "shop-api")
    assert may_equal("shop-${X}.{{ .Y }}", "shop-1.example")
    assert not may_equal("shop-${X}", "web-1")


def test_objects_may_be_the_same_if_all_that_is_known_agrees() -> None:
    """Kind, namespace and name."""
    unknown = ObjectRef(KIND, unknown_namespace("apps/echo"), "echo")
    assert may_be(unknown, ObjectRef(KIND, "media", "echo"))
    assert not may_be(unknown, ObjectRef(KIND, "media", "other"))
    assert not may_be(unknown, ObjectRef(GroupKind("", "Thing"), "media", "echo"))


def test_the_unknown_namespace_of_a_place_is_always_the_same() -> None:
    """And another one elsewhere."""
    assert unknown_namespace("apps/echo/") == unknown_namespace("apps/echo")
    assert unknown_namespace("apps/echo") != unknown_namespace("apps")
    assert is_unknown(unknown_namespace(""))
