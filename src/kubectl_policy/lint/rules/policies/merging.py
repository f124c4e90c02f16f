"""Merge strategies of policies, and settings that are repeated or incomplete (GWP2008 to GWP2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, some
from kubectl_policy.lint.losses import effective_at, protecting_fields
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import mapping_at, same_json, value_at
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.in_force import effective_entries
from kubectl_policy.questions.status_ancestors import TargetOrder
from kubectl_policy.resolution import Contribution, Leaf, Resolution, leaves, plain
from kubectl_policy.resolution.contributions import stanzas_of
from kubectl_policy.resolution.effective import resolve
from kubectl_policy.resolution.enforcement import ENFORCEMENT, Enforcement
from kubectl_policy.resolution.merging import PathContext
from kubectl_policy.topology.paths import first_route

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.profiles import PolicyKindProfile

# So many policies say the same before anybody would want to hear of it.
_MIN_REPEATED: Final = 3
# Stands for what differs from rule to rule of a route.
_DIFFERING: Final = frozenset({""})
_NOTHING: Final[frozenset[str]] = frozenset()
_STANZAS: Final = {"spec": "settings", "spec.defaults": "defaults", "spec.overrides": "overrides"}


@lint_rule("GWP2008", "warning", "closed world", "profile")
def nothing_to_merge_with(world: LintWorld) -> Iterator[Finding]:
    """A policy declares how it merges with a policy above it, but there is none.

    The policy applies on its own, and the settings that it should add to are not in force: the policy above was assumed
    to exist, was deleted, or is attached to another object. On a Gateway, which has nothing above it to merge with, the
    declaration has no effect, and an API server may reject it. What other manifests may contain is unknown.

    Add the policy above, or remove the field.

    Source: envoyproxy/gateway#9409; envoyproxy/gateway#5582.
    """
    for policy, enforcement in world.enforcements:
        profile = world.registry.profile(policy.ref.group_kind)
        chooses = profile.chooser == "challenger" and profile.strategy_field
        if not chooses or value_at(policy.raw, profile.strategy_field) is None:
            continue
        merges = stanzas_of(world.index.defaulted(policy.ref), profile)[0].strategy.patches_above
        if merges and ENFORCEMENT[enforcement.state].in_force and not _meets_another(world, enforcement):
            *parents, last = dict.fromkeys(level.group_kind.kind for level in profile.merge_parents) or ["target"]
            where = f"{', '.join(parents)} or {last}" if parents else last
            yield Finding(
                subject=policy.ref,
                field=profile.strategy_field,
                message=f"no {policy.ref.kind} is attached to a {where} further up to merge with: it applies alone",
                certain=world.has_all(policy.ref.group_kind),
            )


def _meets_another(world: LintWorld, enforcement: Enforcement) -> bool:
    """Whether a policy merges with another one anywhere, or would if that one were valid.

    Controllers report a merge also at a listener that the route names and shares no hostname with.
    """
    policy = enforcement.policy
    order = TargetOrder(world.analysis, world.registry.profile(policy.group_kind))
    targets = (attachment.target for attachment in world.analysis.attachments[policy])
    if any(order.merges_of(policy, target) for target in targets if target):
        return True
    merged = any(source.object != policy for resolution in enforcement.resolutions for source in resolution.members)
    failed_policies = world.analysis.resolver.failed_policies
    paths = (effective.path for effective in enforcement.outcomes)
    return merged or any(failed_policies(node, policy.group_kind) for path in paths for node in path)


@lint_rule("GWP2010", "error")
def multiple_strategies(world: LintWorld) -> Iterator[Finding]:
    """A policy has both defaults and overrides, or settings next to these.

    A policy has one merge strategy. The controller decides which part counts; definitions of some kinds reject such a
    policy.

    Write a policy for each strategy.

    Source: GEP-713, "Merge strategies", by which a policy must not specify several of them.
    """
    for policy in world.policies:
        spec = mapping_at(policy.raw, "spec")
        if "defaults" in spec or "overrides" in spec:
            profile = world.registry.profile(policy.ref.group_kind)
            parts = {stanza.field for stanza in stanzas_of(policy.raw, profile)}
            if len(parts) > 1:
                fields = [field for field in _STANZAS if field in parts]
                yield Finding(
                    subject=policy.ref,
                    field=fields[-1],
                    message=f"has {' and '.join(_STANZAS[field] for field in fields)}, where a policy has one strategy",
                    # Without a schema it is a guess that fields of these names are more than fields.
                    certain=profile.stanzas is not None,
                )


@lint_rule("GWP2012", "info", "profile", guards=True)
def context_dependent_backend(world: LintWorld) -> Iterator[Finding]:
    """A backend is protected on the way through one route, but not through another.

    Policies protect paths to a backend, not the backend: a Service that needs a token behind one route accepts requests
    without a token behind another, for example an old route that was forgotten. The profiles of kinds say which
    settings protect requests; the rule checks whether there are any, not their values.

    If one of the routes is for trusted callers, nothing is wrong.

    Source: GEP-713, second end-to-end example, in which a backend has other policies by each way.
    """
    protecting = _protected_routes(world)
    backends = sorted(world.relations.kinds_of_backends - {*ROUTES}) if protecting else ()
    for backend in world.of_kind(*backends):
        routes = world.relations.routes_forwarding_to(backend.ref)
        for kind, protection_of in protecting.items() if len(routes) > 1 else ():
            parts = [protection_of.get(route, _NOTHING) for route in routes]
            if parts[0] is _DIFFERING or any(protection != parts[0] for protection in parts):
                yield from _protected_by_some(world, backend.ref, kind)


def _protected_by_some(world: LintWorld, backend: ObjectRef, kind: GroupKind) -> Iterator[Finding]:
    protected = _protection(world, backend, kind)
    parts = {part for route_parts in protected.values() for part in route_parts}
    differing = sorted(part for part in parts if not all(part in route_parts for route_parts in protected.values()))
    if differing:
        having = [str(route) for route, route_parts in protected.items() if not route_parts.isdisjoint(differing)]
        lacking = [route for route, route_parts in protected.items() if not route_parts.issuperset(differing)]
        yield Finding(
            subject=backend,
            message=f"{kind.kind} sets {some(differing)} for requests through {some(having)}, and not for those "
            f"through {some(lacking)}",
            related=world.related_to(lacking, "not protected"),
        )


def _protected_routes(world: LintWorld) -> Mapping[GroupKind, Mapping[ObjectRef, frozenset[str]]]:
    """Return the security settings in force for each route, by kind."""
    protection_at: dict[GroupKind, dict[NodeRef, set[frozenset[str]]]] = {}
    known: dict[Resolution, frozenset[str]] = {}
    for policy, enforcement in world.enforcements:
        kind = policy.ref.group_kind
        profile = world.registry.profile(kind)
        if profile.security_fields and ENFORCEMENT[enforcement.state].in_force:
            for resolution in enforcement.resolutions:
                if resolution not in known:
                    known[resolution] = frozenset(protecting_fields(resolution, profile))
            # Where none of the policy's paths has anything that protects, others may have.
            protects = any(known[resolution] for resolution in enforcement.resolutions)
            for effective in enforcement.outcomes if protects else ():
                parts = known[effective.resolution]
                rule = next((node for node in reversed(effective.path) if node.object.group_kind in ROUTES), None)
                if rule:
                    protection_at.setdefault(kind, {}).setdefault(rule, set()).add(parts)
    return {kind: _by_route(world, protection) for kind, protection in protection_at.items()}


def _by_route(
    world: LintWorld, protection_at: Mapping[NodeRef, Collection[frozenset[str]]]
) -> Mapping[ObjectRef, frozenset[str]]:
    """Return the settings of each route; `_DIFFERING` if they differ between its rules or paths."""
    sections: dict[ObjectRef, set[str]] = {}
    protection_of: dict[ObjectRef, set[frozenset[str]]] = {}
    for rule, parts in protection_at.items():
        sections.setdefault(rule.object, set()).add(rule.section)
        protection_of.setdefault(rule.object, set()).update(parts)
    whole = {route for route, names in sections.items() if "" in names or names == {*world.topology.sections(route)}}
    return {
        route: min(parts) if len(parts) == 1 and route in whole else _DIFFERING
        for route, parts in protection_of.items()
    }


def _protection(world: LintWorld, backend: ObjectRef, kind: GroupKind) -> Mapping[ObjectRef, set[str]]:
    """Return the security settings of a kind in force on the way to a backend, by route."""
    node, profile = NodeRef(backend), world.registry.profile(kind)
    paths = [path for path in world.topology.paths(node) if world.topology.carries_traffic(path)]
    routes = [first_route(path) for path in paths]
    parts_of: dict[ObjectRef | None, set[str]] = {route: set() for route in routes}
    for entry in effective_entries(world.analysis, node, paths, kind):
        parts_of[routes[entry.path]].update(protecting_fields(entry.effective.resolution, profile))
    return {route: parts for route, parts in parts_of.items() if route}


@lint_rule("GWP2014", "info")
def duplicate_spec(world: LintWorld) -> Iterator[Finding]:
    """Several policies in a namespace have the same settings for targets of the same kind.

    Every change has to be made in all of them, and a policy that is forgotten is hard to notice. The rule reports three
    or more policies, of kinds that accept several targets.

    Use one policy with several targetRefs, with a selector, or on an object above.

    Source: none; a matter of maintenance.
    """
    groups: dict[tuple[object, ...], list[Resource]] = {}
    for policy, enforcement in world.enforcements:
        profile, spec = world.registry.profile(policy.ref.group_kind), mapping_at(policy.raw, "spec")
        is_fit = profile.policy_class == "inherited" and ("targetRefs" in spec or "targetSelectors" in spec)
        if is_fit and ENFORCEMENT[enforcement.state].in_force:
            settings = {key: held for key, held in spec.items() if key not in profile.references[0]}
            if settings:
                key = (policy.ref.group_kind, policy.ref.namespace, str(settings))
                groups.setdefault(key, []).append(policy)
    for alike in groups.values():
        if len(alike) >= _MIN_REPEATED:
            yield from _repeated(world, alike)


def _repeated(world: LintWorld, alike: Sequence[Resource]) -> Iterator[Finding]:
    attachments = world.analysis.attachments
    targets = {policy.ref: [to.target.object for to in attachments[policy.ref] if to.target] for policy in alike}
    by_targets = grouped((frozenset(obj.group_kind for obj in objects), ref) for ref, objects in targets.items())
    for first, *repeating in by_targets.values():
        if len(repeating) >= _MIN_REPEATED - 1:
            yield Finding(
                subject=first,
                field="spec",
                message=f"sets the same as {some(repeating)}: one policy with several targets could do it",
                related=world.related_to(repeating, "sets the same"),
            )


@lint_rule("GWP2015", "info", "closed world", "profile")
def redundant_policy(world: LintWorld) -> Iterator[Finding]:
    """A policy sets only values that are in force without it.

    Policies above set the same values, so the policy can be deleted. Until then it hides changes of the policies above:
    the old value stays in force where the policy repeats it.

    If the policy should hold the value whatever happens above, nothing is wrong.

    Source: none; a matter of maintenance.
    """
    for policy, enforcement in world.enforcements:
        if ENFORCEMENT[enforcement.state].in_force:
            profile = world.registry.profile(policy.ref.group_kind)
            # Whether it is known what comes of policies together, and nothing else decides on that.
            by_more = profile.by_listener or profile.route_choice or profile.strategy_from_above
            is_foldable = not (profile.all_apply or profile.assumed or by_more)
            same = _equivalent_policies(policy.ref, enforcement, profile) if is_foldable else ()
            if same:
                yield _redundant(world, policy.ref, same)
    for losses in world.losses:
        if losses.enforcement.state == "Overridden" and losses.are_certain:
            causes = {(loss.cause, loss.replacement) for loss in losses.all}
            if causes == {("on the same target", "the same")}:
                yield _redundant(world, losses.policy.ref, sorted({loss.by.object for loss in losses.all}))


def _equivalent_policies(
    policy: ObjectRef, enforcement: Enforcement, profile: PolicyKindProfile
) -> Sequence[ObjectRef]:
    """Return the policies that make this one redundant; none if it is needed, or may be."""
    resolutions = enforcement.resolutions
    if any(len(resolution.contributions_of) == 1 for resolution in resolutions):
        return ()
    policies: set[ObjectRef] = set()
    ends = {effective.resolution: effective.target.object.group_kind for effective in enforcement.outcomes}
    for resolution in resolutions:
        rest = _contributions_without(policy, resolution, profile.at(ends[resolution]))
        if not rest:
            return ()
        policies.update(part.source.object for part in rest)
    return sorted(policies)


def _contributions_without(
    policy: ObjectRef, resolution: Resolution, profile: PolicyKindProfile
) -> Sequence[Contribution]:
    """Return the contributions of other policies if they alone give the same result, else nothing."""
    contributions = resolution.contributions_of[policy]
    rest = [part for part in resolution.contributions if part.source.object != policy]
    targets = {part.source.target for part in contributions}
    in_doubt = resolution.doubts or resolution.rejected or resolution.ignored_sources
    at_targets = any(part.source.target in targets for part in rest)
    further_up = [*resolution.contributions[: len(rest)]] == rest and not at_targets
    if in_doubt or not further_up or any(part.strategy.overrides for part in contributions):
        return ()
    effective = resolution.without_object_values or resolution
    # To merge them takes much longer than to see that they do not say the same.
    for field, leaf in leaves(effective.spec):
        values = (effective_at(part.spec, field) for part in rest) if leaf.source.object == policy else ()
        if values and not any(isinstance(value, Leaf) and same_json(value.value, leaf.value) for value in values):
            return ()
    without = resolve(profile, tuple(rest), PathContext())
    return rest if same_json(plain(without.spec), plain(effective.spec)) else ()


def _redundant(world: LintWorld, policy: ObjectRef, same: Sequence[ObjectRef]) -> Finding:
    verb = "says" if len(same) == 1 else "say"
    return Finding(
        subject=policy,
        field="spec",
        message=f"sets nothing that is not in force without it: {some(same)} {verb} the same",
        certain=world.has_all(policy.group_kind),
        related=world.related_to(same, "sets the same"),
    )
