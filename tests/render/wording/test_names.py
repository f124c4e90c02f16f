"""Counts, lists, objects and values in words."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Gap, GroupKind, Json, Origin, Permission
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.model.kinds import listed
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.render.wording import names as words
from kubectl_policy.render.wording.blind_spots import remedy_phrase, unread_hedge
from kubectl_policy.render.wording.names import at_origin
from kubectl_policy.resolution import Source
from kubectl_policy.topology.references import section_words
from tests import build
from tests.build import node, ref


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "policy", "0 policies"),
        (1, "policy", "1 policy"),
        (2, "RetryPolicy", "2 RetryPolicies"),
        (2, "Gateway", "2 Gateways"),
        (2, "GatewayClass", "2 GatewayClasses"),
    ],
)
def test_nouns_are_counted(number: int, noun: str, expected: str) -> None:
    assert words.count(number, noun) == expected


@pytest.mark.parametrize(
    ("names_", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_listed(names_: list[str], expected: str) -> None:
    assert listed(names_) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b and 2 more"), ("abcdefg", "a, b and 5 more")],
)
def test_of_many_words_the_first_ones_are_listed(letters: str, expected: str) -> None:
    assert listed([*letters], 3) == expected


@pytest.mark.parametrize(
    ("number", "total", "expected"),
    [(1, 1, "its only path"), (2, 2, "both of its paths"), (4, 4, "all 4 of its paths"), (1, 4, "1 of its 4 paths")],
)
def test_paths_are_counted_out_of_all(number: int, total: int, expected: str) -> None:
    assert words.of_all(number, total) == expected


@pytest.mark.parametrize(
    ("kind", "section", "expected"),
    [
        ("Gateway", "https", "listener https"),
        ("XListenerSet", "https", "listener https"),
        ("HTTPRoute", "api", "rule api"),
        ("HTTPRoute", "rule[2]", "rule[2]"),
        ("Service", "8080", "port 8080"),
        ("Widget", "part", "section part"),
    ],
)
def test_sections_are_called_what_they_are(kind: str, section: str, expected: str) -> None:
    """Listeners, rules and ports; anything else is a section."""
    group = {"Service": "", "XListenerSet": GATEWAY_API_EXPERIMENTAL}.get(kind, GATEWAY_API)
    assert section_words(node(kind, "x", section, group=group)) == expected


def test_a_kind_of_the_same_name_in_another_group_is_another_kind() -> None:
    """Knative has a Service without ports of its own."""
    assert section_words(node("Service", "x", "8080", group="serving.knative.dev")) == "section 8080"


def test_a_node_is_its_object_and_section() -> None:
    assert words.node_label(node("Gateway", "edge", "https", "infra")) == "Gateway infra/edge, listener https"
    assert words.node_label(node("GatewayClass", "public")) == "GatewayClass public"


def test_the_most_frequent_kind_comes_first() -> None:
    kinds = [
        GroupKind("", "Service"),
        GroupKind("x", "HTTPRoute"),
        GroupKind("", "Service"),
        GroupKind("x", "GRPCRoute"),
    ]
    assert words.kind_counts(kinds) == "2 Services, 1 GRPCRoute, 1 HTTPRoute"


def test_a_source_is_a_policy_on_its_target() -> None:
    target = node("HTTPRoute", "r")
    assert (
        words.source_phrase(Source(ref("ColorPolicy", "p", group="x"), target))
        == "ColorPolicy default/p → HTTPRoute default/r"
    )
    assert words.source_phrase(Source(target.object, target)) == "HTTPRoute default/r itself"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10s", "10s"),
        ("", '""'),
        (" padded", '" padded"'),
        ("5", '"5"'),
        ("-1.5", '"-1.5"'),
        ("true", '"true"'),
        ("[x", '"[x"'),
        (5, "5"),
        (None, "null"),
        (["5xx", 1], '["5xx", 1]'),
        ({"a": {"b": True}}, '{"a": {"b": true}}'),
    ],
)
def test_a_value_is_written_in_one_line(value: Json, expected: str) -> None:
    """Text bare unless it could be taken for something else; the rest as JSON."""
    assert words.flow(value) == expected


def test_what_is_in_no_file_has_no_place() -> None:
    """The name of a context says nothing that the reader did not ask for."""
    assert at_origin(None, " ({})") == ""
    assert at_origin(Origin("production"), " ({})") == ""


def test_a_file_and_a_line() -> None:
    assert at_origin(Origin("a.yaml", 3)) == "a.yaml:3"
    assert at_origin(Origin("a.yaml", 3), " ({})") == " (a.yaml:3)"


FILE = BlindSpot(what="objects of any kind", reason="x", origin=Origin("a.yaml", 1))
OBJECT = BlindSpot(what="Gateway default/g", reason="x")
PATCHED = BlindSpot(what="HTTPRoute default/r", reason="x", origin=Origin("a.yaml", 9), is_there=True)


def gap(kind: str, namespace: str = "", *, forbidden: bool = True, verb: str = "list") -> Gap:
    needs = Permission(verb, f"{kind.lower()}s.io", namespace) if forbidden else None
    return Gap(kind, namespace, "x", group="io", needs=needs)


def hidden(*gaps: Gap) -> BlindSpot:
    return BlindSpot(what="x", reason="x", remedy="ask again", gaps=gaps)


POLICY = BlindSpot(what="ColorPolicy default/p", reason="x", policies=(build.ref("ColorPolicy", "p"),))


@pytest.mark.parametrize(
    ("unseen", "expected"),
    [
        ([], ""),
        ([FILE, FILE], ", as far as could be read: 1 file may hold more"),
        ([FILE, OBJECT], ", as far as could be read: 1 object is not in the input and 1 file may hold more"),
        ([PATCHED], ", as far as could be read: 1 object may be different"),
        ([FILE, PATCHED], ", as far as could be read: 1 file may hold more and 1 object may be different"),
        ([POLICY], "; how 1 policy attaches is not computed"),
        ([hidden(gap("Fee", "a"), gap("Fee", "b"))], ", as far as could be read: Fees are hidden from you"),
        (
            [hidden(gap("Fee")), hidden(gap("Foe")), hidden(gap("Fie", forbidden=False))],
            ", as far as could be read: Fees and Foes are hidden from you and Fies could not be read",
        ),
        ([hidden(*map(gap, "ABCD"))], ", as far as could be read: objects of 4 kinds are hidden from you"),
    ],
)
def test_what_could_not_be_seen_is_counted(unseen: list[BlindSpot], expected: str) -> None:
    """Files, objects that are not there, and those that may not be as they were read."""
    assert unread_hedge(unseen) == expected


@pytest.mark.parametrize(
    ("spot", "expected"),
    [
        (OBJECT, "To do: add the manifest that contains it"),
        (hidden(gap("Fee", forbidden=False)), "To do: ask again"),
        (hidden(gap("Fee", "a")), "Needs: list fees.io in namespace a"),
        (hidden(gap("Fee", "a"), gap("Fee", "b")), "Needs: list fees.io in namespaces a and b"),
        (hidden(gap("Fee", "a"), gap("Fee")), "Needs: list fees.io in all namespaces"),
        (
            hidden(gap("Fee", "a"), gap("Foe", verb="get")),
            "Needs: list fees.io in namespace a and get foes.io in all namespaces",
        ),
    ],
)
def test_what_to_do_is_a_permission_where_that_is_missing(spot: BlindSpot, expected: str) -> None:
    assert remedy_phrase(spot) == expected
