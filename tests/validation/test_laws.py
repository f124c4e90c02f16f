"""Laws: no definition and no object makes validation raise, and what keeps a schema is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validation.build import problems

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_SCALARS: Final = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
_NAMES: Final = st.sampled_from(["a", "b", "a.b", "namespace", ""])
_VALUES: Final = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8
)
_RULES: Final = st.sampled_from(
    [
        "self.a == 1",
        "has(self.a)",
        "self.all(x, x == x)",
        "size(self) > 1",
        "self.matches('^(a')",
        "self[0] == self['a']",
        "oldSelf == self",
        "self.a.b.c",
        "isIP(self)",
        "isURL(self)",
        "{",
        "",
    ]
)
_KEYWORDS: Final[dict[str, st.SearchStrategy[Json]]] = {
    "type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "none"]),
    "format": st.sampled_from(["int32", "double", "date", "date-time", "byte", "ipv4", "cidr"]),
    "pattern": st.sampled_from(["a", "(", "^$", "[", r"\pL", "(a+)+$"]),
    "enum": st.lists(_SCALARS, max_size=2),
    "required": st.lists(_NAMES, max_size=2),
    "default": _VALUES,
    "nullable": st.booleans(),
    "x-kubernetes-int-or-string": st.booleans(),
    "x-kubernetes-preserve-unknown-fields": st.booleans(),
    "x-kubernetes-embedded-resource": st.booleans(),
    "x-kubernetes-list-type": st.sampled_from(["set", "map", "atomic"]),
    "x-kubernetes-list-map-keys": st.lists(_NAMES, max_size=2),
    "x-kubernetes-validations": st.lists(
        st.fixed_dictionaries(
            {"rule": _RULES}, optional={"messageExpression": _RULES, "optionalOldSelf": st.booleans()}
        ),
        max_size=2,
    ),
    **{name: st.integers(0, 3) for name in ("maxItems", "minItems", "maxLength", "minLength", "maximum", "multipleOf")},
}


def _wider(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[dict[str, Json]]:
    lists = st.lists(inner, max_size=2)
    parts = {
        "items": inner,
        "additionalProperties": inner,
        "not": inner,
        "properties": st.dictionaries(_NAMES, inner, max_size=3),
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), lists),
    }
    return st.fixed_dictionaries({}, optional={**_KEYWORDS, **parts})


_SCHEMAS: Final = st.recursive(st.fixed_dictionaries({}, optional=_KEYWORDS), _wider, max_leaves=6)


@settings(deadline=None)
@given(schema=_SCHEMAS, spec=_VALUES)
def test_any_schema_and_any_object(schema: Json, spec: Json) -> None:
    for problem in problems(schema, spec):
        assert problem.rule in {"schema", "schema-unchecked"}
        assert problem.message.startswith("Thing default/t: ")


@settings(deadline=None)
@given(schema=_VALUES, spec=_VALUES)
def test_what_is_no_schema(schema: Json, spec: Json) -> None:
    assert all(problem.subject for problem in problems(schema, spec))


@settings(deadline=None)
@given(spec=_VALUES)
def test_a_schema_of_a_value(spec: Json) -> None:
    assert [problem for problem in problems(_schema_of(spec), spec) if problem.rule == "schema"] == []


def _schema_of(value: Json) -> Json:
    keep: dict[str, Json] = {"nullable": True, "x-kubernetes-validations": [{"rule": "self == self"}]}
    if isinstance(value, dict):
        return {**keep, "type": "object", "properties": {key: _schema_of(inner) for key, inner in value.items()}}
    if isinstance(value, list):
        return {**keep, "type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True, "nullable": True}}
    return {**keep, "x-kubernetes-preserve-unknown-fields": True}
