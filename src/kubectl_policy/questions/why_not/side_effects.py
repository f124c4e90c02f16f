"""What else an edit changes, beside the effect that it is for: settings, traffic, and where the policy has effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.questions.differences.comparing import effect_changes
from kubectl_policy.questions.differences.counts import owner
from kubectl_policy.questions.differences.traffic import traffic_changes
from kubectl_policy.questions.shared.effects import affected
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.differences.effects import EffectChange, FieldChange
    from kubectl_policy.questions.why_not.case import Case, EffectOn

# Nothing else changes, something does, or something is taken away from somebody else.
Harm: TypeAlias = Literal["none", "some", "loss"]
_HARMS: Final[tuple[Harm, ...]] = ("none", "some", "loss")


class SideEffects(Struct, frozen=True, kw_only=True):
    """What an edit changes beside the effect that it is for."""

    settings: Annotated[int, Meta(description="How many settings of others differ, each counted at each object.", ge=0)]
    objects: Annotated[tuple[ObjectRef, ...], Meta(description="The other objects on which they do.")]
    replaced: Annotated[
        tuple[str, ...],
        Meta(description="Settings of others that would no longer be in force where the effect is wanted."),
    ]
    unprotected: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="Those on which settings that are relevant to security are lost or have other values."),
    ]
    losing: Annotated[tuple[ObjectRef, ...], Meta(description="Routes that answer fewer requests than before.")]
    gaining: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="Routes that answer more requests than before, apart from what is wanted."),
    ]
    lost: Annotated[tuple[NodeRef, ...], Meta(description="Where the policy would have no effect any more.")]
    deletes: Annotated[bool, Meta(description="Whether an object is deleted.")]
    owners: Annotated[
        tuple[str, ...],
        Meta(description="Who owns those objects, if the config file says by which label or annotation."),
    ]
    owner_key: str

    @property
    def harm(self) -> Annotated[Harm, Meta()]:
        """none; some; or loss, if something is taken away from somebody else."""
        if self.unprotected or self.losing or self.lost or self.deletes:
            return "loss"
        return "some" if self.settings or self.gaining or self.replaced else "none"

    @property
    def rank(self) -> tuple[int, bool, int, int]:
        """What sorts the least of them first: how bad they are, then how many objects they concern, then settings."""
        concerned = len({*self.objects, *self.gaining, *self.losing}) + len(self.lost)
        return _HARMS.index(self.harm), self.deletes, concerned, self.settings + len(self.replaced)


def side_effects(case: Case, comparison: StateComparison, effect: EffectOn, owner_key: str) -> SideEffects:
    """What an edit changes beside the effect of a policy on a node, which is given as it is then."""
    policy = case.policy.ref
    elsewhere: dict[tuple[ObjectRef, GroupKind, str], FieldChange] = {}
    replaced: dict[str, None] = {}
    # An edit of a route changes the paths through it alone, which saves a look at those of all other routes.
    routes_alone = all(obj.group_kind in ROUTES for obj in comparison.changed)
    pairs = comparison.pairs(comparison.changed if routes_alone else None)
    for change in effect_changes(comparison, pairs, scoped=0):
        if change.where == "kept":
            for found, is_wanted_there in _objects(case, change):
                for field in change.fields:
                    if not is_wanted_there:
                        elsewhere[found, change.policy_kind, field.field] = field
                    elif field.sort == "lost" and field.before and field.before.source.object != policy:
                        replaced[field.field] = None
    traffic = traffic_changes(comparison)
    on_paths = {node.object for path in effect.paths for node in path if node.object.group_kind in ROUTES}
    # A route on the way to the node is to get requests, but from no more listeners if it gets some.
    gaining = {
        each.route
        for each in traffic.gained.routes
        if each.route not in on_paths or (each in traffic.gained.some and each.lost)
    }
    losing = {each.route for each in (*traffic.lost.routes, *traffic.uncontrolled)} - comparison.deleted
    old, new = (affected(state.enforcement(policy), case.profile) for state in (comparison.before, comparison.after))
    kept, index = frozenset(new), comparison.before.index
    objects = {obj for obj, _, _ in elsewhere}
    owners = {owner(index, obj, owner_key) for obj in objects | gaining | losing} if owner_key else set[str]()
    return SideEffects(
        settings=len(elsewhere),
        objects=tuple(sorted(objects)),
        replaced=tuple(replaced),
        unprotected=tuple(sorted({obj for (obj, _, _), field in elsewhere.items() if field.harmful})),
        losing=tuple(sorted(losing)),
        gaining=tuple(sorted(gaining)),
        lost=tuple(node for node in old if node not in kept),
        deletes=bool(comparison.deleted),
        owners=tuple(sorted(owners - {""})),
        owner_key=owner_key,
    )


def _objects(case: Case, change: EffectChange) -> Iterator[tuple[ObjectRef, bool]]:
    """What a change concerns, and whether that is the node that is asked about, or on its paths alone.

    Where routes are concerned, what is above or behind them on the same paths says nothing more.
    """
    target = case.target
    through = {
        place
        for place, path in enumerate(change.paths)
        if any(node == target or (not target.section and node.object == target.object) for node in path)
    }
    routes = [found for found in change.objects if found.node.object.group_kind in ROUTES]
    yield from ((found.node.object, through.issuperset(found.paths)) for found in routes or change.objects)
