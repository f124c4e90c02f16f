"""Rules in CEL that an object breaks, in the words of an API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.validation.findings import UNITS, Budget, unchecked
from kubectl_policy.validation.schema import structural_findings
from tests.validation.things import doubts, problems, problems_of, refusals

if TYPE_CHECKING:
    from kubectl_policy.model import Json

INTEGER: Final[Json] = {"type": "integer"}
STRING: Final[dict[str, Json]] = {"type": "string"}
NULLABLE: Final[Json] = {"type": "object", "properties": {"a": {"type": "integer", "nullable": True}}}
TIME: Final[Json] = {"type": "string", "format": "date-time"}
STRINGS: Final[Json] = {"type": "array", "items": STRING}


def ruled(rule: Json, *, of: Json = None, **about: Json) -> dict[str, Json]:
    """A schema (of an object with integers `a` and `b` unless given) with one rule."""
    schema: Json = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}} if of is None else of
    assert isinstance(schema, dict)
    return {**schema, "x-kubernetes-validations": [{"rule": rule, **about}]}


@pytest.mark.parametrize(
    ("schema", "spec", "expected"),
    [
        (ruled("self.a > 1", message="a must be big"), {"a": 1}, "spec: Invalid value: a must be big"),
        (ruled(" self.a > 1 "), {"a": 1}, "spec: Invalid value: failed rule: self.a > 1"),
        (ruled("self > 1", of=INTEGER, message="too small"), 1, "spec: Invalid value: 1: too small"),
        (ruled("self != 'x'", of=STRING, message="no x"), "x", 'spec: Invalid value: "x": no x'),
        (ruled("size(self) > 1", of=STRINGS, message="few"), ["x"], "spec: Invalid value: few"),
        (ruled("false", reason="FieldValueForbidden", message="never"), {}, "spec: Forbidden: never"),
        (ruled("false", reason="FieldValueRequired", message="b, too"), {}, "spec: Required value: b, too"),
        (ruled("false", reason="FieldValueDuplicate", of=INTEGER), 1, "spec: Duplicate value: 1"),
        (ruled("false", reason="FieldValueInvalid", message="m"), {}, "spec: Invalid value: m"),
        (ruled("false", fieldPath=".a", message="m"), {}, "spec.a: Invalid value: m"),
        (ruled("false", fieldPath="['a']", message="m"), {}, "spec['a']: Invalid value: m"),
        (
            ruled("false", messageExpression="'a is ' + string(self.a)", message="m"),
            {"a": 3},
            "spec: Invalid value: a is 3",
        ),
        (ruled("false", messageExpression="string(self.a)", message="m"), {}, "spec: Invalid value: m"),
        (ruled("false", messageExpression="self.a", message="m"), {"a": 1}, "spec: Invalid value: m"),
        (ruled("false", messageExpression="' '", message="m"), {}, "spec: Invalid value: m"),
        (ruled("false", messageExpression="'x\\ny'", message="m"), {}, "spec: Invalid value: m"),
        (
            ruled("self.b == 1", message="m"),
            {"a": 1},
            'spec: Invalid value: "object": no such key: b evaluating rule: m',
        ),
    ],
)
def test_a_broken_rule(schema: Json, spec: Json, expected: str) -> None:
    """Its message, the value if it is a single one, and the reason that the rule gives."""
    assert refusals(schema, spec) == [expected]


@pytest.mark.parametrize(
    ("rule", "spec"),
    [
        ("self.a == 1 && !has(self.b)", {"a": 1}),
        ("!has(self.b) || self.b > 100", {"a": 1}),
        ("self.b > 100 || self.a == 1", {"a": 1}),
        ("has(self.a) ? self.a in [1, 2] : true", {"a": 2}),
        ("self.?b.orValue(7) == 7", {}),
        ("'oldSelf' != 'x' && self.a == 1", {"a": 1}),
        ("self.a == oldSelf.a", {"a": 1}),
        ("  ", {"a": 1}),
    ],
)
def test_a_rule_that_is_kept(rule: str, spec: Json) -> None:
    """Also where it does not look at what is absent, or is for changes alone: this is a creation."""
    assert refusals(ruled(rule), spec) == []


def test_a_rule_on_changes_that_may_see_nothing() -> None:
    """Where the old value is optional, it is none."""
    changed = "oldSelf.hasValue() || self.a == 1"
    assert refusals(ruled(changed, optionalOldSelf=True), {"a": 1}) == []
    assert refusals(ruled(changed, optionalOldSelf=True, message="m"), {"a": 2}) == ["spec: Invalid value: m"]
    assert refusals(ruled(changed, message="m"), {"a": 2}) == []


def test_rules_everywhere() -> None:
    """In fields, lists, mappings and `allOf`; not for null, and not for fields that the schema does not have."""
    broken = ruled("false", of={**STRING, "nullable": True}, message="m")
    schema: Json = {
        "type": "object",
        "properties": {
            "a": broken,
            "list": {"type": "array", "items": broken},
            "map": {"type": "object", "additionalProperties": broken},
            "all": {
                "type": "object",
                "properties": {"x": INTEGER, "y": INTEGER},
                "allOf": [
                    ruled("self.x == 1", of={}, message="on all"),
                    {"properties": {"x": ruled("self == 1", of={}, message="on x"), "z": ruled("false", of={})}},
                    {"required": ["y"]},
                ],
            },
            "plain": {"type": "array", "items": STRING},
        },
    }
    spec: Json = {"a": "1", "list": [None, "2"], "map": {"k": "3"}, "all": {"x": 2, "y": 1}, "plain": ["4"]}
    assert refusals(schema, spec) == [
        'spec.a: Invalid value: "1": m',
        'spec.list[1]: Invalid value: "2": m',
        'spec.map[k]: Invalid value: "3": m',
        "spec.all: Invalid value: on all",
        "spec.all.x: Invalid value: 2: on x",
    ]
    assert refusals(schema, {"a": None, "all": None, "list": None}) == []


def test_rules_of_sound_parts_are_checked_whatever_is_wrong_elsewhere() -> None:
    """An API server would check none; a rule on what has a wrong field in it means nothing."""
    schema: Json = {
        **ruled("self.good.a == 7", message="whole"),
        "properties": {
            "good": ruled("self.a == 1", message="good"),
            "bad": {**ruled("self.a == 1", message="bad"), "required": ["b"]},
            "map": {"type": "object", "additionalProperties": ruled("self.a == 1", message="in the map")},
        },
    }
    spec: Json = {"good": {"a": 2}, "bad": {"a": 2}, "map": {"x.y": {"a": "x"}, "z": {"a": 2}}}
    wrong, text, words = "spec.map.x.y.a", '"string"', 'integer: "string"'
    assert [problem.message.partition(": ")[2] for problem in problems(schema, spec)] == [
        "the API server would refuse it: spec.bad.b: Required value",
        f"the API server would refuse it: {wrong}: Invalid value: {text}: {wrong} in body must be of type {words}",
        "spec: its rules were not checked, because of what else is wrong",
        "the API server would refuse it: spec.good: Invalid value: good",
        "the API server would refuse it: spec.map[z]: Invalid value: in the map",
    ]


def test_the_object_itself() -> None:
    """Rules of the whole object see its kind and its name, but no more of what all objects have."""
    schema = ruled("self.kind == 'Thing' && self.metadata.name != 't'", of={"type": "object"}, message="no t")
    (found,) = problems_of(schema, {})
    assert (found.field, found.message) == ("", "Thing default/t: the API server would refuse it: Invalid value: no t")
    embedded: Json = {"type": "object", "x-kubernetes-embedded-resource": True}
    inner: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    assert refusals(ruled("self.metadata.name == 'p'", of=embedded), inner) == []


@pytest.mark.parametrize(
    ("schema", "spec"),
    [
        ({"__namespace__": INTEGER}, {"__namespace__": 1}),
        ({"namespace": INTEGER}, {"namespace": 1}),
    ],
)
def test_names_that_rules_cannot_call(schema: Json, spec: Json) -> None:
    """Are escaped, so that each field has its own."""
    assert isinstance(spec, dict)
    name = {"__namespace__": "__underscores__namespace__underscores__", "namespace": "__namespace__"}[next(iter(spec))]
    of: Json = {"type": "object", "properties": schema}
    assert refusals(ruled(f"self.{name} == 1", of=of), spec) == []


def test_names_with_signs() -> None:
    """Dots, dashes and slashes, too; keys of mappings are as they are."""
    fields: Json = {"a.b-c/d": INTEGER}
    rule = "self.a__dot__b__dash__c__slash__d == 1"
    assert refusals(ruled(rule, of={"type": "object", "properties": fields}), {"a.b-c/d": 1}) == []
    keys: Json = {"type": "object", "additionalProperties": INTEGER}
    assert refusals(ruled("self['a.b'] == 1 && 'in' in self", of=keys), {"a.b": 1, "in": 2}) == []


@pytest.mark.parametrize(
    ("of", "value", "rule"),
    [
        ({"type": "number"}, 1, "type(self) == double && self / 2.0 == 0.5"),
        ({"type": "number"}, 1.5, "self == 1.5"),
        (INTEGER, 1, "type(self) == int"),
        ({"type": "boolean"}, True, "self"),
        ({"x-kubernetes-int-or-string": True}, 80, "type(self) == int"),
        ({"x-kubernetes-int-or-string": True}, "80", "type(self) == string"),
        ({"type": "string", "format": "byte"}, "aGk=", "self == b'hi'"),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": [{"b": None}]}, "has(self.a[0].b)"),
        (NULLABLE, {"a": None}, "!has(self.a)"),
        (STRING, "é", "size(self) == 1"),
        (STRING, "ABC", "self.lowerAscii() == 'abc' && self.split('B') == ['A', 'C']"),
        (STRINGS, ["a", "b"], "self.all(x, x in ['a', 'b']) && self.exists_one(x, x == 'a')"),
        (STRINGS, ["a"], "self.map(x, x + 'b').filter(x, x.startsWith('ab')).size() == 1"),
        (STRINGS, ["1.2.3.4", "fe80::1"], "self.all(x, isIP(x))"),
        (STRINGS, ["1.2.3.04", "fe80::1%eth0", "::ffff:1.2.3.4", "a.b"], "self.all(x, !isIP(x))"),
        (STRING, "10s", "duration(self) < duration('1m')"),
        (STRING, "a1", "self.matches('^[a-z][0-9]$')"),
    ],
)
def test_values_have_the_types_of_the_schema(of: Json, value: Json, rule: str) -> None:
    """As the rules were written for them."""
    assert refusals(ruled(rule, of=of), value) == []


UNCHECKED: Final = "spec: whether it keeps the rule "


@pytest.mark.parametrize(
    ("schema", "spec", "why"),
    [
        (ruled("isURL(self)", of=STRING), "x", "not checked: undeclared reference to 'isURL'"),
        (ruled("self."), {}, "Syntax error"),
        (ruled("self.a"), {"a": 1}, "it is neither true nor false"),
        (ruled("self.a + 1"), {"a": 1}, "it is neither true nor false"),
        (ruled("self.a / 0 == 1"), {"a": 1}, "divide by zero"),
        (ruled("self < timestamp('2026-01-01T00:00:00Z')", of=TIME), "2026-01-01T00:00:00Z", "CEL cannot"),
        (ruled("self == 1.0", of={"type": "number"}), 2**64, "CEL cannot"),
        (ruled("self == b''", of={"type": "string", "format": "byte"}), "\\" * 4, "CEL cannot"),
        (ruled("self == 'x'", of=STRING), "\ud800", "null"),
        (ruled("self == '\ud800'", of=STRING), "", "compile"),
    ],
)
def test_a_rule_of_which_nobody_knows(schema: Json, spec: Json, why: str) -> None:
    """It is said to be unchecked: never an exception, and never a refusal."""
    found = problems(schema, spec)
    unsure = [problem.message for problem in found if problem.rule == "schema-unchecked"]
    assert len(unsure) == 1
    assert UNCHECKED in unsure[0]
    assert why in unsure[0]


HOSTILE: Final[list[tuple[Json, Json]]] = [
    (ruled("self.all(a, self.all(b, self.all(c, a == b || b == c || true)))", of=STRINGS), ["x" * 50] * 5000),
    (ruled("self.all(a, " + " && ".join(["self == self"] * 60) + ")", of=STRINGS), ["x"] * 5000),
    (ruled("[self]" + ".map(a, a + a)" * 30 + ".size() == 0", of=STRINGS), ["x"]),
    (ruled("self" + " + self" * 60 + " == self", of=STRINGS), ["x"]),
    (ruled("[self]" + ".map(a, [a, a, a, a, a, a])" * 9 + " == [self]", of=STRINGS), ["x"]),
    (ruled("self.replace('', self).replace('', self).replace('', self) == ''", of=STRING), "x"),
    (ruled("self.replace('', self).replace('', self) == ''", of=STRING), "x" * 5000),
    (ruled("self.split('').all(a, self.split('').all(b, a == b))", of=STRING), "x" * 50000),
    (ruled("self.matches('" + "(a?){1000}" * 10 + "$')", of=STRING), "ab" * 50000),
    (ruled("true " + "|| true" * 2000, of=STRING), "x"),
    (ruled("(" * 3000 + "true" + ")" * 3000, of=STRING), "x"),
    (ruled("self" + ".a" * 3000 + " == 1", of=STRING), "x"),
    ({"type": "array", "items": {"type": "string", "pattern": "(a?){1000}" * 10}}, ["ab" * 50000]),
]


@pytest.mark.parametrize(("schema", "spec"), HOSTILE)
def test_a_rule_that_would_run_on(schema: Json, spec: Json) -> None:
    """It is not begun, as nothing could stop it."""
    assert doubts(schema, spec) != []


def test_what_repeats_in_a_pattern_takes_no_time() -> None:
    """A regular expression is no program."""
    slow: Json = {"type": "array", "items": {"type": "string", "pattern": "^(a|aa|a?)+$"}}
    assert refusals(slow, ["a" * 5000]) == []


def test_a_schema_that_would_run_on() -> None:
    """Alternatives multiply, so each is paid for."""
    schema: Json = {"items": {"anyOf": [{"type": "string"}] * 100}}
    assert isinstance(schema, dict)
    found = structural_findings([1] * 100, schema, "spec", Budget(20_000))
    assert found[-1] == unchecked("spec[99]", "there is too much to check")


def test_a_budget_runs_out() -> None:
    """What cannot be afforded costs nothing, and what was done is paid for as far as possible."""
    budget = Budget(10)
    assert not budget.afford(11)
    assert budget.afford(4)
    budget.spend(100)
    assert (budget.left, Budget().left) == (0, UNITS)


def test_too_many_problems_are_counted() -> None:
    """Whoever breaks a rule a thousand times has been told after a hundred."""
    found = problems({"type": "array", "items": ruled("false", of=STRING)}, ["x"] * 1000)
    assert len(found) == 101
    assert found[-1].message == "Thing default/t: 900 more problems are not listed"


def test_a_doubt_is_told_once() -> None:
    """Of the first field that it is about."""
    assert len(doubts({"type": "array", "items": ruled("isURL(self)", of=STRING)}, ["x"] * 10)) == 1
