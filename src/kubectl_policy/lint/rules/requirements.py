"""Requirements of the config file, reach, and owners of policies (GWP9001, GWP9002, and GWP9005 to GWP9007)."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.lint.finding import MAX_RELATED, Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import labels_of, mapping_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY, NAMESPACE, ROUTES
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.load import built_in_groups
from kubectl_policy.questions.blind_spots.answers import blind_spots_in_settings
from kubectl_policy.questions.blind_spots.unknowns import unknown_parents
from kubectl_policy.questions.differences.serving import owner, routes_behind
from kubectl_policy.questions.shared.effects import affected_nodes, covered_paths, policy_outcomes
from kubectl_policy.questions.shared.in_force import EffectiveEntry, effective_entries
from kubectl_policy.questions.shared.selection import is_called
from kubectl_policy.resolution import Resolution, plain
from kubectl_policy.resolution.enforcement import ENFORCEMENT, Enforcement
from kubectl_policy.topology.references import hostnames_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.settings import Requirement
    from kubectl_policy.topology import Path
    from kubectl_policy.validation.expressions import Result, Seen

# What an expression may call beside the settings; without these it is the same wherever the same policies meet.
_SURROUNDINGS: Final = re.compile(r"\b(?:route|gateway|listener)\b")

_MAX_RELATED: Final = 10


@lint_rule("GWP9001", "error", "configuration", guards=True)
def route_without_required_policy(world: LintWorld) -> Iterator[Finding]:
    """A route lacks a policy, or a setting of a policy, that the config file requires.

    The rule checks the settings in force on each path of requests to the route, not the attached policies: a policy
    that is overridden, or that applies to another listener, protects nothing. Settings that may be in force, because
    some input was not read, are unknown.

    Source: `policies` in the config file; kiali KIA1301 and EG#6887 are requests for such a check.
    """
    for requirement in world.settings.requirements:
        if requirement.check and not requirement.required:
            continue
        kinds = _kinds(world, requirement)
        for route in filter(requirement.routes.has, world.routes):
            lacking: list[tuple[NodeRef, Path]] = []
            unseen = ""
            for rule, paths, entries in _settings_of_rules(world, requirement, route, kinds):
                by_path = grouped((entry.path, entry.effective.resolution) for entry in entries)
                bare = [
                    path for position, path in enumerate(paths) if not _fulfils(by_path.get(position, ()), requirement)
                ]
                lacking += [(rule, path) for path in bare]
                unseen = unseen or (_blind_spot(world, rule, kinds) if bare else "")
            if lacking:
                yield _not_covered(world, requirement, route, lacking, unseen)


def _kinds(world: LintWorld, requirement: Requirement) -> list[GroupKind]:
    registry = world.registry
    known = {*registry.profiled(built_in_groups()), *(profile.group_kind for profile in registry.policy_kinds)}
    names = [(kind, registry.kind_names(kind)) for kind in sorted(known)]
    return [kind for kind, called in names if any(is_called(called, name) for name in requirement.policies)]


def _settings_of_rules(
    world: LintWorld, requirement: Requirement, route: Resource, kinds: Sequence[GroupKind]
) -> Iterator[tuple[NodeRef, Sequence[Path], Iterator[EffectiveEntry]]]:
    """Yield the rules of a route, the paths to them to which a requirement applies, and the settings in force there."""
    for section in world.topology.sections(route.ref):
        rule = NodeRef(route.ref, section)
        every = covered_paths(world.analysis, rule)
        paths = [path for path in every if requirement.routes.leads(path) and world.topology.carries_traffic(path)]
        if paths:
            by_kind = [effective_entries(world.analysis, rule, paths, kind) for kind in kinds]
            yield rule, paths, chain.from_iterable(by_kind)


def _fulfils(resolutions: Sequence[Resolution], requirement: Requirement) -> bool:
    return any(
        resolution.policies_in_force - resolution.policies_undecided
        and all(value_at(plain(resolution.spec), field) is not None for field in requirement.fields)
        for resolution in resolutions
    )


def _blind_spot(world: LintWorld, rule: NodeRef, kinds: Sequence[GroupKind]) -> str:
    """Return the blind spot because of which the policy may be in force after all, or ""."""
    covered = covered_paths(world.analysis, rule)
    in_settings = blind_spots_in_settings(world.analysis, rule, covered, frozenset(kinds))
    unseen = (*in_settings, *unknown_parents(world.analysis, [rule.object]))
    return next((f"{blind_spot.what} {blind_spot.reason}" for blind_spot in unseen), "")


def _not_covered(
    world: LintWorld, requirement: Requirement, route: Resource, lacking: Sequence[tuple[NodeRef, Path]], unseen: str
) -> Finding:
    policies = " or ".join(requirement.policies)
    fields = f" with {' and '.join(requirement.fields)}" if requirement.fields else ""
    rules = list(dict.fromkeys(rule for rule, _ in lacking))
    every = world.topology.sections(route.ref)
    where = "" if len(rules) == len(every) else f" for {some([rule.section for rule in rules])}"
    through = sorted({_entrance(path) for _, path in lacking})
    gateways = {node.object for _, path in lacking for node in path if node.object.group_kind == GATEWAY}
    message = f"no {policies}{fields} is in force{where}, for requests through {some(through)}"
    text = f"{requirement.name}: {requirement.message or message}"
    first = every.index(rules[0].section)
    return Finding(
        subject=route.ref,
        field=f"spec.rules[{first}]" if where else "",
        message=f"{text}; {unseen}" if unseen else text,
        certain=not unseen,
        severity=requirement.severity,
        related=tuple(map(world.related, sorted(gateways))),
    )


def _entrance(path: Path) -> str:
    first = next((node for node in path if node.section), path[0])
    return f"listener {first.section} of {first.object}" if first.object.group_kind == GATEWAY else str(first)


@lint_rule("GWP9002", "error", "configuration")
def setting_out_of_bounds(world: LintWorld) -> Iterator[Finding]:
    """A setting in force does not meet a requirement of the config file.

    The CEL expression in `check` of a requirement is evaluated for the settings in force on each path of requests to a
    route, after defaults, overrides and merging. An expression that cannot be evaluated, for example because a field is
    not set, does not hold: write `has(policy.timeout)` or `policy.?timeout` for optional fields.

    Source: `policies` in the config file, with Common Expression Language (https://cel.dev).
    """
    for requirement in world.settings.requirements:
        if requirement.check:
            kinds = _kinds(world, requirement)
            results: dict[tuple[object, ...], Result] = {}
            outside: dict[Resolution, list[tuple[NodeRef, Result]]] = {}
            for route in filter(requirement.routes.has, world.routes):
                for rule, paths, entries in _settings_of_rules(world, requirement, route, kinds):
                    for entry in entries:
                        resolution = entry.effective.resolution
                        result = _checked(world, requirement, route, paths[entry.path], resolution, results)
                        if result.value is not True:
                            outside.setdefault(resolution, []).append((rule, result))
            for resolution, failed_checks in outside.items():
                yield _out_of_bounds(world, requirement, resolution, failed_checks)


def _checked(  # noqa: PLR0913, PLR0917 (all that decides on the result)
    world: LintWorld,
    requirement: Requirement,
    route: Resource,
    path: Path,
    resolution: Resolution,
    known: dict[tuple[object, ...], Result],
) -> Result:
    """Evaluate the check of a requirement; results that depend on the resolution alone are shared."""
    local = bool(_SURROUNDINGS.search(requirement.check))
    key = (resolution, *((path,) if local else ()))
    if key not in known:
        variables = cast("dict[str, Seen]", {"policy": plain(resolution.spec), **_surroundings(world, route, path)})
        (known[key],) = world.analysis.evaluator.evaluate_with([requirement.check], variables)
    return known[key]


def _surroundings(world: LintWorld, route: Resource, path: Path) -> dict[str, object]:
    """Return the route, Gateway and listener on a path as variables of expressions."""
    listener = world.topology.listener_on(path)
    gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
    return {
        "route": _object_variables(route) | {"hostnames": list(hostnames_of(world.index, route.ref))},
        "gateway": _object_variables(world.index.get(gateway) if gateway else None),
        "listener": {
            "name": listener.node.section,
            "protocol": listener.protocol,
            "port": listener.port,
            "hostname": listener.hostname,
        }
        if listener
        else {},
    }


def _object_variables(resource: Resource | None) -> dict[str, object]:
    if resource is None:
        return {}
    ref, annotations = resource.ref, mapping_at(resource.raw, "metadata.annotations")
    return {
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "labels": labels_of(resource.raw),
        "annotations": {key: text for key, text in annotations.items() if isinstance(text, str)},
    }


def _out_of_bounds(
    world: LintWorld, requirement: Requirement, resolution: Resolution, failed_checks: Sequence[tuple[NodeRef, Result]]
) -> Finding:
    """Return one finding for a resolution, about its most specific policy."""
    objects = (part.source.object for part in resolution.contributions)
    policies = [policy for policy in objects if policy in resolution.policies_in_force]
    subject = policies[-1]
    routes = sorted({rule.object for rule, _ in failed_checks})
    problem = failed_checks[0][1].problem
    message = requirement.message or f"not so: {requirement.check}"
    why = f" (it cannot be evaluated: {problem})" if problem else ""
    undecided = bool(resolution.undecided)
    return Finding(
        subject=subject,
        message=f"{requirement.name}: {message}{why}, in force on {some(routes)}",
        certain=not undecided and not world.analysis.evaluator.obstacle,
        severity=requirement.severity,
        related=(
            *(world.related(policy, "in force as well") for policy in dict.fromkeys(policies) if policy != subject),
            *(world.related(route, "affected") for route in routes[:MAX_RELATED]),
        ),
    )


@lint_rule("GWP9005", "info", "configuration")
def wide_blast_radius(world: LintWorld) -> Iterator[Finding]:
    """A policy affects many routes, so changes of it deserve a second review.

    The config file sets the number of routes (`widest`). The rule counts routes for which a setting of the policy is in
    force, and routes behind the Gateways and listeners at which the policy takes effect.

    `blast-radius` shows what deleting the policy would change.

    Source: GEP-713, "How many things does this policy affect?".
    """
    least = world.settings.widest
    for policy, enforcement in world.enforcements if least else ():
        routes = _routes(world, enforcement)
        if len(routes) >= least:
            namespaces = {route.namespace for route in routes}
            where = f"in {len(namespaces)} namespaces" if len(namespaces) > 1 else f"in namespace {min(namespaces)}"
            message = f"affects {len(routes):,} routes {where}: {some(routes)}"
            yield Finding(subject=policy.ref, message=message)


@lint_rule("GWP9006", "info", "configuration")
def cross_team_influence(world: LintWorld) -> Iterator[Finding]:
    """A policy of one team affects routes of other teams.

    A label or annotation of the objects or their Namespace, which the config file names (`owner`), identifies owners.
    The owners of the routes may not know of the policy, and may not be allowed to read it. The finding is an info,
    because platform teams have good reasons for such policies.

    Source: GEP-713, "Gateway API personas and the discoverability problem".
    """
    key = world.settings.owner
    owners: dict[ObjectRef, str] = {}
    for policy, enforcement in world.enforcements if key else ():
        ours = owner(world.index, policy.ref, key)
        routes = [route for route in _routes(world, enforcement) if ours]
        for route in routes:
            if route not in owners:
                owners[route] = owner(world.index, route, key)
        theirs = [route for route in routes if owners[route] not in {"", ours}]
        if theirs:
            teams = sorted({owners[route] for route in theirs})
            yield Finding(
                subject=policy.ref,
                message=f"is owned by {ours}, and affects {some(theirs)} of {some(teams)}",
                related=tuple(world.related(route, f"owned by {owners[route]}") for route in theirs[:_MAX_RELATED]),
            )


@lint_rule("GWP9007", "info", "closed world", "configuration")
def owner_label_missing(world: LintWorld) -> Iterator[Finding]:
    """Neither a policy nor its Namespace names an owner.

    People on call do not know whom to ask if the policy does harm. The config file names the label or annotation
    (`owner`). If the Namespace was not read, the result is unknown.

    Source: GEP-713, "Gateway API personas and the discoverability problem".
    """
    key = world.settings.owner
    for policy in world.policies if key else ():
        if not owner(world.index, policy.ref, key):
            home = ObjectRef(NAMESPACE, "", policy.ref.namespace)
            known = not policy.ref.namespace or world.index.get(home) or world.has_all(NAMESPACE)
            yield Finding(
                subject=policy.ref,
                field="metadata",
                message=f"has no label or annotation {key}" + ("" if known else f", and {home} was not read"),
                certain=bool(known),
                fix=Fix(words=f"add the label {key}"),
            )


def _routes(world: LintWorld, enforcement: Enforcement) -> list[ObjectRef]:
    """Return the routes that a policy affects, on its paths or behind its targets, sorted."""
    if not ENFORCEMENT[enforcement.state].in_force:
        return []
    outcomes = (outcome.effective for outcome in policy_outcomes(enforcement) if outcome.in_force)
    routes = {node.object for effective in outcomes for node in effective.path if node.object.group_kind in ROUTES}
    profile = world.registry.profile(enforcement.policy.group_kind)
    nodes = affected_nodes(enforcement, profile)
    return sorted(routes or {target.route for target in routes_behind(world.analysis, nodes)})
