"""Outlines of objects: the rules of Gateway API hold for all objects with one outline, or for none."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import GroupKind, Json
from kubectl_policy.model.fields import strings_at
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.validation.admission import escaped, on_creation, rule_tree, seen_by_rules
from kubectl_policy.validation.expressions import Evaluator
from kubectl_policy.validation.outlines import outline, words_in
from kubectl_policy.validation.quick import quick_check
from kubectl_policy.validation.standard import combined_rule, definitions, standard_schema
from tests import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEPT: Final = frozenset({"local"})
VALUES: Final = ("/{}", "{}", "/{}//x", "/{}/..", "/{}/./a", "/%2f{}", "/{}%2F", "/{}?")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("/cart", "/pay", True),
        ({"a": "x.example", "b": "x"}, {"a": "y.example", "b": "y"}, True),
        ({"a": "x", "b": "x"}, {"a": "x", "b": "y"}, False),
        ({"a": "x"}, {"b": "x"}, False),
        (["x", "y"], ["y", "x"], True),
        (["x", "y"], ["x"], False),
        ("Exact", "Prefix", False),
        ("10s", "20s", False),
        ("local", "other", False),
        ("/a%2f", "/a%5c", False),
        ("/%aa", "/%bb", False),
        ("1h30m", "1h30s", False),
        ("edge-1", "edge-2", True),
        ("edge-1", "edge", False),
        ("edge-A", "edge-B", False),
        ("http://a", "ftp://a", False),
        ("a" * 63, "b" * 7, True),
        ("a" * 64, "b" * 64, False),
        (["a\nb", "c"], ["a", "b\nc"], False),
        ({"a": 1}, ["a", 1], False),
        ({}, [], False),
        ({}, [None], False),
        (["x"], [["x"]], False),
        ("", "a", False),
        (1, True, False),
        (80, 81, False),
        (None, None, True),
    ],
)
def test_values_alike(one: Json, other: Json, *, alike: bool) -> None:
    assert (outline(one, KEPT) == outline(other, KEPT)) is alike


def test_words_of_rules() -> None:
    """Those in literals alone, whatever their quotes are."""
    assert words_in("self.name != 'x-local' && self.kind in [\"service\", 'Pod']") == {"x-local", "service"}


def texts_in(schema: Json) -> Iterator[Mapping[str, Json]]:
    """The parts of a schema that are about texts."""
    if isinstance(schema, dict):
        if schema.get("type") == "string":
            yield schema
        for part in schema.values():
            yield from texts_in(part)


# The words that each part allows, with its check.
PARTS: Final = {
    str(part): (frozenset(strings_at(part, "enum")), quick_check(part))
    for schema in definitions().schemas
    for part in texts_in(schema)
}
# What words stand between in hostnames, paths, names of headers, durations, ...
BETWEEN: Final = st.sampled_from(["", ".", "/", "-", "*.", "_", "A", "7", "Z-", "%2f", "s", "/..", "10.0", " ", "://"])
PLAIN: Final = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True) | st.sampled_from(["http", "https", "h", "s"])
HYPHENATED: Final = st.from_regex(r"[a-z][a-z0-9]{0,2}(-[a-z0-9]{1,3}){1,2}", fullmatch=True)
PAIRS: Final = st.tuples(PLAIN, PLAIN) | st.tuples(HYPHENATED, HYPHENATED)


@given(st.lists(st.tuples(BETWEEN, PAIRS), max_size=4), BETWEEN)
def test_schemas_allow_all_texts_alike_or_none(pieces: list[tuple[str, tuple[str, str]]], end: str) -> None:
    """Every text of every definition, beside the same one with other words."""
    one, other = ("".join(between + words[side] for between, words in pieces) + end for side in (0, 1))
    for about, (words, check) in PARTS.items():
        if outline(one, words) == outline(other, words):
            assert check(one) == check(other), about


def route(parents: list[str], path: str, value: str) -> Json:
    """The spec of an HTTPRoute as an API server would have it."""
    mirror: Json = {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": parents[-1], "port": 80}}}
    rule = build.rule(build.backend(), matches=[{"path": {"type": path, "value": value}}], filters=[mirror])
    parent_refs: list[Json] = [{"name": name} for name in parents]
    spec: dict[str, Json] = {"parentRefs": parent_refs, "hostnames": [f"{parents[0]}.example.com"], "rules": [rule]}
    resource = build.resource("HTTPRoute", "r", spec)
    return build.index(resource).defaulted(resource.ref)["spec"]


def test_outlines_need_no_metadata() -> None:
    """No definition says anything of metadata, or has a status."""
    for number, schema in enumerate(definitions().schemas):
        tree = rule_tree(schema, schema)
        combined = combined_rule(tree, on_creation, escaped) if tree else ""
        assert "metadata" not in combined, number
        assert {name: schema["properties"].get(name) for name in ("metadata", "status")} == {
            "metadata": {"type": "object"},
            "status": None,
        }


def test_rules_hold_for_all_objects_alike_or_for_none() -> None:
    """Routes with values that some rules refuse, each beside one with other words."""
    schema = standard_schema(GroupKind(GATEWAY_API, "HTTPRoute"), "v1")
    assert schema is not None
    assert "metadata" not in schema.combined
    evaluator, holding = Evaluator(), dict[object, bool]()
    names = [["public"], ["inner"], ["public", "edge-2"], ["inner", "inner"], ["edge", "edge"]]
    paths = [(kind, value) for kind in ("Exact", "RegularExpression") for value in VALUES]
    for parents, (kind, value), word in product(names, paths, ("cart", "a1")):
        spec = {"spec": route(parents, kind, value.format(word))}
        holds = evaluator.holds(schema.combined, seen_by_rules(spec, schema.schema, embedded=True))
        assert holding.setdefault(outline(spec, schema.words), holds) is holds
    assert {*holding.values()} == {True, False}
    assert len(holding) <= len(names) * len(paths)
