"""Names that nobody can know yet."""

from __future__ import annotations

import pytest

from kubectl_policy import GroupKind, ObjectRef
from kubectl_policy.model import Json
from kubectl_policy.model.body import text_of
from kubectl_policy.model.unknown import (
    is_unfilled,
    is_unknown,
    is_unknown_kind,
    may_be,
    may_be_label,
    may_be_port,
    may_be_section,
    may_be_unfilled,
    may_equal,
    may_have_open_names,
    port_at,
    unknown_namespace,
)

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
    assert is_unknown(name)
    assert may_equal(name, "anything")
    assert may_equal("anything", name)


def test_two_known_names_are_equal_or_not() -> None:
    assert may_equal("a", "a")
    assert not may_equal("a", "b")


def test_equal_placeholders_are_equal_and_others_may_be() -> None:
    """The same variable has the same value; of two, nobody knows."""
    assert may_equal("${X}", "${X}")
    assert may_equal("${X}", "${Y}")
    assert may_equal("${X}-a", "b-${Y}")
    assert may_equal("CHANGE_ME", "${X}-a")
    assert may_equal("${X}-a-${Y}", "${X}-a-${Z}")


def test_what_is_known_of_two_can_differ() -> None:
    assert not may_equal("${X}-a", "${Y}-b")
    assert not may_equal("a-${X}", "b-${Y}")
    assert not may_equal("${X}", "${X}-a")
    assert not may_equal("a-${X}", "${X}")
    assert not may_equal("${X}-${Y}-a", "${X}-${Y}")


def test_what_stands_around_a_placeholder_is_known() -> None:
    """`${X}-web` is no name that ends otherwise."""
    assert may_equal("${X}-web", "shop-web")
    assert not may_equal("${X}-web", "shop-api")
    assert may_equal("shop-${X}.{{ .Y }}", "shop-1.example")
    assert not may_equal("shop-${X}", "web-1")
    assert not may_equal("shop-${X}-${Y}-b", "shop-1-b")
    assert not may_equal("${X}.web.${Y}", "shop.example")
    assert not may_equal("shop-${X}-web", "shop-web")


def test_names_with_many_places_take_no_time() -> None:
    assert not may_equal("${X}" * 200 + "b", "a" * 253)
    assert may_equal("${X}" * 2_000 + "b", "a" * 253)


@pytest.mark.parametrize("text", ["${P}", "{{ .P }}", "CHANGE_ME", "x-<y>", "{X}"])
def test_words_that_are_to_be_filled_in(text: str) -> None:
    """By the same signs; a kind or a group with one is not known, and a port may be any other."""
    assert is_unfilled(text)
    assert is_unknown_kind(GroupKind("", text))
    assert is_unknown_kind(GroupKind(text, "Thing"))
    assert port_at({"port": text}, "port") == text
    assert may_be_port(text, 80)
    assert may_be_port(None, text)


@pytest.mark.parametrize("text", ["", "HTTP", "example.com/x_y", "In", "app_name", "http"])
def test_words_that_are_not(text: str) -> None:
    assert not is_unfilled(text)
    assert not is_unknown_kind(GroupKind(text, "Thing"))
    assert port_at({"port": text}, "port") is None


def test_sections_without_a_name() -> None:
    """They have names of ours, which are known; a placeholder may stand for any section."""
    assert may_be_section("rule[0]", "rule[0]")
    assert may_be_section("${S}", "rule[0]")
    assert may_be_section("${S}", "http")
    assert not may_be_section("rule[0]", "rule[1]")
    assert not may_be_section("rule[0]", "http")


def test_ports_are_numbers() -> None:
    assert port_at({"port": 80}, "port") == 80
    assert may_be_port(80, 80)
    assert not may_be_port(80, 81)
    assert not may_be_port(80, None)


def test_objects_may_be_the_same_if_all_that_is_known_agrees() -> None:
    unknown = ObjectRef(KIND, unknown_namespace("apps/echo"), "echo")
    assert may_be(unknown, ObjectRef(KIND, "media", "echo"))
    assert not may_be(unknown, ObjectRef(KIND, "media", "other"))
    assert not may_be(unknown, ObjectRef(GroupKind("", "Thing"), "media", "echo"))


def test_the_unknown_namespace_of_a_place_is_always_the_same() -> None:
    assert unknown_namespace("apps/echo/") == unknown_namespace("apps/echo")
    assert unknown_namespace("apps/echo") != unknown_namespace("apps")
    assert is_unknown(unknown_namespace(""))


def test_labels_may_be_words_with_underscores() -> None:
    """So only places make one unknown."""
    assert may_be_label("TIER_1", "TIER_1")
    assert may_be_label("${X}_1", "TIER_1")
    assert not may_be_label("TIER_1", "TIER_2")


@pytest.mark.parametrize(
    "text",
    ["{{ .Values.name }}", "${NAME}", "{}", "a-{}", "$(NAME)", "<fill me in>", "ENC[AES256_GCM,data:x]", "FILL_ME_IN"],
)
def test_signs_of_what_is_to_be_filled_in(text: str) -> None:
    """Whatever is unfilled has them; annotations and what API servers note about fields do not count."""
    assert is_unfilled(text)
    assert may_be_unfilled(text_of({"spec": {"any": [text]}}))
    notes: dict[str, Json] = {
        "annotations": {"last-applied": '{"spec":{"name":"a\\"b"},"other":{}}', "b": "c"},
        "managedFields": [{"fieldsV1": {"f:spec": {'k:{"name":"http"}': {".": {}, "f:name": {}}}}}],
    }
    object_of_server = text_of({"metadata": notes, "spec": {"empty": {}, "list": [{}, {}], "name": "x"}})
    assert not may_have_open_names(object_of_server)


@pytest.mark.parametrize("field", ["name", "namespace", "group", "kind", "sectionName"])
@pytest.mark.parametrize("name", ["NAME", "a_b", "a/b", "-a", "a.", "?apps", "a b", "é", "A1"])
def test_signs_of_names_that_are_to_be_filled_in(field: str, name: str) -> None:
    """Whatever is an unknown name has them, in every field that names something."""
    assert is_unknown(name)
    assert may_have_open_names(text_of({"spec": {field: name}}))


@pytest.mark.parametrize("name", ["a", "a-b.c", "Gateway", "HTTPRoute", "gateway.networking.k8s.io", "", "1"])
def test_names_that_are_known_have_no_signs(name: str) -> None:
    """So that most objects are not decoded."""
    assert not may_have_open_names(text_of({"spec": {"name": name, "port": 80, "hostnames": ["*.example.com"]}}))
    assert not is_unknown(name)


def test_signs_of_ports_and_hostnames_that_are_to_be_filled_in() -> None:
    """A port is a number, and a hostname has few signs."""
    assert may_have_open_names(text_of({"spec": {"port": "PORT"}}))
    assert may_have_open_names(text_of({"spec": {"hostnames": ["a.example.com", "$HOST.example.com"]}}))
