"""Input that could not be read or is in doubt (GWP0001 to GWP0017, except objects, suppressions and duplicates)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import Diagnostic, Gap, GroupKind, NodeRef, ObjectRef, Origin, Resource
from kubectl_policy.model.fields import each_text
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, KINDS
from kubectl_policy.model.kinds import plural, with_article
from kubectl_policy.model.unknown import is_unknown, is_unknown_kind
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.blind_spots.relevance import describe_gaps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.lint.lint_world import LintWorld


_NOT_PARSED: Final = frozenset({"syntax-error", "not-text", "too-deep", "too-large", "alias-bomb", "unreadable"})
_TEMPLATES: Final = frozenset({"unrendered-template", "template-leftover"})
_BRACES: Final = "{{"
_NAMES_IN_ROUTES: Final = (KINDS[HTTP_ROUTE].hostnames,)
_NAMES_IN_GATEWAYS: Final = (KINDS[GATEWAY].parents, KINDS[GATEWAY].hostnames)
DUPLICATES: Final = frozenset({"duplicate-object"})
# What of all that reading notes is found here.
NOTED: Final = (_NOT_PARSED, _TEMPLATES, DUPLICATES)
# So many objects that refer to something are named with their places.
_MAX_REFERRING: Final = 5
_ADD: Final = "add the manifests that contain them, or --complete if there are none"
_NOT_RENDERED: Final = frozenset({"not-rendered"})
_REPEATED: Final = frozenset({"repeated-key"})
_UNNAMED: Final = frozenset({"no-kind", "no-name"})
_IGNORED: Final = frozenset({"definition-refused", "policy-label", "kind-defined-twice"})
# What is wrong with single objects is not noted by reading.
_FOUND_OTHERWISE: Final = frozenset({"schema", "schema-unchecked", "wrong-type"})


def finding_of(diagnostic: Diagnostic, *, certain: bool = True) -> Finding:
    """Return a diagnostic as a finding, without subject and field in the message."""
    message, subject = diagnostic.message, diagnostic.subject
    for prefix in (f"{subject}: ", f"{subject} ", f"{subject.name} ") if subject else ():
        message = message.removeprefix(prefix)
    message = message.removeprefix(f"{diagnostic.field} ") if diagnostic.field else message
    return Finding(
        subject=subject,
        field=diagnostic.field,
        message=message,
        certain=certain,
        reason=diagnostic.reason,
        severity=diagnostic.severity,
        origin=diagnostic.origin,
    )


def noted_findings(world: LintWorld, names: Collection[str]) -> Iterator[Finding]:
    """Yield the diagnostics of reading with one of the given rules."""
    return (finding_of(diagnostic) for diagnostic in world.snapshot.diagnostics if diagnostic.rule in names)


@lint_rule("GWP0001", "info")
def kind_not_loaded(world: LintWorld) -> Iterator[Finding]:
    """No objects were read of a kind that other objects refer to.

    It is unknown whether these references resolve, and so is everything that depends on them; no other rule reports
    them as broken. Add the manifests that contain the objects, or use `--complete` to declare that there are none.

    Source: istio/istio#18366 and #40861, errors about what was only not looked at.
    """
    of_cluster = [gap for gap in world.snapshot.gaps if gap.group is not None and not gap.name]
    known = {*world.index.group_kinds, *(GroupKind(gap.group or "", gap.kind) for gap in of_cluster)}
    referring = grouped(
        (node.object.group_kind, resource)
        for resource, _, node in _references(world)
        if node.object.group_kind not in known
        and not (is_unknown(node.object.name) or is_unknown_kind(node.object.group_kind))
        and world.index.presence(node.object) == "unknown"
    )
    for kind, resources in sorted(referring.items()):
        several = [resource.ref for resource in resources]
        refer = f"{some(several)} {'refer' if several[1:] else 'refers'} to {plural(kind.kind)}"
        message = f"no {kind.kind} is in {world.index.source}: {refer}, which may exist or not"
        related = tuple(world.related(ref) for ref in several[:_MAX_REFERRING])
        yield Finding(subject=None, message=message, related=related, origin=resources[0].origin, fix=Fix(words=_ADD))


def _references(world: LintWorld) -> Iterator[tuple[Resource, str, NodeRef]]:
    """Yield the references that lead nowhere, or may: the referring object, the field and the target."""
    for policy, attachment in world.failed_attachments:
        if attachment.target:
            yield policy, attachment.declared.field, attachment.target
    for route, binding in world.failed_bindings:
        yield route, f"spec.parentRefs[{binding.parent_index}]", NodeRef(binding.parent)
    for route, backend in world.failed_backends:
        yield route, backend.ref.field, NodeRef(backend.ref.object)
    for gateway in world.of_kind(GATEWAY):
        owner = world.gateways.class_of(gateway.ref)
        if owner:
            yield gateway, "spec.gatewayClassName", NodeRef(owner)


@lint_rule("GWP0002", "warning", blinds=True)
def forbidden(world: LintWorld) -> Iterator[Finding]:
    """Your permissions do not allow reading relevant objects.

    Policies may be hidden among these objects, so that more or less is enforced than reported, and references to them
    cannot be checked. The finding names the missing permission; `kubectl auth can-i` tests it.

    Source: kubernetes.io, "Using RBAC Authorization"; GEP-713, "The discoverability problem".
    """
    yield from _unread(world, [gap for gap in world.snapshot.gaps if gap.needs])


@lint_rule("GWP0017", "warning", blinds=True)
def not_answered(world: LintWorld) -> Iterator[Finding]:
    """Relevant objects could not be read from a cluster, for another reason than missing permissions.

    For example, the API server was too busy, or the server behind an aggregated API did not answer. Policies may be
    among these objects. Try again, or leave the kind out.

    Source: kubernetes.io, "API Priority and Fairness" and "Kubernetes API Aggregation Layer".
    """
    gaps = world.snapshot.gaps
    yield from _unread(world, [gap for gap in gaps if gap.group is not None and not (gap.name or gap.needs)])


def _unread(world: LintWorld, unread: list[Gap]) -> Iterator[Finding]:
    """Yield a finding for each kind that a cluster did not return."""
    for blind_spot in describe_gaps(world.analysis, unread):
        needs = some(blind_spot.needs)
        message = f"{blind_spot.what} could not be read: {blind_spot.reason}"
        if needs:
            message = f"{blind_spot.what} may not be read: {blind_spot.reason}; required: {needs}"
        origin = blind_spot.origin or input_origin(world)
        yield Finding(subject=None, message=message, origin=origin, fix=Fix(words=blind_spot.remedy))


def input_origin(world: LintWorld) -> Origin | None:
    """Return the origin of findings without one: the cluster, or the first file."""
    first = next(iter(world.resources), None)
    return Origin(first.origin.source) if first else None


@lint_rule("GWP0003", "info")
def crd_absent(world: LintWorld) -> Iterator[Finding]:
    """A kind is assumed to be a policy kind only because of its fields.

    Objects of the kind have target references as policies have, but no CustomResourceDefinition was read and no profile
    describes the kind. That it is a policy kind, where its policies take effect, and how two policies merge is a guess.
    Add the definition to the input, or write a profile.

    Source: GEP-713, "Policy CRD label"; kubernetes-sigs/gwctl, which knows policy kinds by their definitions.
    """
    for profile in world.registry.policy_kinds:
        kind = profile.group_kind
        resources = world.of_kind(kind) if profile.known_by == "shape" else ()
        if resources and kind not in world.index.definitions:
            number = f" (there are {len(resources):,} of the kind)" if resources[1:] else ""
            message = f"{with_article(kind.kind)} is treated as a policy{number}, because it has target references"
            fix = Fix(words=f"add the definition of {kind}, or a profile: kubectl policy explain --draft-profile")
            yield Finding(subject=resources[0].ref, message=f"{message}; no definition was read that says so", fix=fix)


@lint_rule("GWP0004", "error", blinds=True)
def parse_error(world: LintWorld) -> Iterator[Finding]:
    """A file, or a document in a file, could not be read.

    The contents are unknown: objects that the file may contain are not reported as missing. The text is not YAML or
    JSON, not UTF-8, or nests or repeats more than any manifest does.

    Source: YAML 1.1 as kubectl reads it (sigs.k8s.io/yaml).
    """
    return noted_findings(world, _NOT_PARSED)


@lint_rule("GWP0005", "warning")
def template_leftover(world: LintWorld) -> Iterator[Finding]:
    """A template stands in the place of a manifest.

    Text such as `{{ .Values.name }}` was never filled in, so an API server would reject the object or use the braces as
    a name. The rule checks documents that cannot be read, and names, hostnames and references; settings of policies may
    be templates. Lint the rendered output of a chart: pipe `helm template` to `lint`, or use `--render`.

    Source: Helm, "The Chart Template Developer's Guide".
    """
    yield from noted_findings(world, _TEMPLATES)
    templates: dict[tuple[ObjectRef, str], str] = {}
    references = (
        (resource, field, text)
        for resource, field, node in _references(world)
        for text in (node.object.namespace, node.object.name, node.section)
    )
    for resource, field, text in (*references, *_hostnames_and_classes(world)):
        # Of an object that is called so, that alone is said.
        if _BRACES in text and _BRACES not in f"{resource.ref.name} {resource.ref.namespace}":
            templates.setdefault((resource.ref, field), text)
    for (ref, field), text in templates.items():
        message = f"{text} is a template that was not rendered"
        yield Finding(subject=ref, field=field, message=message, fix=Fix(words="render it first: --render"))


def _hostnames_and_classes(world: LintWorld) -> Iterator[tuple[Resource, str, str]]:
    """Yield the hostnames and class names in routes and Gateways, with their fields."""
    for paths, resources in (_NAMES_IN_ROUTES, world.routes), (_NAMES_IN_GATEWAYS, world.listener_holders):
        for resource in resources:
            for path in paths:
                yield from ((resource, str(field), text) for field, text in each_text(resource.raw, path))


@lint_rule("GWP0010", "warning", blinds=True)
def not_rendered(world: LintWorld) -> Iterator[Finding]:
    """A chart or a kustomization could not be rendered.

    Rendered manifests are linted in place of their sources. Without them, everything that refers to these objects, or
    that they override, is unknown. The message is that of the program that renders.

    Source: `helm template` and `kustomize build`.
    """
    return noted_findings(world, _NOT_RENDERED)


@lint_rule("GWP0011", "error")
def repeated_key(world: LintWorld) -> Iterator[Finding]:
    """A mapping contains the same key twice.

    kubectl rejects such a manifest. Other tools silently use the last value, so the first value, often pasted by
    mistake, is lost. This tool uses the last value.

    Source: kubectl's strict decoding (sigs.k8s.io/yaml, UnmarshalStrict).
    """
    return noted_findings(world, _REPEATED)


@lint_rule("GWP0013", "warning")
def unnamed_object(world: LintWorld) -> Iterator[Finding]:
    """A document looks like an object but lacks the API version, the kind or the name, or is no object at all.

    No other object can refer to it, and all other rules ignore it. An object with `generateName` gets its name when it
    is created, which is fine for a Job, but not for a policy or a route. kubectl refuses a list of objects, and numbers
    or text between objects.

    Source: Kubernetes API conventions, "Resources" and "Metadata".
    """
    return noted_findings(world, _UNNAMED)


@lint_rule("GWP0014", "warning")
def definition_ignored(world: LintWorld) -> Iterator[Finding]:
    """A CustomResourceDefinition has no effect, or its label for policy kinds has none.

    The definition is for a kind of Kubernetes itself, for a kind that another definition already defines, or has names
    that no API can have. Kinds that policies target, such as HTTPRoute, are never policy kinds.

    Source: k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation; GEP-713, "Policy CRD label".
    """
    return noted_findings(world, _IGNORED)


@lint_rule("GWP0016", "warning")
def input_in_doubt(world: LintWorld) -> Iterator[Finding]:
    """Reading the input produced another warning.

    The message describes the warning: for example, that the objects are for more clusters and overlays than can be told
    apart, or that a snapshot has notes of another version of this tool.

    Source: this program.
    """
    known = frozenset[str]().union(*NOTED, _NOT_RENDERED, _REPEATED, _UNNAMED, _IGNORED, _FOUND_OTHERWISE)
    for diagnostic in world.snapshot.diagnostics:
        if diagnostic.rule not in known:
            finding = finding_of(diagnostic)
            yield replace(finding, origin=finding.origin or (None if finding.subject else input_origin(world)))
