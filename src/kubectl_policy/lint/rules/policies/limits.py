"""GWP1017, GWP1018, GWP1028 and GWP1029: what policies have too much of, set in vain, share, or wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles.own import OF_RULE
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.resolution import order_unknown
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.facts.losses import Loss, Losses
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import NodeRef, ObjectRef

# As many ancestors as a status has room for, and so many that this is near.
_MOST: Final = 16
_MANY: Final = 13


@lint_rule("GWP1017", "error", "profile")
def ancestor_limit(world: Linted) -> Iterator[Finding]:
    """A policy has more ancestors than its status has room for, or nearly so many.

    The status of a policy has an entry for each Gateway, or parent of a route, for which it counts, and 16 at most. An
    implementation must not apply a policy where it cannot report it, and which ancestors are left out depends on that.
    From 13 on it is a warning. Divide the targets between several policies.

    Source: PolicyStatus.Ancestors (Gateway API, apis/v1/policy_types.go); envoyproxy/gateway#5228;
    nginx/nginx-gateway-fabric#1987.
    """
    statuses = PolicyStatuses(world.analysis)
    for policy in world.policies:
        profile = world.registry.known(policy.ref.group_kind)
        is_known = profile.known_by == "profile" and profile.status.placement != "policy"
        targets = (each.target for each in world.analysis.attachments[policy.ref] if is_known and each.target)
        # It takes long to say what is reported, and hardly any policy has so many.
        if sum(_max_ancestors(world, target.object) for target in targets) >= _MANY:
            ancestors = [each.ancestor for each in statuses.of(policy.ref) if each.ancestor]
            if len(ancestors) >= _MANY:
                names = some([node_phrase(each) for each in ancestors])
                yield Finding(
                    subject=policy.ref,
                    message=f"has {len(ancestors)} ancestors ({names}), and a status has room for {_MOST}",
                    severity="error" if len(ancestors) > _MOST else "warning",
                )


def _max_ancestors(world: Linted, target: ObjectRef) -> int:
    """A number that the ancestors of a policy on a target do not exceed."""
    if target.group_kind in ROUTES:
        return _parents_of(world, target)
    if target.group_kind in WITH_LISTENERS:
        return 1 + len(world.gateways.listener_sets(target))
    return 1 + sum(_parents_of(world, route) for route in world.relations.routes_referring_to(target))


def _parents_of(world: Linted, route: ObjectRef) -> int:
    return _MANY if world.relations.delegations.refs else len(parent_refs(world.index, route))


@lint_rule("GWP1018", "info", "profile")
def filter_and_policy_double(world: Linted) -> Iterator[Finding]:
    """A policy sets what a rule of the route that it targets sets itself.

    The rule wins, and what the policy says of it has no effect there: a time-out, or CORS, is easily changed in the
    wrong one of the two. Say it in one place. Which fields of a rule stand for which settings is known from profiles.

    Source: envoyproxy/gateway internal/xds/translator/route.go, "gateway-api timeout takes precedence"; kgateway, where
    the order is ExtensionRef, section, route.
    """
    for losses in world.losses if any(each.has_object_fields for each in world.registry.policy_kinds) else ():
        doubled: dict[tuple[ObjectRef, str], list[Loss]] = {}
        for loss in losses.all:
            # A policy further up is there for those who say nothing.
            if loss.how == "by the object" and loss.leaf.source.target.object == loss.by.object:
                for own in loss.resolution.own:
                    if loss.field[: len(own.field)] == own.field:
                        doubled.setdefault((loss.by.object, own.object_field), []).append(loss)
        for (route, field), lost in doubled.items():
            yield _doubled(world, losses, route, field, lost)


def _doubled(world: Linted, losses: Losses, route: ObjectRef, field: str, lost: Sequence[Loss]) -> Finding:
    rules = list(dict.fromkeys(loss.by.target for loss in lost))
    inside = field.removeprefix(OF_RULE)
    place = world.analysis.resolver.rules.place(rules[0], tuple(inside.split("."))) if field != inside else field
    where = some([node_phrase(each) for each in rules])
    return Finding(
        subject=losses.policy.ref,
        field=losses.place(lost),
        message=f"has no effect on {where}, which says {inside} itself",
        related=(world.related(route, "says it itself", str(place)),),
    )


@lint_rule("GWP1028", "error", "profile")
def target_contended(world: Linted) -> Iterator[Finding]:
    """Two sections to which a policy applies share what each must have for itself.

    A certificate that a policy makes for two listeners is written twice, to one Secret: the one overwrites the other.
    Of two policies it is the later one that does not hold. Give each listener a Secret of its own.

    Source: kuadrant/kuadrant-operator, TLSPolicy; the field that must not be shared is in the profile of the kind.
    """
    for policy in world.policies:
        told: set[frozenset[NodeRef]] = set()
        for contention in world.analysis.contentions(policy.ref):
            section, other, holder = contention.section, contention.other, world.index.get(contention.holder)
            pair = frozenset({section, other})
            if pair in told:
                continue
            told.add(pair)
            by = ""
            if holder and holder.ref != policy.ref:
                is_guess = order_unknown((holder, policy), world.registry.known(policy.ref.group_kind))
                by = f", for which {holder.ref} came first"
                by += ", by name because creationTimestamp is missing" if is_guess else ""
            use = f"{node_phrase(section)} uses {contention.entry} like {node_phrase(other)}"
            yield Finding(
                subject=policy.ref,
                message=f"{use}{by}; each needs its own",
                related=tuple(world.related(each.object) for each in dict.fromkeys((section, other))),
            )


@lint_rule("GWP1029", "warning", "status", "profile")
def target_status_missing(world: Linted) -> Iterator[Finding]:
    """A policy waits for something in the status of its target, and that is not there.

    Without it, the policy does nothing: a DNS record, for one, needs the address of a Gateway. Look at the conditions
    of the target, which say why. Where the target was read without a status, as from manifests, it is unknown.

    Source: kuadrant/kuadrant-operator, DNSPolicy; the field that a kind needs is in its profile.
    """
    for policy in world.policies:
        field = world.registry.known(policy.ref.group_kind).target_status
        for attachment in world.analysis.attachments[policy.ref] if field else ():
            target = attachment.target.object if attachment.target and attachment.state == "attached" else None
            if target is None or value_at(world.index.raw(target), field):
                continue
            if "status" in world.index.raw(target):
                yield Finding(
                    subject=policy.ref,
                    field=attachment.declared.field,
                    message=f"{target} has no {field}; without that, the policy does nothing",
                    related=(world.related(target, "the target", field),),
                )
            else:
                doubt = f"whether {target} has {field} is unknown: it was read without its status"
                yield world.unknown(policy, attachment.declared.field, doubt)
