"""The schema that is made of the types of answers."""

from __future__ import annotations

from tests.render.schema import FILE, SCHEMA, published


def test_the_published_schema_is_made_of_the_types() -> None:
    """`python -m tests.render.schema` writes it anew."""
    assert FILE.read_text("utf-8") == published()


def test_the_schema_says_what_the_annotations_say() -> None:
    """Types, choices, what may be null, limits, and what is said of a member: beside a field, or by a property."""
    assert SCHEMA["$defs"]["Origin"]["properties"] == {
        "source": {"description": "A file, or the context of a cluster.", "type": "string"},
        "line": {"description": "From 1; 0 if unknown.", "type": "integer", "minimum": 0},
    }
    attachment = SCHEMA["$defs"]["Attachment"]["properties"]
    assert attachment["declaredIn"] == {
        "description": "The field, for example spec.targetRefs[0]: of the policy, or of the object in namedBy.",
        "type": "string",
    }
    assert attachment["target"]["anyOf"] == [{"$ref": "#/$defs/NodeRef"}, {"type": "null"}]
    assert SCHEMA["$defs"]["Diagnostic"]["properties"]["severity"] == {"enum": ["error", "warning", "info"]}


def test_a_list_has_the_rows_of_its_kind() -> None:
    """And an answer begins with what it is."""
    routes = SCHEMA["$defs"]["RouteList"]
    assert list(routes["properties"])[:3] == ["apiVersion", "kind", "headline"]
    assert routes["properties"]["kind"] == {"const": "RouteList"}
    assert routes["properties"]["items"]["items"] == {"$ref": "#/$defs/RouteRow"}
    assert routes["required"] == list(routes["properties"])
