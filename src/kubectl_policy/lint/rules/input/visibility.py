"""GWP0001 to GWP0006: what was not read at all, or not as it was meant, so that answers are less than they seem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, NodeRef, Origin
from kubectl_policy.model.fields import each_text
from kubectl_policy.model.kinds import plural, with_article
from kubectl_policy.model.unknown import is_unknown, is_unknown_kind
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.blind_spots.relevance import describe_gaps
from kubectl_policy.topology.references import GATEWAY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Diagnostic, Gap, ObjectRef, Resource

_NOT_PARSED: Final = frozenset({"syntax-error", "not-text", "too-deep", "too-large", "alias-bomb", "unreadable"})
_TEMPLATES: Final = frozenset({"unrendered-template", "template-leftover"})
_BRACES: Final = "{{"
_NAMES_IN_ROUTES: Final = ("spec.hostnames",)
_NAMES_IN_GATEWAYS: Final = ("spec.gatewayClassName", "spec.listeners.hostname")
_DUPLICATES: Final = frozenset({"duplicate-object"})
# What of all that reading notes is found here.
NOTED: Final = (_NOT_PARSED, _TEMPLATES, _DUPLICATES)
# So many objects that refer to something are named with their places.
_MOST_RELATED: Final = 5
_ADD: Final = "add the manifests that hold them, or --complete if there are none"


def said_of(diagnostic: Diagnostic, *, certain: bool = True) -> Finding:
    """A problem that was noted as a finding, which names neither its subject nor the field in its message."""
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


def noted(world: Linted, names: Collection[str]) -> Iterator[Finding]:
    """What reading has noted under some names."""
    return (said_of(diagnostic) for diagnostic in world.snapshot.diagnostics if diagnostic.rule in names)


@lint_rule("GWP0001", "info")
def kind_not_loaded(world: Linted) -> Iterator[Finding]:
    """Nothing was read of a kind that objects refer to.

    Whether these references lead anywhere is unknown, and so is all that depends on it: no other rule finds that they
    are broken. Manifests that lie elsewhere can be given as well; `--complete` says that there are none.

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
        message = f"no {kind.kind} is in {world.index.place}: {refer}, which may exist or not"
        related = tuple(world.related(ref) for ref in several[:_MOST_RELATED])
        yield Finding(subject=None, message=message, related=related, origin=resources[0].origin, fix=Fix(words=_ADD))


def _references(world: Linted) -> Iterator[tuple[Resource, str, NodeRef]]:
    """The references that do not lead anywhere, or may not: what has each, its field, and what it names."""
    for policy, attachment in world.failed:
        if attachment.target:
            yield policy, attachment.declared.field, attachment.target
    for route, binding in world.not_bound:
        yield route, f"spec.parentRefs[{binding.parent_index}]", NodeRef(binding.parent)
    for route, backend in world.not_resolved:
        yield route, backend.ref.field, NodeRef(backend.ref.object)
    for gateway in world.of_kind(GATEWAY):
        owner = world.gateways.class_of(gateway.ref)
        if owner:
            yield gateway, "spec.gatewayClassName", NodeRef(owner)


@lint_rule("GWP0002", "warning", blinds=True)
def forbidden(world: Linted) -> Iterator[Finding]:
    """Objects that matter may not be read by whoever asks.

    Policies may be hidden among them, so that less is in force, or more, than is found; and what refers to them cannot
    be judged. The permission that is missing is named: `kubectl auth can-i` tells of it as well.

    Source: kubernetes.io, "Using RBAC Authorization"; GEP-713, "The discoverability problem".
    """
    yield from _unread(world, [gap for gap in world.snapshot.gaps if gap.needs])


@lint_rule("GWP0017", "warning", blinds=True)
def not_answered(world: Linted) -> Iterator[Finding]:
    """Objects that matter could not be read from a cluster, and not for want of a permission.

    The API server was too busy, say, or what serves a kind in its place did not answer. As with objects that may not be
    read, policies may be among them. Ask again, or leave that kind out.

    Source: kubernetes.io, "API Priority and Fairness" and "Kubernetes API Aggregation Layer".
    """
    yield from _unread(
        world, [gap for gap in world.snapshot.gaps if gap.group is not None and not (gap.name or gap.needs)]
    )


def _unread(world: Linted, found: list[Gap]) -> Iterator[Finding]:
    """What a cluster did not give out, all of a kind as one."""
    for thing in describe_gaps(world.analysis, found):
        needs = some(thing.needs)
        message = f"{thing.what} could not be read: {thing.reason}"
        if needs:
            message = f"{thing.what} may not be read: {thing.reason}; needed is: {needs}"
        yield Finding(
            subject=None, message=message, origin=thing.origin or where_all_is(world), fix=Fix(words=thing.remedy)
        )


def where_all_is(world: Linted) -> Origin | None:
    """Where something is that has no place of its own: the cluster that objects are from, or the first file."""
    first = next(iter(world.resources), None)
    return Origin(first.origin.source) if first else None


@lint_rule("GWP0003", "info")
def crd_absent(world: Linted) -> Iterator[Finding]:
    """A kind is taken for a policy kind by its looks alone.

    Its objects have target references as policies have, but its CustomResourceDefinition was not read, and no profile
    describes it. That it is a policy kind, where its policies take effect, and what happens where two of them meet is a
    guess: add its definition to the input, or say it in a profile.

    Source: GEP-713, "Policy CRD label"; kubernetes-sigs/gwctl, which knows policy kinds by their definitions.
    """
    for profile in world.registry.policy_kinds:
        kind = profile.group_kind
        resources = world.of_kind(kind) if profile.known_by == "shape" else ()
        if resources and kind not in world.index.definitions:
            others = f" (there are {len(resources):,} of the kind)" if resources[1:] else ""
            message = f"{with_article(kind.kind)} is taken for a policy{others} as it has target references"
            fix = Fix(words=f"add the definition of {kind}, or a profile: kubectl policy explain --draft-profile")
            yield Finding(subject=resources[0].ref, message=f"{message}; no definition was read that says so", fix=fix)


@lint_rule("GWP0004", "error", blinds=True)
def parse_error(world: Linted) -> Iterator[Finding]:
    """A file or a document in it could not be read.

    What is in it counts as unknown: objects that it may hold are not found to be missing. It is no YAML or JSON, no
    text in UTF-8, or nests or repeats more than any manifest does.

    Source: YAML 1.1 as kubectl reads it (sigs.k8s.io/yaml).
    """
    return noted(world, _NOT_PARSED)


@lint_rule("GWP0005", "warning")
def template_leftover(world: Linted) -> Iterator[Finding]:
    """A template stands where a manifest should be.

    Something like `{{ .Values.name }}` was never filled in, so that an API server would refuse the object, or take the
    braces for its name. It is looked for in documents that cannot be read, and in names, hostnames and references:
    settings of policies may well be templates. Charts are linted as what they render to: pipe `helm template` to
    `lint`, or use `--render`.

    Source: Helm, "The Chart Template Developer's Guide".
    """
    yield from noted(world, _TEMPLATES)
    found: dict[tuple[ObjectRef, str], str] = {}
    references = (
        (resource, field, text)
        for resource, field, node in _references(world)
        for text in (node.object.namespace, node.object.name, node.section)
    )
    for resource, field, text in (*references, *_hostnames_and_classes(world)):
        # Of an object that is called so, that alone is said.
        if _BRACES in text and _BRACES not in f"{resource.ref.name} {resource.ref.namespace}":
            found.setdefault((resource.ref, field), text)
    for (ref, field), text in found.items():
        message = f"{text} is a template that was not rendered"
        yield Finding(subject=ref, field=field, message=message, fix=Fix(words="render it first: --render"))


def _hostnames_and_classes(world: Linted) -> Iterator[tuple[Resource, str, str]]:
    """The fields with other names, and what is written there."""
    for paths, resources in (_NAMES_IN_ROUTES, world.routes), (_NAMES_IN_GATEWAYS, world.with_listeners):
        for resource in resources:
            for path in paths:
                yield from ((resource, str(field), text) for field, text in each_text(resource.raw, path))


@lint_rule("GWP0006", "warning")
def duplicate_object(world: Linted) -> Iterator[Finding]:
    """An object is there several times.

    Which of the two is applied last depends on who applies them; what is found is about the one that is said to count.
    With the same content in both places this is only for information. Objects that are for different clusters, or in
    folders of which each is applied alone, are not found.

    Source: kustomize, "may not add resource with an already registered id".
    """
    return noted(world, _DUPLICATES)
