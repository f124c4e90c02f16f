"""What types of fields allow in files, and what a profile cannot mean although the schema allows it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import Meta, Struct

from kubectl_policy.model import Origin
from kubectl_policy.model.snapshot import Problem
from kubectl_policy.profiles.contradictions import BY_LEVELS, contradictions
from kubectl_policy.profiles.load import ProfileFile, profiles_in
from kubectl_policy.profiles.reading import problems, shown, text_like
from tests.profiles import reference
from tests.profiles.everything import DOCUMENT, FIELDS, policy_by_policy

SCHEMA: Final = reference.json_schema()
LIBRARY: Any = Draft202012Validator(SCHEMA)


class Having(Struct):
    b: str = ""


class Needing(Struct):
    b: str


def verdict(value: Any) -> list[Problem]:  # noqa: ANN401 (anything that a file can hold)
    return list(problems(value, ProfileFile))


@pytest.mark.parametrize(
    ("value", "wanted", "message"),
    [
        (None, Mapping[str, str], "must be a mapping, not empty"),
        (True, str, "must be text, not true"),
        (1.5, tuple[str, ...], "must be a list, not 1.5"),
        ("x" * 99, bool, f"must be true or false, not '{'x' * 59}…"),
        ("", Annotated[str, Meta(min_length=1)], "must not be empty"),
        ("a", Annotated[str, Meta(min_length=8)], "must have at least 8 characters"),
        ([], Annotated[tuple[str, ...], Meta(min_length=1)], "must not be empty"),
        ({}, Annotated[Mapping[str, str], Meta(min_length=1)], "must not be empty"),
        (True, Literal["True", "False"], 'true is not allowed; use one of True, False, in quotes: "True"'),
        ("both", Literal["direct", "inherited"], "'both' is not allowed; use one of direct, inherited"),
        ("b", Annotated[str, text_like("^a$", "It begins with a.")], "'b' does not fit. It begins with a."),
        ({"a": 1}, Having, "there is no such field; known fields: b"),
        ({"a": ""}, Mapping[Literal["b"], str], "there is no such field; known fields: b"),
        ({}, Needing, "the field b is missing"),
    ],
)
def test_what_is_not_allowed_is_said_in_words(value: Any, wanted: Any, message: str) -> None:  # noqa: ANN401
    assert next(problems(value, wanted)).message == message


def test_a_problem_has_its_place() -> None:
    """Each in the order of the file, a missing field after what is there."""
    document = {"kinds": {"A": {"class": "odd", "Strategyfield": "x", "declaredTargets": [{"group": 1}]}}}
    assert [(problem.field.steps, problem.message) for problem in verdict(document)] == [
        (("kinds", "A", "class"), "'odd' is not allowed; use one of direct, inherited"),
        (("kinds", "A", "Strategyfield"), "there is no such field; did you mean strategyField?"),
        (("kinds", "A", "declaredTargets", 0, "group"), "must be text, not 1"),
        (("kinds", "A", "declaredTargets", 0), "the field kind is missing"),
        (("kinds", "A"), "the field evidence is missing"),
        ((), "the field group is missing"),
    ]


def test_a_value_is_quoted_in_one_line() -> None:
    values: list[Any] = [None, False, 3, "a\nb", {"a": [1]}]
    assert [shown(value) for value in values] == ["empty", "false", "3", "'a\\nb'", '{"a": [1]}']


def test_a_whole_number_has_a_minimum() -> None:
    """A boolean is no number, although it is one to Python."""
    values: list[Any] = [0, 1, True, 1.0, "1"]
    assert [[problem.message for problem in problems(value, Annotated[int, Meta(ge=1)])] for value in values] == [
        ["must be at least 1"],
        [],
        ["must be a whole number, not true"],
        ["must be a whole number, not 1.0"],
        ["must be a whole number, not '1'"],
    ]


def test_the_published_schema_is_made_of_the_declarations() -> None:
    """`python -m tests.profiles.reference` writes it."""
    assert reference.SCHEMA_FILE.read_text("utf-8") == reference.schema_text()
    Draft202012Validator.check_schema(SCHEMA)


def test_everything_is_allowed() -> None:
    """The document that says all there is to say."""
    assert verdict(copy.deepcopy(dict(DOCUMENT))) == []


def _children(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 (a part of a document)
    if isinstance(value, dict):
        return list(cast("Mapping[Any, Any]", value).items())
    return list(enumerate(cast("Iterable[Any]", value))) if isinstance(value, list) else []


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401 (a part)
    yield path
    for key, child in _children(value):
        yield from _places(child, (*path, key))


def _change(holder: Any, key: Any, how: str, value: Any) -> None:  # noqa: ANN401 (any part, any value)
    """Set or delete something in a mapping, or add something to a list or put it in place of all that is there."""
    if isinstance(holder, list):
        holder[:] = [*cast("Iterable[Any]", holder), value] if how == "add" else [value]
    elif how == "delete":
        holder.pop(key, None)
    else:
        holder[key if how == "set" else "more"] = value


PLACES = [place for place in _places(DOCUMENT) if place]
SCALARS: list[Any] = [
    None,
    True,
    False,
    0,
    7,
    "",
    *["None", "a..b", "spec.x", "rule-{n}", "direct", "True"],
    "long enough\n",
]
COLLECTIONS: list[Any] = [[], {}, [""], ["long enough"], [{}], {"a": "b"}, {"a": "None"}, {"group": "", "kind": "A"}]
CHANGES = st.tuples(
    st.sampled_from(PLACES), st.sampled_from(["set", "delete", "add"]), st.sampled_from([*SCALARS, *COLLECTIONS])
)


@given(st.lists(CHANGES, max_size=3))
def test_the_verdict_is_that_of_a_library(changes: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Whatever is changed in a document, both allow it or neither does; and what they allow is read."""
    document: Any = copy.deepcopy(dict(DOCUMENT))
    for (*above, last), how, value in changes:
        holder = document
        for part in above:
            holder = dict(_children(holder)).get(part)
        if isinstance(holder, dict | list):
            _change(cast("Any", holder), last, how, copy.deepcopy(value))
    allowed = verdict(document) == []
    assert allowed == LIBRARY.is_valid(document)
    if allowed:
        assert profiles_in(document, Origin("f.yaml"))


def test_a_number_without_a_minimum_may_be_any() -> None:
    assert [[problem.message for problem in problems(value, int)] for value in (-5, 0)] == [[], []]
    assert [problem.message for problem in problems("1", int)] == ["must be a whole number, not '1'"]


SERVICE = {"group": "", "kind": "Service"}
PORTS = {"field": "perPort", "key": "port", "insteadOf": "default"}
# What a kind says that is merged level by level.
LEVELLED = {"strategy": "Patch defaults", "stanzas": "none", "nulls": "ignore"}
LEVELS = "needs one strategy for all policies (not All apply or Strategic merge) and stanzas: none"
ROUTE = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}
NO_REFERENCES = "has no effect with attachment: none"
NO_CHALLENGER = "has no effect without chooser: challenger"
NO_JOINT_FIELD = "needs a joint field of that name, by that key"
STRATEGIC = {"strategyField": "spec.mode", "strategyValues": {"deep": "Strategic merge"}, "chooser": "challenger"}


def found(**changes: Any) -> list[tuple[str, str]]:  # noqa: ANN401 (any field of a kind)
    """What contradicts what in a profile with these fields: the field's name and the message."""
    fields = {"class": "direct", "evidence": ["https://example.com"], **changes}
    document = {"group": "example.com", "kinds": {"A": fields}}
    return [(".".join(map(str, problem.field.steps[2:])), problem.message) for problem in contradictions(document)]


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        ({"approximate": True}, "approximate", "has no effect without notes"),
        ({"strategyValues": {}}, "strategyValues", "has no effect without strategyField"),
        (STRATEGIC, "strategyValues", "can mean Strategic merge only with chooser: challenger and mergesWith: closest"),
        ({"mergeParents": []}, "mergeParents", NO_CHALLENGER),
        ({"strategyFromAbove": True}, "strategyFromAbove", NO_CHALLENGER),
        *(({name: [], **LEVELLED, "nulls": "remove"}, name, "needs nulls: ignore") for name in BY_LEVELS),
        ({"portField": PORTS}, "portField", NO_JOINT_FIELD),
        *(
            (
                {"portField": PORTS, **LEVELLED, "jointFields": [joint, {"field": "x", "by": "[port]"}]},
                "portField",
                NO_JOINT_FIELD,
            )
            for joint in ({"field": "perPort"}, {"field": "perPort", "by": "[n]"})
        ),
        ({"attachment": "none", "targetFields": []}, "targetFields", NO_REFERENCES),
        ({"attachment": "none", "targetGroup": ""}, "targetGroup", NO_REFERENCES),
        ({"attachment": "none", "unnamedRules": "{n}"}, "unnamedRules", NO_REFERENCES),
        ({"attachment": "filters"}, "attachment", "filters needs filterRoutes"),
        ({"backendFilters": True}, "backendFilters", "has no effect without filterRoutes"),
        ({"attachment": "none", "filterRoutes": [ROUTE]}, "filterRoutes", NO_REFERENCES),
        (
            {"attachment": "filters", "filterRoutes": [ROUTE], "targetFields": ["spec.to"]},
            "targetFields",
            "has no effect with attachment: filters",
        ),
        ({"variants": [{"targets": [SERVICE]}] * 2}, "variants.1.targets.0", "another variant is for Service already"),
        (
            {"declaredTargets": [{"group": "a.b/v1", "kind": "A"}]},
            "declaredTargets.0.group",
            "'a.b/v1' has a version; write the group alone, 'a.b'",
        ),
        (
            {"jointFields": [{"field": "a", "by": "*"}, {"field": "a"}], **LEVELLED},
            "jointFields",
            "a field cannot be combined in two ways",
        ),
        *(({name: [], **LEVELLED, "strategy": "All apply"}, name, LEVELS) for name in BY_LEVELS),
        *(({name: [], **LEVELLED, "stanzas": "plural"}, name, LEVELS) for name in BY_LEVELS),
        ({"scopes": [], **LEVELLED, "strategy": "Strategic merge"}, "scopes", LEVELS),
        ({"scopes": [], **LEVELLED, "chooser": "challenger"}, "scopes", LEVELS),
        ({"scopes": [], **LEVELLED, "strategyField": "spec.mode"}, "scopes", LEVELS),
        ({"sameLevel": "all-apply"}, "sameLevel", LEVELS.replace("needs", "can be all-apply only with")),
        ({"securityFields": ["acl", "*"]}, "securityFields", "* means every field, so it must be the only entry"),
        ({"targetGroup": "v1beta1"}, "targetGroup", "'v1beta1' has a version; write the group alone, ''"),
    ],
)
def test_fields_that_contradict_each_other(fields: dict[str, Any], place: str, message: str) -> None:
    assert found(**fields) == [(place, message)]


@pytest.mark.parametrize("group", ["v1", "example.com/v1", "/v1"])
def test_a_group_has_no_version(group: str) -> None:
    """What `apiVersion` has after the slash belongs to no group."""
    (problem,) = contradictions({"group": group, "kinds": {}})
    assert str(problem.field) == "group"


def test_a_kind_has_a_name() -> None:
    """An empty one would match whatever has none."""
    (problem,) = contradictions({"group": "", "kinds": {"": {}}})
    assert (problem.field.steps, problem.message) == (("kinds", ""), "a kind needs a name")


@pytest.mark.parametrize(
    ("group", "kind"), [("", "Namespace"), ("", "Service"), ("gateway.networking.k8s.io", "HTTPRoute")]
)
def test_what_policies_target_is_no_policy(group: str, kind: str) -> None:
    """What exists without a manifest, or carries requests, has no settings of its own that could merge."""
    (problem,) = contradictions({"group": group, "kinds": {kind: {"class": "direct"}}})
    assert (problem.field.steps, problem.message) == (
        ("kinds", kind),
        "is a kind that policies target; it cannot be a policy kind",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"strategyField": "spec.mode", "strategyValues": {"a": "None"}},
        {"mergeParents": [], "chooser": "challenger"},
        {"mergeParents": [], "variants": [{"targets": [SERVICE], "chooser": "challenger"}]},
        {**LEVELLED, "jointFields": [], "scopes": [], "routeChoice": {}},
        {**LEVELLED, "portField": PORTS, "jointFields": [{"field": "perPort", "by": "[port]"}]},
        {"attachment": "none", "declaredTargets": [SERVICE]},
        {"targetGroup": "v1.example.com"},
        {"securityFields": ["*"]},
        {"securityFields": []},
        {"securityFields": ["acl", "perPort.*"]},
        {"approximate": True, "notes": "Retries are not counted."},
        {"approximate": False},
        *({name: [], **LEVELLED} for name in BY_LEVELS),
        {"sameLevel": "all-apply", "strategy": "Atomic defaults", "stanzas": "none"},
    ],
)
def test_fields_that_belong_together(fields: dict[str, Any]) -> None:
    assert found(**fields) == []


def test_everything_can_be_said_at_once() -> None:
    """No field excludes another one that does not say so: level by level is another way than policy by policy."""
    assert list(contradictions(copy.deepcopy(dict(policy_by_policy())))) == []
    levelled = {name: FIELDS[name] for name in BY_LEVELS}
    assert found(**levelled, **LEVELLED) == []
    assert FIELDS["attachment"] == "references"
