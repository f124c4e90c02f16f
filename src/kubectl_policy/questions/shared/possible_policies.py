"""Policies that may affect an object: whether a route is attached below their targets is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.questions.shared.in_force import effective_entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.topology import Path


class PossiblePolicy(Struct, frozen=True, kw_only=True):
    """A policy that affects the subject if a route is attached."""

    policy: Annotated[ObjectRef, Meta(description="The policy.")]
    route: Annotated[ObjectRef, Meta(description="The route.")]
    parent: Annotated[NodeRef, Meta(description="The listener, or the object, to which the route may be attached.")]
    message: Annotated[str, Meta(description="What is not known about that, for people.")]


def possible_policies(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], certain: Collection[ObjectRef]
) -> tuple[PossiblePolicy, ...]:
    """Return the policies that may affect a subject, beside those that are known to, each for its first cause; sorted.

    Filters and parameters are left out, as are policies that take effect only on what is below the subject.
    """
    causes: dict[ObjectRef, PossiblePolicy] = {}
    for possible in analysis.topology.possible_routes.paths(paths):
        for entry in effective_entries(analysis, subject, [possible.path]):
            for policy in () if entry.passes_down else entry.effective.resolution.policies_in_force:
                if policy not in certain and analysis.registry.profile(policy.group_kind).role == "policy":
                    cause = possible.route
                    causes.setdefault(
                        policy,
                        PossiblePolicy(policy=policy, route=cause.route, parent=cause.parent, message=cause.message),
                    )
    return tuple(causes[policy] for policy in sorted(causes))
