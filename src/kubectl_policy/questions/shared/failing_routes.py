"""Routes of which requests get an error response, since a policy that would hold there is not valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.attachment.attachments import AsIfValid
from kubectl_policy.attachment.validity import FAILING_REQUESTS
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.world import grouped_by
from kubectl_policy.resolution import Resolver, paths_by_way_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind
    from kubectl_policy.topology import Path


class FailingRoute(Struct, frozen=True, kw_only=True):
    """A route whose requests get an error response, because a policy for the route is invalid."""

    route: Annotated[ObjectRef, Meta(description="The route.")]
    policy: Annotated[ObjectRef, Meta(description="The invalid policy.")]
    message: Annotated[str, Meta(description="The reason why the policy is invalid.")]
    paths: tuple[Path, ...]
    """The paths from the root to the rules that are concerned."""
    whole: Annotated[bool, Meta(description="Whether all requests of the route fail.")]

    @property
    def rules(self) -> Annotated[tuple[NodeRef, ...], Meta()]:
        """The affected rules, each once."""
        return tuple(dict.fromkeys(path[-1] for path in self.paths))


def failing_routes(analysis: Analysis) -> tuple[FailingRoute, ...]:
    """The routes that fail for a policy, by route and policy; nothing is computed where there is no such policy.

    Every policy is looked at for that: what is wrong with one is not said by its targets.
    """
    paths: dict[tuple[ObjectRef, ObjectRef], dict[Path, None]] = {}
    messages: dict[ObjectRef, str] = {}
    for policy, message, path in _of_rules(analysis, _failing(analysis)):
        paths.setdefault((path[-1].object, policy), {})[path] = None
        messages.setdefault(policy, message)
    failing: dict[ObjectRef, set[Path]] = {}
    for (route, _), route_paths in paths.items():
        failing.setdefault(route, set()).update(route_paths)
    whole = {route for route, route_paths in failing.items() if _paths_to_rules(analysis, route) <= route_paths}
    return tuple(
        FailingRoute(
            route=route, policy=policy, message=messages[policy], paths=tuple(route_paths), whole=route in whole
        )
        for (route, policy), route_paths in sorted(paths.items(), key=lambda item: item[0])
    )


def newly_failing(before: Collection[FailingRoute], after: Collection[FailingRoute]) -> tuple[FailingRoute, ...]:
    """The routes that fail in the later one of two states on paths on which they do not in the earlier one."""
    known = {path for failing in before for path in failing.paths}
    new = ((failing, tuple(path for path in failing.paths if path not in known)) for failing in after)
    return tuple(replace(failing, paths=paths) for failing, paths in new if paths)


def failing_through(analysis: Analysis, subject: NodeRef) -> Iterator[FailingRoute]:
    """The routes that fail on paths that lead to an object or a section, or through it."""
    through = (node.object for path in analysis.topology.paths_through(subject) for node in path)
    targeting = (attachment for obj in dict.fromkeys(through) for attachment in analysis.attachments_to(obj))
    if not any(attachment.fails_requests for attachment in targeting):
        return
    for failing in failing_routes(analysis):
        paths = tuple(path for path in failing.paths if any(subject.includes(node) for node in path))
        if paths:
            yield replace(failing, paths=paths)


def possibly_failing_below(analysis: Analysis, subject: NodeRef) -> Iterator[ObjectRef]:
    """The routes that fail wherever they are attached, and may be attached to an object or section, or below it.

    Placeholders leave that open; without any, no other policies are looked at.
    """
    for _, policies in _failing_policies(analysis) if analysis.has_placeholders else ():
        for target in (target for policy in policies for target in _failed_targets(analysis, policy)):
            is_route = target.object.group_kind in ROUTES
            for possible in analysis.topology.possible_routes.parents_of(target.object) if is_route else ():
                paths = analysis.topology.paths(possible.parent)
                if any(subject.includes(node) for path in paths for node in path):
                    yield target.object


def _of_rules(
    analysis: Analysis, failing: Iterable[tuple[ObjectRef, str, Path]]
) -> Iterator[tuple[ObjectRef, str, Path]]:
    """Reduce failing paths to those of rules; a rule fails if the paths to all of its backends do."""
    backends: dict[Path, dict[NodeRef, tuple[ObjectRef, str]]] = {}
    for policy, message, path in failing:
        last = max((position for position, node in enumerate(path) if node.object.group_kind in ROUTES), default=None)
        if last == len(path) - 1:
            yield policy, message, path
        elif last is not None:
            backends.setdefault(path[: last + 1], {}).setdefault(path[-1], (policy, message))
    for path, failed_backends in backends.items():
        if all(
            any(end.includes(backend) for end in failed_backends) for backend in analysis.topology.children(path[-1])
        ):
            yield from ((policy, message, path) for policy, message in dict.fromkeys(failed_backends.values()))


def _failing(analysis: Analysis) -> Iterator[tuple[ObjectRef, str, Path]]:
    """Each policy that makes requests fail, why it is not valid, and a path on which it would hold."""
    for kind, policies in _failing_policies(analysis):
        profile = analysis.registry.profile(kind)
        resolver = Resolver(analysis.topology, analysis.registry, AsIfValid(analysis.attachments, kind))
        for policy in policies:
            message = next(reference.message for reference in analysis.attachments[policy] if reference.fails_requests)
            for path in paths_by_way_of(_failed_targets(analysis, policy), profile, analysis.topology):
                effective = resolver.effective_of(kind, path)
                resolution = effective.resolution if effective else None
                if resolution is None or not analysis.topology.carries_traffic(path):
                    continue
                takes_part = policy in resolution.contributions_of and not profile.default_strategy.replaces
                if takes_part or policy in resolution.policies_in_force:
                    yield policy, message.removesuffix(FAILING_REQUESTS), path


def _failing_policies(analysis: Analysis) -> Iterable[tuple[GroupKind, list[ObjectRef]]]:
    """Return the policies that make requests fail, by their kinds."""
    kinds = [profile.group_kind for profile in analysis.registry.policy_kinds if profile.when_invalid == "errors"]
    every = (ref for kind in kinds for ref in analysis.index.world.refs_of(kind))
    failing = (ref for ref in every if any(reference.fails_requests for reference in analysis.attachments[ref]))
    return grouped_by(failing, lambda ref: ref.group_kind).items()


def _failed_targets(analysis: Analysis, policy: ObjectRef) -> list[NodeRef]:
    """Return the targets at which a policy makes requests fail."""
    failed = (reference for reference in analysis.attachments[policy] if reference.fails_requests)
    return [reference.target for reference in failed if reference.target]


def _paths_to_rules(analysis: Analysis, route: ObjectRef) -> set[Path]:
    """The paths on which requests reach the rules of a route."""
    through = (
        path for path in analysis.topology.paths_through(NodeRef(route)) if analysis.topology.carries_traffic(path)
    )
    return {
        path[: position + 1]
        for path in through
        for position, node in enumerate(path)
        if node.object == route and node.section
    }
