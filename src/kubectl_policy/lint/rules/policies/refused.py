"""GWP1022 to GWP1027, and GWP7012: policies that nothing attaches, and those that their controllers refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.attachment import without_references
from kubectl_policy.attachment.validity import FAILING
from kubectl_policy.lint.failures import failures, finding_about
from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.linted import nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import FieldPath, mapping_at
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.profile import TARGET_FIELDS
from kubectl_policy.questions.shared.reasons import node_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.failures import Concern
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import NodeRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import Role


@lint_rule("GWP1022", "warning")
def no_target(world: Linted) -> Iterator[Finding]:
    """A policy has no target.

    It names nothing, and nothing names it, so that it has no effect; a kind whose policies apply to a whole namespace
    where they name nothing is no matter of this rule. A field that is misspelt, as `targetref`, is a usual cause.

    Source: GEP-713, where every policy has target references.
    """
    known = [field.removeprefix("spec.") for field in TARGET_FIELDS]
    for finding in _without_target(world, "policy"):
        policy = finding.subject if finding.certain else None
        spec = mapping_at(world.index.raw(policy) if policy else None, "spec")
        near = {field: nearest(field, known) for field in map(str, spec) if field not in known}
        fixes = (Fix(words=f"did you mean {meant}, not {field}?") for field, meant in near.items() if meant)
        yield replace(finding, fix=next(fixes, None))


@lint_rule("GWP1023", "warning", "closed world")
def extension_unused(world: Linted) -> Iterator[Finding]:
    """A filter, or an object with parameters of Gateways, is named by nothing.

    It has no effect until a rule of a route names it in a filter of type ExtensionRef, or a Gateway or GatewayClass as
    its parameters.

    Source: HTTPRouteFilter.ExtensionRef and GatewayInfrastructure.ParametersRef (Gateway API, apis/v1).
    """
    yield from _without_target(world, "filter", "parameters")


def _without_target(world: Linted, *roles: Role) -> Iterator[Finding]:
    every = world.analysis.attachments
    for policy in world.attaching:
        profile = world.registry.known(policy.ref.group_kind)
        if profile.role in roles and not every[policy.ref] and profile.attaches_as_known and profile.references_alone:
            message = f"{without_references(profile)}, so it has no effect"
            yield Finding(subject=policy.ref, field="spec", message=message)
    for failure in failures(world, "not named"):
        if world.registry.known(failure.policy.ref.group_kind).role in roles:
            yield failure.doubt


@lint_rule("GWP1024", "error", "profile")
def policy_invalid(world: Linted) -> Iterator[Finding]:
    """A policy says something that makes it invalid, so that its controller applies it nowhere.

    A setting has no value that counts, is less than one that it must not be less than, or names nothing. What follows
    depends on the implementation: the policy has no effect, or requests to its targets fail until it is put right. Of
    what it names and does not exist, policy-side-ref-missing tells.

    Source: PolicyReasonInvalid (Gateway API, apis/v1/policy_types.go); what makes a kind invalid is in its profile.
    """
    reports = grouped(
        ((failure.policy, failure.message), failure.target) for failure in failures(world, "policy invalid")
    )
    for (policy, message), targets in reports.items():
        wrong, failing, _ = message.partition(FAILING)
        field = _field_in(wrong, world.registry.known(policy.ref.group_kind))
        where = some([node_phrase(each) for each in targets])
        so = f"until that is fixed, requests to {where} fail" if failing else f"it has no effect on {where}"
        yield Finding(
            subject=policy.ref,
            field=field,
            message=f"{_without(wrong, field, policy)}; {so}",
            reason="Invalid",
            related=tuple(world.related(obj, "a target") for obj in dict.fromkeys(node.object for node in targets)),
        )


def _field_in(message: str, profile: PolicyKindProfile) -> str:
    """The field of a policy that a message is about: that with which it begins, or the annotation that it names."""
    annotation = profile.weight_annotation
    if annotation and annotation in message:
        return str(FieldPath(("metadata", "annotations", annotation)))
    return next((word for word in message.split() if word.startswith("spec.")), "")


def _without(message: str, field: str, policy: Resource) -> str:
    said = message.removeprefix(f"{field} ").replace(f" of {policy.ref} ", " ")
    # As in `(4k) is less than`.
    value, _, rest = said.removeprefix("(").partition(") ")
    return f"{value} {rest}" if said.startswith("(") else said


@lint_rule("GWP1025", "error", "profile")
def target_invalid(world: Linted) -> Iterator[Finding]:
    """A policy targets a Gateway that its controllers ignore, as it is not valid.

    Some implementations serve nothing on a Gateway that they do not accept, and apply no policy there. What is wrong
    with the Gateway has to be put right.

    Source: GatewayConditionAccepted (Gateway API, apis/v1/gateway_types.go); who ignores such Gateways is in profiles.
    """
    yield from _refused(world, "target invalid")


@lint_rule("GWP1026", "error", "profile")
def target_not_enabled(world: Linted) -> Iterator[Finding]:
    """A policy is for a feature that the parameters of its Gateway do not turn on.

    Its controller refuses it. The field that has to be set, in the object that the Gateway or its GatewayClass names as
    its parameters, is in the profile of the kind.

    Source: nginx/nginx-gateway-fabric, where such policies have the reason NginxProxyConfigNotSet.
    """
    yield from _refused(world, "not enabled")


@lint_rule("GWP7012", "error", "profile")
def policy_overlap_same_host_path(world: Linted) -> Iterator[Finding]:
    """A policy targets a route that shares a Gateway, port, hostname and path with one that it does not target.

    Where an implementation has one place in its configuration for both, it cannot apply the policy to one of them: it
    refuses the policy on all of its targets. Target both routes, or give them hostnames or paths of their own.

    Source: nginx/nginx-gateway-fabric, where such policies have the reason TargetConflict.
    """
    yield from _refused(world, "target overlaps")


def _refused(world: Linted, concern: Concern) -> Iterator[Finding]:
    told: set[tuple[Resource, NodeRef]] = set()
    for failure in failures(world, concern):
        if (failure.policy, failure.target) not in told:
            told.add((failure.policy, failure.target))
            yield finding_about(world, failure.policy, failure.attachment, failure.problem)


@lint_rule("GWP1027", "error", "profile")
def filter_unsupported(world: Linted) -> Iterator[Finding]:
    """A filter names an object that filters of such a route, or of a backend, cannot name.

    Its kind is for other routes, or for filters of a rule and not for those of a backend. Requests for which such a
    filter is there must get an error response: they must not pass as if it were not.

    Source: HTTPRouteFilter.ExtensionRef (Gateway API, apis/v1/httproute_types.go).
    """
    yield from _refused(world, "filter unsupported")
