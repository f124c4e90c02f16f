"""Policies without effect, refused, or at a limit (GWP1017, GWP1018, GWP1022 to GWP1029, and GWP7012)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.attachment import unattached_phrase
from kubectl_policy.attachment.references import target_references
from kubectl_policy.attachment.target_validity import gateways_of, why_partly_disabled
from kubectl_policy.attachment.validity import FAILING_REQUESTS
from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.policies.failures import Concern, failures, finding_about
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import FieldPath, mapping_at, value_at
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, ROUTES
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.controllers import OF_RULE
from kubectl_policy.profiles.fields import TARGET_FIELDS, Role
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.questions.shared.trials import near_names
from kubectl_policy.resolution import order_unknown
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.losses import Loss, Losses
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile

# As many ancestors as a status has room for, and so many that this is near.
_MAX_ANCESTORS: Final = 16
_MANY_ANCESTORS: Final = 13


@lint_rule("GWP1022", "warning")
def no_target(world: LintWorld) -> Iterator[Finding]:
    """A policy has no target.

    The policy names no target, and no object names the policy, so it has no effect. Kinds whose policies apply to a
    whole namespace if they name no target are not reported. A misspelled field, such as `targetref`, is a common cause.

    Source: GEP-713, where every policy has target references.
    """
    for finding in _without_target(world, "policy"):
        policy = world.index.get(finding.subject) if finding.subject and finding.certain else None
        yield replace(finding, fix=_misspelt_target(world, policy) if policy else None)


def _misspelt_target(world: LintWorld, policy: Resource) -> Fix | None:
    """Return the field of targets that another field must mean, as the policy names a target with it, as a fix."""
    known = [field.removeprefix("spec.") for field in TARGET_FIELDS]
    spec, profile = mapping_at(policy.raw, "spec"), world.registry.profile(policy.ref.group_kind)
    for field in spec:
        for meant in () if field in known else near_names(field, known):
            renamed = replace(policy, raw={**policy.raw, "spec": {**spec, meant: spec[field]}})
            if any(reference.name or reference.selector for reference in target_references(renamed, profile)):
                return Fix(words=f"did you mean {meant}, not {field}?")
    return None


@lint_rule("GWP1023", "warning", "closed world")
def extension_unused(world: LintWorld) -> Iterator[Finding]:
    """No object names a filter, or an object with parameters of Gateways.

    The object has no effect until a rule of a route names it in a filter of type ExtensionRef, or a Gateway or
    GatewayClass names it as its parameters.

    Source: HTTPRouteFilter.ExtensionRef and GatewayInfrastructure.ParametersRef (Gateway API, apis/v1).
    """
    yield from _without_target(world, "filter", "parameters")


def _without_target(world: LintWorld, *roles: Role) -> Iterator[Finding]:
    every = world.analysis.attachments
    for policy in world.attaching:
        profile = world.registry.profile(policy.ref.group_kind)
        if profile.role in roles and not every[policy.ref] and profile.references_alone:
            message = f"{unattached_phrase(profile)}, so it has no effect"
            yield Finding(subject=policy.ref, field="spec", message=message)
    for failure in failures(world, "not named"):
        if world.registry.profile(failure.policy.ref.group_kind).role in roles:
            yield failure.doubt


@lint_rule("GWP1024", "error", "profile")
def policy_invalid(world: LintWorld) -> Iterator[Finding]:
    """A policy is invalid, so its controller applies it nowhere.

    A setting has a value that does not count, is below its minimum, or names nothing. The consequence depends on the
    implementation: the policy has no effect, or requests to its targets fail until it is fixed. References to objects
    that do not exist are reported by policy-side-ref-missing.

    Source: PolicyReasonInvalid (Gateway API, apis/v1/policy_types.go); what makes a kind invalid is in its profile.
    """
    invalid = failures(world, "policy invalid")
    reports = grouped(((failure.policy, failure.message), failure.target) for failure in invalid)
    for (policy, message), targets in reports.items():
        wrong, failing, _ = message.partition(FAILING_REQUESTS)
        field = _field_in(wrong, world.registry.profile(policy.ref.group_kind))
        where = some([node_phrase(target) for target in targets])
        named = dict.fromkeys(target.object for target in targets)
        failed = world.failing_routes([policy.ref]) if failing else ()
        so = f"until that is fixed, requests to {where} fail" if failing else f"it has no effect on {where}"
        yield Finding(
            subject=policy.ref,
            field=field,
            message=f"{_without(wrong, field, policy)}; {so}",
            reason="Invalid",
            related=(
                *(world.related(obj, "a target") for obj in named),
                *(related for related in failed if related.object not in named),
            ),
        )


def _field_in(message: str, profile: PolicyKindProfile) -> str:
    """Return the field or annotation of a policy that a message is about."""
    annotation = profile.weight_annotation
    if annotation and annotation in message:
        return str(FieldPath(("metadata", "annotations", annotation)))
    return next((token for token in message.split() if token.startswith("spec.")), "")


def _without(message: str, field: str, policy: Resource) -> str:
    problem = message.removeprefix(f"{field} ").replace(f" of {policy.ref} ", " ")
    # As in `(4k) is less than`.
    value, _, rest = problem.removeprefix("(").partition(") ")
    return f"{value} {rest}" if problem.startswith("(") else problem


@lint_rule("GWP1025", "error", "profile")
def target_invalid(world: LintWorld) -> Iterator[Finding]:
    """A policy targets a Gateway that its controllers ignore because the Gateway is invalid.

    Some implementations serve nothing on a Gateway that they do not accept, and apply no policy there. Fix the Gateway.
    If a policy is on a Service with routes at several Gateways, some of which are accepted, the finding is a warning.

    Source: GatewayConditionAccepted (Gateway API, apis/v1/gateway_types.go); who ignores such Gateways is in profiles.
    """
    yield from _refused(world, "target invalid")
    for policy, attachment in world.attachments:
        profile = world.registry.profile(policy.ref.group_kind)
        if profile.status.placement == "parentGateways" and attachment.state == "attached" and attachment.target:
            for gateway in dict.fromkeys(gateways_of(attachment.target.object, profile, world.topology)):
                ignored = world.relations.why_ignored(NodeRef(gateway))
                if ignored:
                    finding = finding_about(world, policy, attachment, f"{ignored.message}; it has no effect there")
                    yield replace(finding, severity="warning")


@lint_rule("GWP1026", "error", "profile")
def target_not_enabled(world: LintWorld) -> Iterator[Finding]:
    """A policy is for a feature that the parameters of its Gateway do not enable.

    The controller refuses the policy. The profile of the kind names the field to set in the object that the Gateway or
    its GatewayClass names as its parameters. If some Gateways of a route enable the feature, the policy has an effect
    there, and the finding is a warning.

    Source: nginx/nginx-gateway-fabric, where such policies have the reason NginxProxyConfigNotSet.
    """
    yield from _refused(world, "not enabled")
    for policy, attachment in world.attachments:
        profile, target = world.registry.profile(policy.ref.group_kind), attachment.target
        if profile.enabled_by and target and attachment.state == "attached":
            why = why_partly_disabled(target.object, profile, world.topology)
            if why:
                message = f"{why}: it has no effect there, and is not accepted on {node_phrase(target)}"
                finding = finding_about(world, policy, attachment, message)
                yield replace(finding, severity="warning")


@lint_rule("GWP7012", "error", "profile")
def policy_overlap_same_host_path(world: LintWorld) -> Iterator[Finding]:
    """A policy targets a route that shares Gateway, port, hostname and path with another route.

    If an implementation configures both routes in one place, it cannot apply the policy to only one of them, and
    refuses the policy on all of its targets. Target both routes, or use different hostnames or paths.

    Source: nginx/nginx-gateway-fabric, where such policies have the reason TargetConflict.
    """
    yield from _refused(world, "target overlaps")


def _refused(world: LintWorld, concern: Concern) -> Iterator[Finding]:
    reported: set[tuple[Resource, NodeRef]] = set()
    for failure in failures(world, concern):
        if (failure.policy, failure.target) not in reported:
            reported.add((failure.policy, failure.target))
            yield finding_about(world, failure.policy, failure.attachment, failure.message, certain=failure.certain)


@lint_rule("GWP1027", "error", "profile")
def filter_unsupported(world: LintWorld) -> Iterator[Finding]:
    """A filter names an object that filters of this kind of route, or of a backend, cannot name.

    The kind of the object is for other routes, or for filters of rules and not of backends. Requests to which such a
    filter applies must get an error response; they must not pass as if there were no filter.

    Source: HTTPRouteFilter.ExtensionRef (Gateway API, apis/v1/httproute_types.go).
    """
    yield from _refused(world, "filter unsupported")


@lint_rule("GWP1017", "error", "profile")
def ancestor_limit(world: LintWorld) -> Iterator[Finding]:
    """A policy has more ancestors than its status can hold, or nearly as many.

    The status of a policy has an entry for each Gateway or parent of a route to which it applies, and at most 16
    entries. An implementation must not apply a policy where it cannot report it, and decides which ancestors it leaves
    out. From 13 ancestors on, the finding is a warning. Divide the targets between several policies.

    Source: PolicyStatus.Ancestors (Gateway API, apis/v1/policy_types.go); envoyproxy/gateway#5228;
    nginx/nginx-gateway-fabric#1987.
    """
    statuses = PolicyStatuses(world.analysis)
    for policy in world.policies:
        profile = world.registry.profile(policy.ref.group_kind)
        is_known = profile.known_by == "profile" and profile.status.placement != "policy"
        attachments = world.analysis.attachments[policy.ref] if is_known else ()
        targets = (attachment.target for attachment in attachments if attachment.target)
        # It takes long to say what is reported, and hardly any policy has so many.
        if sum(_max_ancestors(world, target.object) for target in targets) >= _MANY_ANCESTORS:
            ancestors = [status.ancestor for status in statuses.of(policy.ref) if status.ancestor]
            if len(ancestors) >= _MANY_ANCESTORS:
                names = some([node_phrase(ancestor) for ancestor in ancestors])
                yield Finding(
                    subject=policy.ref,
                    message=f"has {len(ancestors)} ancestors ({names}), and a status has room for {_MAX_ANCESTORS}",
                    severity="error" if len(ancestors) > _MAX_ANCESTORS else "warning",
                )


def _max_ancestors(world: LintWorld, target: ObjectRef) -> int:
    """Return an upper bound for the number of ancestors of a policy on a target."""
    if target.group_kind in ROUTES:
        return _parents_of(world, target)
    if target.group_kind in LISTENER_HOLDERS:
        return 1 + len(world.gateways.listener_sets(target))
    return 1 + sum(_parents_of(world, route) for route in world.relations.routes_referring_to(target))


def _parents_of(world: LintWorld, route: ObjectRef) -> int:
    return _MANY_ANCESTORS if world.relations.delegations.refs else len(parent_refs(world.index, route))


@lint_rule("GWP1018", "info", "profile")
def filter_and_policy_double(world: LintWorld) -> Iterator[Finding]:
    """A policy sets a value that a rule of its target route also sets.

    The rule wins, and the setting of the policy has no effect there; a timeout or CORS is easily changed in the wrong
    place. Set the value in one place. Profiles say which fields of a rule correspond to which settings.

    Source: envoyproxy/gateway internal/xds/translator/route.go, "gateway-api timeout takes precedence"; kgateway, where
    the order is ExtensionRef, section, route.
    """
    for losses in world.losses if any(profile.has_object_fields for profile in world.registry.policy_kinds) else ():
        doubled: dict[tuple[ObjectRef, str], list[Loss]] = {}
        for loss in losses.all:
            # A policy further up is there for those who say nothing.
            if loss.cause == "by the object" and loss.leaf.source.target.object == loss.by.object:
                for setting in loss.resolution.object_values:
                    if loss.field[: len(setting.field)] == setting.field:
                        doubled.setdefault((loss.by.object, setting.object_field), []).append(loss)
        for (route, field), lost in doubled.items():
            yield _doubled(world, losses, route, field, lost)


def _doubled(world: LintWorld, losses: Losses, route: ObjectRef, field: str, lost: Sequence[Loss]) -> Finding:
    rules = list(dict.fromkeys(loss.by.target for loss in lost))
    inside = field.removeprefix(OF_RULE)
    rule_field = world.analysis.resolver.rules.place(rules[0], tuple(inside.split("."))) if field != inside else field
    where = some([node_phrase(rule) for rule in rules])
    return Finding(
        subject=losses.policy.ref,
        field=losses.field_of(lost),
        message=f"has no effect on {where}, which sets {inside} itself",
        related=(world.related(route, "sets it itself", str(rule_field)),),
    )


@lint_rule("GWP1028", "error", "profile")
def target_contended(world: LintWorld) -> Iterator[Finding]:
    """Two sections to which a policy applies share an object that each must have for itself.

    For example, the certificates that a policy creates for two listeners are written to one Secret, and each overwrites
    the other. Of two policies, the later one is not enforced. Use a separate Secret for each listener.

    Source: kuadrant/kuadrant-operator, TLSPolicy; the field that must not be shared is in the profile of the kind.
    """
    for policy in world.policies:
        reported: set[frozenset[NodeRef]] = set()
        for contention in world.analysis.contentions(policy.ref):
            section, rival, holder = contention.section, contention.rival_section, world.index.get(contention.holder)
            pair = frozenset({section, rival})
            if pair in reported:
                continue
            reported.add(pair)
            by = ""
            if holder and holder.ref != policy.ref:
                is_guess = order_unknown((holder, policy), world.registry.profile(policy.ref.group_kind))
                by = f", for which {holder.ref} came first"
                by += ", by name because creationTimestamp is missing" if is_guess else ""
            use = f"{node_phrase(section)} uses {contention.entry} like {node_phrase(rival)}"
            yield Finding(
                subject=policy.ref,
                message=f"{use}{by}; each needs its own",
                related=tuple(world.related(node.object) for node in dict.fromkeys((section, rival))),
            )


@lint_rule("GWP1029", "warning", "status", "profile")
def target_status_missing(world: LintWorld) -> Iterator[Finding]:
    """A policy waits for a value in the status of its target that is not there.

    Without the value, the policy does nothing: a DNS record, for example, needs the address of a Gateway. The
    conditions of the target say why the value is missing. If the target was read without a status, as from manifests,
    the result is unknown.

    Source: kuadrant/kuadrant-operator, DNSPolicy; the field that a kind needs is in its profile.
    """
    for policy in world.policies:
        field = world.registry.profile(policy.ref.group_kind).target_status
        for attachment in world.analysis.attachments[policy.ref] if field else ():
            target = attachment.target.object if attachment.target and attachment.state == "attached" else None
            if target is None or value_at(world.index.defaulted(target), field):
                continue
            if "status" in world.index.defaulted(target):
                yield Finding(
                    subject=policy.ref,
                    field=attachment.declared.field,
                    message=f"{target} has no {field}; without that, the policy does nothing",
                    related=(world.related(target, "the target", field),),
                )
            else:
                doubt = f"whether {target} has {field} is unknown: it was read without its status"
                yield world.unknown(policy, attachment.declared.field, doubt)
