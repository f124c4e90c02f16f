"""GWP0009 to GWP0016 but for GWP0012: objects that would not be taken, or kept, as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.linted import nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.input import visibility
from kubectl_policy.lint.rules.input.visibility import noted, said_of, where_all_is
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.profiles.infer import references_to_targets
from kubectl_policy.topology import shape_problems_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Diagnostic, FieldPath, GroupKind, Json, Resource

_NOT_RENDERED: Final = frozenset({"not-rendered"})
_REPEATED: Final = frozenset({"repeated-key"})
_UNNAMED: Final = frozenset({"no-kind", "no-name"})
_IGNORED: Final = frozenset({"definition-refused", "policy-label", "kind-defined-twice"})
_REFUSED: Final = "the API server would refuse it: "
# What is wrong with single objects is not noted by reading.
_FOUND_OTHERWISE: Final = frozenset({"schema", "schema-unchecked", "wrong-type"})


@lint_rule("GWP0009", "error")
def invalid_object(world: Linted) -> Iterator[Finding]:
    """An API server would refuse an object.

    A field has a type that it cannot have, or the CustomResourceDefinition of the kind, if it is in the input, does not
    allow what is written: by its schema or by its rules (CEL), or as it has no such version. As long as it is refused,
    the version in the cluster stays in force, if there is one. What could not be checked is unknown.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/validation.
    """
    for kind in world.index.group_kinds:
        is_defined = kind in world.index.definitions
        for resource in world.of_kind(kind):
            # Without a definition, nothing but a wrong type can be wrong with it.
            if is_defined or any(shape_problems_of(resource)):
                yield from _without_repetitions(world.analysis.problems_of_shape(resource.ref))
                yield from _of_no_version(world, resource)


def _without_repetitions(problems: tuple[Diagnostic, ...]) -> Iterator[Finding]:
    """Problems of one object, but for what a schema says of a field that is known to have a wrong type."""
    of_types = {problem.field for problem in problems if problem.rule == "wrong-type"}
    for problem in problems:
        if problem.rule == "wrong-type" or problem.field not in of_types:
            found = said_of(problem, certain=problem.rule != "schema-unchecked")
            message = found.message.removeprefix(_REFUSED)
            yield replace(found, message=message.removeprefix(f"{found.field}: ").removeprefix(f"{found.field} "))


def _of_no_version(world: Linted, resource: Resource) -> Iterator[Finding]:
    definition = world.index.definitions.get(resource.ref.group_kind)
    versions = mappings_at(definition.raw, "spec.versions") if definition else ()
    served = [text_at(each, "name") for each in versions if each.get("served") is not False]
    group, _, version = text_at(resource.raw, "apiVersion").rpartition("/")
    if served and version not in served:
        message = f"{version} of {resource.ref.kind} is not served, only {' and '.join(served)}"
        fix = Fix(words=f"use {served[0]}", value=f"{group}/{served[0]}")
        yield Finding(subject=resource.ref, field="apiVersion", message=message, fix=fix)


@lint_rule("GWP0010", "warning", blinds=True)
def not_rendered(world: Linted) -> Iterator[Finding]:
    """A chart or a kustomization could not be rendered.

    With `--render`, what it would have made is linted in its place. Now nothing of that is known: what refers to it, or
    is overridden by it, is unknown. The message is the program's own.

    Source: `helm template` and `kustomize build`.
    """
    return noted(world, _NOT_RENDERED)


@lint_rule("GWP0011", "error")
def repeated_key(world: Linted) -> Iterator[Finding]:
    """A mapping has the same key twice.

    kubectl refuses such a manifest, and other tools take the last of the two without a word, so that the first one is
    lost: often it was pasted in. Here, the last one counts.

    Source: kubectl's strict decoding (sigs.k8s.io/yaml, UnmarshalStrict).
    """
    return noted(world, _REPEATED)


@lint_rule("GWP0013", "warning")
def unnamed_object(world: Linted) -> Iterator[Finding]:
    """Something looks like an object and lacks what every object needs: an API version, a kind or a name.

    Nothing can refer to it, and it is left out of everything else. An object with `generateName` gets its name when it
    is created, which is fine for a Job and of no use for a policy or a route.

    Source: Kubernetes API conventions, "Resources" and "Metadata".
    """
    return noted(world, _UNNAMED)


@lint_rule("GWP0014", "warning")
def definition_ignored(world: Linted) -> Iterator[Finding]:
    """A CustomResourceDefinition does not count, or the label that makes its kind a policy kind does not.

    It defines a kind of Kubernetes itself, or one that another definition defines already, or its names are none that
    an API can have. Kinds that policies target, such as HTTPRoute, are never policy kinds.

    Source: k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation; GEP-713, "Policy CRD label".
    """
    return noted(world, _IGNORED)


@lint_rule("GWP0015", "warning")
def unknown_field(world: Linted) -> Iterator[Finding]:
    """An object sets a field that its kind does not have.

    `kubectl apply` refuses it. Whoever applies it without strict validation gets an object without the field, and no
    error: a setting of a policy is then simply not in force. It is misspelt, stands in the wrong place, or came with a
    version, or a channel of Gateway API, that is not installed. Only kinds are looked at of which the definition is in
    the input, and was not shortened for an example: one that says nothing of what is in a mapping is not believed.

    Source: Kubernetes, "Server Side Field Validation"; pruning in k8s.io/apiextensions-apiserver.
    """
    for kind in world.index.definitions:
        references = references_to_targets(world.index.defaults.schema_of(kind))
        # A definition that leaves out what references to targets are made of was shortened.
        if any(not mapping_at(reference, "properties") for _, reference in references):
            continue
        for resource in world.of_kind(kind):
            for field in world.analysis.dropped_fields(resource.ref):
                name = str(field.steps[-1])
                known = mapping_at(_schema_around(world, kind, resource, field), "properties")
                if field.steps[0] == "status" or not known:
                    continue
                near = nearest(name, known)
                fix = Fix(words=f"did you mean {near}?") if near else None
                message = f"{kind.kind} has no such field{_installed(world, kind)}: it would be refused, or dropped"
                yield Finding(subject=resource.ref, field=str(field), message=message, fix=fix)


def _schema_around(world: Linted, kind: GroupKind, resource: Resource, field: FieldPath) -> Mapping[str, Json]:
    version = text_at(resource.raw, "apiVersion").rpartition("/")[2]
    schema = world.index.defaults.schema_of(kind, version)
    for step in field.steps[:-1]:
        inner = schema.get("items") if isinstance(step, int) else mapping_at(schema, "properties").get(str(step))
        schema = mapping_at({"schema": inner or schema.get("additionalProperties")}, "schema")
    return schema


def _installed(world: Linted, kind: GroupKind) -> str:
    """Which version and channel of Gateway API a kind is of, in words, if its definition says so."""
    definition = world.index.definitions.get(kind)
    annotations = mapping_at(definition.raw if definition else None, "metadata.annotations")
    words = [annotations.get(f"{GATEWAY_API}/{name}") for name in ("bundle-version", "channel")]
    known = [word for word in words if isinstance(word, str)]
    return f" in Gateway API {' '.join(known)}" if known else ""


@lint_rule("GWP0016", "warning")
def input_in_doubt(world: Linted) -> Iterator[Finding]:
    """Reading has noted something else about the input.

    The message says what it is; so it is where objects are for more clusters and overlays than are told apart, and
    where a snapshot holds notes of another version of this program.

    Source: this program.
    """
    known = frozenset[str]().union(*visibility.NOTED, _NOT_RENDERED, _REPEATED, _UNNAMED, _IGNORED, _FOUND_OTHERWISE)
    for diagnostic in world.snapshot.diagnostics:
        if diagnostic.rule not in known:
            found = said_of(diagnostic)
            yield replace(found, origin=found.origin or (None if found.subject else where_all_is(world)))
