"""Objects that an API server would reject, and fields that it would drop (GWP0009 and GWP0015)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.inputs import finding_of
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_GROUPS
from kubectl_policy.profiles.infer import references_to_targets
from kubectl_policy.questions.shared.trials import near_field
from kubectl_policy.topology import shape_problems_of
from kubectl_policy.validation.admission import WITHOUT_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Diagnostic, FieldPath, GroupKind, Json, Resource


# What rules of Gateway API's definitions find that rules here find as well, with more words.
_BY_OTHER_RULES: Final = (
    # listeners-not-distinct, protocol-conflict, listener-invalid and too-many-listeners
    "Combination of port, protocol and hostname must be unique for each listener",
    "certificateRefs or options must be specified when mode is Terminate",
    "hostname must not be specified for protocols ['TCP', 'UDP']",
    "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
    "tls mode must be Terminate for protocol HTTPS",
    "tls mode must be set for protocol TLS",
    "spec.listeners: Too many: ",
    # parentrefs-not-distinct
    "when parentRefs includes 2 or more references to the same parent",
    # backend-port-missing
    "Must have port for Service reference",
    # replaceprefix-needs-prefix and redirect-and-rewrite
    "filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified",
    "May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both",
    # ca-and-wellknown
    "must not contain both CACertificateRefs and WellKnownCACertificates",
    "must specify either CACertificateRefs or WellKnownCACertificates",
)
_REFUSED: Final = "the API server would refuse it: "


@lint_rule("GWP0009", "error")
def invalid_object(world: LintWorld) -> Iterator[Finding]:
    """An API server would reject an object.

    A field has the wrong type, or the CustomResourceDefinition of the kind, if it is in the input, does not allow the
    object: by its schema, by its CEL rules, or because it does not serve the version. While the object is rejected, the
    version in the cluster stays in force, if there is one. What could not be checked is unknown.

    Kinds of Gateway API without a definition in the input are checked by the definitions that come with this program,
    unless the object is from a cluster. The message then has the version of Gateway API; other versions may allow the
    object. Problems that other rules report are left to these.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/validation.
    """
    without_rules: dict[str, list[Resource]] = {}
    for kind in world.index.group_kinds:
        is_defined = kind in world.index.definitions
        is_standard = kind.group in GATEWAY_API_GROUPS
        for resource in world.of_kind(kind):
            # Without any definition, nothing but a wrong type can be wrong with it.
            if is_defined or is_standard or any(shape_problems_of(resource)):
                problems = _problems_of(world, resource)
                for problem in problems:
                    _, is_unchecked, obstacle = problem.message.partition(WITHOUT_RULES)
                    if is_unchecked:
                        without_rules.setdefault(obstacle, []).append(resource)
                yield from _without_repetitions(problems)
                yield from _of_no_version(world, resource)
    # What keeps all rules from being evaluated is said once.
    for obstacle, unchecked in without_rules.items():
        several = some([resource.ref for resource in unchecked])
        message = f"the rules (CEL) of definitions were not checked for {several}: {obstacle}"
        yield Finding(subject=None, message=message, certain=False, origin=unchecked[0].origin)


def _problems_of(world: LintWorld, resource: Resource) -> tuple[Diagnostic, ...]:
    """Return the problems of an object by itself; those of Gateway API that other rules report are left to them."""
    by_gateway_api = world.analysis.problems_by_gateway_api(resource.ref)
    remaining = (
        problem for problem in by_gateway_api if not any(message in problem.message for message in _BY_OTHER_RULES)
    )
    return (*world.analysis.shape_problems_of(resource.ref), *remaining)


def _without_repetitions(problems: tuple[Diagnostic, ...]) -> Iterator[Finding]:
    """Yield findings for the problems of one object; a wrong type hides schema problems of the same field."""
    of_types = {problem.field for problem in problems if problem.rule == "wrong-type"}
    for problem in problems:
        if problem.rule == "wrong-type" or (problem.field not in of_types and WITHOUT_RULES not in problem.message):
            finding = finding_of(problem, certain=problem.rule != "schema-unchecked")
            message = finding.message.removeprefix(_REFUSED)
            short = message.removeprefix(f"{finding.field}: ").removeprefix(f"{finding.field} ")
            # A field that is absent has no line of its own.
            yield replace(finding, message=message if short.startswith("Required value") else short)


def _of_no_version(world: LintWorld, resource: Resource) -> Iterator[Finding]:
    definition = world.index.definitions.get(resource.ref.group_kind)
    versions = mappings_at(definition.raw, "spec.versions") if definition else ()
    served = [text_at(version, "name") for version in versions if version.get("served") is not False]
    group, _, version = text_at(resource.raw, "apiVersion").rpartition("/")
    if served and version not in served:
        message = f"{version} of {resource.ref.kind} is not served, only {' and '.join(served)}"
        fix = Fix(words=f"use {served[0]}", value=f"{group}/{served[0]}")
        yield Finding(subject=resource.ref, field="apiVersion", message=message, fix=fix)


@lint_rule("GWP0015", "warning")
def unknown_field(world: LintWorld) -> Iterator[Finding]:
    """An object sets a field that its kind does not have.

    `kubectl apply` rejects the object. Without strict validation, the API server silently drops the field, and a
    setting of a policy is then not in force. The field is misspelled, is in the wrong place, or belongs to a version or
    a channel of Gateway API that is not installed. The rule checks kinds whose definition is in the input in full:
    definitions that were shortened for an example, with mappings of unknown contents, do not count.

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
                holder = mapping_at({"holder": field.parent.get(resource.raw)}, "holder")
                near = near_field(name, holder, known, world.analysis.evaluator)
                fix = Fix(words=f"did you mean {near}?") if near else None
                message = f"{kind.kind} has no such field{_installed(world, kind)}: it would be refused, or dropped"
                yield Finding(subject=resource.ref, field=str(field), message=message, fix=fix)


def _schema_around(world: LintWorld, kind: GroupKind, resource: Resource, field: FieldPath) -> Mapping[str, Json]:
    version = text_at(resource.raw, "apiVersion").rpartition("/")[2]
    schema = world.index.defaults.schema_of(kind, version)
    for step in field.steps[:-1]:
        inner = schema.get("items") if isinstance(step, int) else mapping_at(schema, "properties").get(str(step))
        schema = mapping_at({"schema": inner or schema.get("additionalProperties")}, "schema")
    return schema


def _installed(world: LintWorld, kind: GroupKind) -> str:
    """Return the version and channel of Gateway API from the definition of a kind, as a phrase."""
    definition = world.index.definitions.get(kind)
    annotations = mapping_at(definition.raw if definition else None, "metadata.annotations")
    annotated = [annotations.get(f"{GATEWAY_API}/{name}") for name in ("bundle-version", "channel")]
    known = [annotation for annotation in annotated if isinstance(annotation, str)]
    return f" in Gateway API {' '.join(known)}" if known else ""
