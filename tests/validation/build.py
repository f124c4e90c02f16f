"""A kind of which each test writes the schema, and what is said of an object of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import text_at
from kubectl_policy.validation import find_schema
from kubectl_policy.validation.expressions import Evaluator
from tests.build import crd, index, resource

if TYPE_CHECKING:
    from kubectl_policy.model import Diagnostic, Json, Resource

# Of all tests, so that not each of them starts a process.
EVALUATOR: Final = Evaluator()
_PREFIX: Final = "Thing default/t: "
_REFUSED: Final = "the API server would refuse it: "


def problems(schema: Json, spec: Json, evaluator: Evaluator | None = None) -> list[Diagnostic]:
    """What is said of a Thing with a spec, by the schema of the spec."""
    root: Json = {"type": "object", "properties": {"spec": schema}}
    return problems_of(root, spec, evaluator)


def problems_of(root: Json, spec: Json, evaluator: Evaluator | None = None) -> list[Diagnostic]:
    """What is said of a Thing with a spec, and with a field that is not in the schema of all of it."""
    thing = resource("Thing", "t", spec, group="example.com", more={"unknown": 1})
    return verdict(thing, crd("Thing", schema=root), evaluator=evaluator)


def verdict(thing: Resource, *definitions: Resource, evaluator: Evaluator | None = None) -> list[Diagnostic]:
    """What is said of an object by the definitions of kinds."""
    world = index(*definitions, thing)
    schema = find_schema(world, thing.ref.group_kind, text_at(thing.raw, "apiVersion").rpartition("/")[2])
    return list(schema.diagnostics(thing, world.defaulted(thing.ref), evaluator or EVALUATOR)) if schema else []


def refusals(schema: Json, spec: Json) -> list[str]:
    """Why an API server would refuse a Thing with a spec; nothing may be left unchecked."""
    found = problems(schema, spec)
    assert {problem.rule for problem in found} <= {"schema"}
    return [problem.message.removeprefix(_PREFIX).removeprefix(_REFUSED) for problem in found]


def doubts(schema: Json, spec: Json, evaluator: Evaluator | None = None) -> list[str]:
    """What could not be found out about a Thing with a spec; nothing may be refused."""
    found = problems(schema, spec, evaluator)
    assert {(problem.rule, problem.severity) for problem in found} <= {("schema-unchecked", "info")}
    return [problem.message.removeprefix(_PREFIX) for problem in found]
