"""Rules in CEL that an object breaks, in the words of an API server."""

from __future__ import annotations

import marshal
import os
from io import BytesIO
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.model import FieldPath, Json
from kubectl_policy.validation.expressions import Evaluator, Seen, serve
from kubectl_policy.validation.schema import SchemaCheck, unchecked
from tests.validation.build import EVALUATOR, doubts, problems, problems_of, refusals

if TYPE_CHECKING:
    from collections.abc import Callable

INTEGER: Final[Json] = {"type": "integer"}
STRING: Final[dict[str, Json]] = {"type": "string"}
NULLABLE: Final[Json] = {"type": "object", "properties": {"a": {"type": "integer", "nullable": True}}}
TIME: Final[Json] = {"type": "string", "format": "date-time"}
STRINGS: Final[dict[str, Json]] = {"type": "array", "items": STRING}


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
        (ruled("false", fieldPath="['a']", message="m"), {}, "spec.a: Invalid value: m"),
        (ruled("false", fieldPath="a]", message="m"), {}, "spec: Invalid value: m"),
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
    assert refusals(ruled(rule), spec) == []


def test_a_rule_on_changes_that_may_see_nothing() -> None:
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
    wrong, text, demand = "spec.map.x.y.a", '"string"', 'integer: "string"'
    assert [problem.message.partition(": ")[2] for problem in problems(schema, spec)] == [
        "the API server would refuse it: spec.bad.b: Required value",
        f"the API server would refuse it: {wrong}: Invalid value: {text}: {wrong} in body must be of type {demand}",
        "spec: its rules were not checked, because of what else is wrong",
        "the API server would refuse it: spec.good: Invalid value: good",
        "the API server would refuse it: spec.map[z]: Invalid value: in the map",
    ]


def test_the_object_itself() -> None:
    """Rules of the whole object see its kind and its name, but no more of what all objects have."""
    schema = ruled("self.kind == 'Thing' && self.metadata.name != 't'", of={"type": "object"}, message="no t")
    (problem,) = problems_of(schema, {})
    assert (problem.field, problem.message) == (
        "",
        "Thing default/t: the API server would refuse it: Invalid value: no t",
    )
    embedded: Json = {"type": "object", "x-kubernetes-embedded-resource": True}
    inner: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    assert refusals(ruled("self.metadata.name == 'p'", of=embedded), inner) == []


@pytest.mark.parametrize(
    ("schema", "spec"), [({"__namespace__": INTEGER}, {"__namespace__": 1}), ({"namespace": INTEGER}, {"namespace": 1})]
)
def test_names_that_rules_cannot_call(schema: Json, spec: Json) -> None:
    """Are escaped, so that each field has its own."""
    assert isinstance(spec, dict)
    name = {"__namespace__": "__underscores__namespace__underscores__", "namespace": "__namespace__"}[next(iter(spec))]
    of: Json = {"type": "object", "properties": schema}
    assert refusals(ruled(f"self.{name} == 1", of=of), spec) == []


@pytest.mark.parametrize(("spec", "expected"), [({"forEach": "x", "var": "y"}, True), ({"forEach": "x"}, False)])
@pytest.mark.parametrize("name", ["var", "__var__"])
def test_a_field_with_the_name_of_a_keyword(name: str, spec: Json, expected: bool) -> None:  # noqa: FBT001
    """Rules call it by the keyword as well (Kubernetes 1.31); a key of a mapping has one name."""
    fields: Json = {"forEach": STRING, "var": STRING}
    rule = ruled(f"!has(self.forEach) || has(self.{name})", of={"type": "object", "properties": fields})
    assert (refusals(rule, spec) == []) is expected
    keys: Json = {"type": "object", "additionalProperties": STRING}
    assert refusals(ruled("self.namespace == 'x' && size(self) == 1", of=keys), {"namespace": "x"}) == []


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
    assert refusals(ruled(rule, of=of), value) == []


UNCHECKED: Final = "spec: whether it satisfies the rule "


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
    unsure = [problem.message for problem in problems(schema, spec) if problem.rule == "schema-unchecked"]
    assert len(unsure) == 1
    assert UNCHECKED in unsure[0]
    assert why in unsure[0]


PATTERN: Final = "(a?){1000}" * 10


@pytest.mark.parametrize(
    ("schema", "spec", "why"),
    [
        (ruled("self.all(a, self.all(b, a == b || true))", of=STRINGS), ["x"] * 5000, "Iteration budget exceeded"),
        (ruled("self.all(a, " + " && ".join(["self == self"] * 60) + ")", of=STRINGS), ["x"] * 5000, "too long"),
        (ruled("self.replace('', self).replace('', self).replace('', self) == ''", of=STRING), "x" * 5000, "too long"),
        (ruled(f"self.matches('{PATTERN}$')", of=STRING), "ab" * 50000, "too long"),
        (ruled("true " + "|| true" * 2000, of=STRING), "x", "too long"),
        (ruled("(" * 3000 + "true" + ")" * 3000, of=STRING), "x", "recursion"),
        (ruled("self" + ".a" * 3000 + " == 1", of=STRING), "x", "recursion"),
    ],
)
def test_a_rule_that_would_run_on(schema: Json, spec: Json, why: str) -> None:
    (problem,) = doubts(schema, spec, Evaluator(0.1))
    assert why in problem


@pytest.mark.parametrize(
    ("schema", "spec"),
    [
        (ruled("[self]" + ".map(a, a + a)" * 12 + ".size() == 1", of=STRINGS), ["x"]),
        (ruled("self" + " + self" * 20 + " != self", of=STRINGS), ["x"]),
        (ruled("[self]" + ".map(a, [a, a, a, a, a, a])" * 5 + " != [self]", of=STRINGS), ["x"]),
        (ruled("self.replace('', self).replace('', self).replace('', self) != ''", of=STRING), "x"),
        ({"type": "array", "items": {"type": "string", "pattern": PATTERN}}, ["ab" * 5000]),
    ],
)
def test_a_rule_that_only_looks_long(schema: Json, spec: Json) -> None:
    assert refusals(schema, spec) == []


def test_a_rule_that_takes_too_long_is_not_tried_again() -> None:
    evaluator = Evaluator(0.2)
    slow = "self.all(a, " + " && ".join(["self == self"] * 60) + ")"
    rules: Json = [{"rule": slow, "message": "slow"}, {"rule": "false", "message": "quick"}]
    schema: Json = {**STRINGS, "x-kubernetes-validations": rules}
    values: Json = ["x"] * 5000
    assert len(doubts(schema, values, evaluator)) == 2
    unchecked_all = "its rules were not checked: those before took too long"
    assert doubts(schema, values, evaluator) == [unchecked_all]
    assert doubts({"type": "object", "properties": {"a": {**STRING, "pattern": "a"}}}, {"a": "a"}, evaluator) == [
        "spec.a: whether it matches its pattern was not checked"
    ]


def test_one_slow_rule_leaves_the_others() -> None:
    evaluator = Evaluator(longest=0.1)
    slow = "self.all(a, " + " && ".join(["self == self"] * 60) + ")"
    value: Seen = ["x" for _ in range(5000)]
    results = evaluator.evaluate(["1 == 1", slow, "1 == 2", "x" * 20_000], value)
    assert [result.value for result in results] == [True, None, False, None]
    assert [result.problem for result in results] == ["", "it would take too long", "", "it would take too long"]
    assert evaluator.evaluate([slow], ["x"])[0].problem == "it would take too long"
    assert not evaluator.obstacle


def served(*asked: tuple[list[str], Seen]) -> list[tuple[bool | str | None, str, float]]:
    """What the process that evaluates answers to requests: expressions, each with a value."""
    requests, results = BytesIO(), BytesIO()
    for expressions, value in asked:
        marshal.dump((expressions, {"self": value}, 60.0), requests)
    requests.seek(0)
    serve(requests, results)
    results.seek(0)
    return [marshal.load(results) for expressions, _ in asked for _ in expressions]  # noqa: S302 (our own words)


def test_what_the_process_answers() -> None:
    answers = served((["self == 1", "self"], 1), (["self + 'b'"], "a"), (["["], None), (["self == 1"], ...))
    assert [answer[0] for answer in answers] == [True, None, "ab", None, None]
    assert [bool(answer[1]) for answer in answers] == [False, False, False, True, True]
    assert answers[-1][1] == "it is about a value that CEL cannot be given"
    assert all(0 <= answer[2] < 60 for answer in answers)


def test_what_the_library_refuses_is_answered() -> None:
    loops: Seen = ["x" for _ in range(500)]
    answers = served((["self == 'x'"], "\ud800"), (["self.all(a, self.all(b, true))"], loops), (["self.a"], {}))
    assert [answer[0] for answer in answers] == [None, None, None]
    assert all(answer[1] for answer in answers)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("1.2.3.4", True), ("fe80::1", True), ("fe80::1%eth0", False), ("::ffff:1.2.3.4", False), ("a.b", False)],
)
def test_what_is_an_ip_address(text: str, is_one: bool) -> None:  # noqa: FBT001
    assert served((["isIP(self)"], text))[0][0] is is_one


def test_where_nothing_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    why = "on this platform nothing can stop one that takes too long"
    assert doubts(ruled("self.a == 1"), {"a": 1}, Evaluator()) == [f"its rules were not checked: {why}"]


def test_what_repeats_in_a_pattern_takes_no_time() -> None:
    slow: Json = {"type": "array", "items": {"type": "string", "pattern": "^(a|aa|a?)+$"}}
    assert refusals(slow, ["a" * 5000]) == []


def test_a_schema_that_would_run_on() -> None:
    schema: Json = {"items": {"anyOf": [{"type": "string"}] * 100}}
    assert isinstance(schema, dict)
    reported = SchemaCheck(EVALUATOR, 20).problems([1] * 100, schema, FieldPath(("spec",)))
    assert reported[-1] == unchecked(FieldPath(("spec", 99)), "there is too much to check")


def test_too_many_problems_are_counted() -> None:
    schema: Json = {"type": "array", "items": ruled("false", of=STRING)}
    assert len(problems(schema, ["x"] * 100)) == 100
    reported = problems(schema, ["x"] * 1000)
    assert len(reported) == 101
    assert reported[-1].message == "Thing default/t: 900 more problems are not listed"


def test_a_doubt_is_told_once() -> None:
    assert len(doubts({"type": "array", "items": ruled("isURL(self)", of=STRING)}, ["x"] * 10)) == 1


def test_an_evaluator_goes_on_with_the_process_of_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is in a copy of the process that started it: two may not read the same answers."""
    assert Evaluator().evaluate(["self > 1"], 2)[0].value is True
    copies: list[int] = []

    def counted(fork: Callable[[], int] = os.fork) -> int:
        copies.append(1)
        return fork()

    monkeypatch.setattr(os, "fork", counted)
    assert Evaluator().evaluate(["self > 1"], 0)[0].value is False
    assert copies == []
    own = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: own + 1)
    assert Evaluator().evaluate(["self > 1"], 2)[0].value is True
    assert copies == [1]
