"""An edit of one object, the fields that it changes, and its side effects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE
from kubectl_policy.questions.differences.comparing import effect_changes
from kubectl_policy.questions.differences.serving import owner
from kubectl_policy.questions.differences.traffic import traffic_changes
from kubectl_policy.questions.shared.effects import affected_nodes

if TYPE_CHECKING:
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.differences.effects import EffectChange, FieldChange
    from kubectl_policy.questions.why_not.no_effect import Case, EffectOn

Action: TypeAlias = Literal["change", "create", "delete"]


class FieldEdit(Struct, frozen=True):
    """An edited field of an object.

    An item that is taken out of a list has the position that it had, an item that is put in the one that it gets.
    """

    path: FieldPath
    removed: Annotated[tuple[Json, ...], Meta(description="The old value; empty if there is none.", max_length=1)]
    added: Annotated[tuple[Json, ...], Meta(description="The new value; empty if there is none.", max_length=1)]

    @property
    def field(self) -> Annotated[str, Meta()]:
        """The field, for people."""
        return str(self.path)

    @property
    def path_(self) -> Annotated[tuple[str | int, ...], Meta()]:
        """The path of the field: keys, and positions in lists from 0."""
        return tuple(step for step in self.path.steps if isinstance(step, str | int))


class Edit(Struct, frozen=True, dict=True):
    """An edit of one object: `before` is None if it is created, `after` if it is deleted."""

    before: Resource | None
    after: Resource | None

    @property
    def action(self) -> Annotated[Action, Meta()]:
        """The type of the edit."""
        if self.before is None:
            return "create"
        return "change" if self.after else "delete"

    @property
    def object(self) -> Annotated[ObjectRef, Meta()]:
        """The object that is edited."""
        resource = self.after or self.before
        assert resource  # noqa: S101 (an edit of nothing is none)
        return resource.ref

    @cached_property
    def changes(self) -> Annotated[tuple[FieldEdit, ...], Meta()]:
        """The edited fields; empty if the object is created or deleted."""
        return tuple(_field_edits(self.before.raw, self.after.raw, WHOLE)) if self.before and self.after else ()

    @property
    def field(self) -> str:
        """The first place that is changed, as far as the object has it already; empty if it is the whole object."""
        changes = self.changes
        if not changes:
            return ""
        return str(changes[0].path if changes[0].removed else changes[0].path.parent)

    @property
    def size(self) -> int:
        """Number of lines that it takes to write the edit down; a replaced line counts once."""
        if self.after is None:
            return 1
        if self.before is None:
            return _lines(self.after.raw)
        return sum(max(len(change.removed), len(change.added)) for change in self.changes)


def edited(resource: Resource, *values: tuple[FieldPath, Json], without: Iterable[FieldPath] = ()) -> Iterator[Edit]:
    """The edit that takes fields from an object, then gives others values; none if it could not, or changes nothing.

    No edit can name a namespace that nothing says.
    """
    raw: Json = resource.raw
    try:
        for path in without:
            raw = path.remove(raw)
        for path, value in values:
            raw = path.put(raw, value)
    except LookupError:
        return
    edit = Edit(resource, replace(resource, raw=cast("Mapping[str, Json]", raw)))
    written = (text for change in edit.changes for value in change.added for text in strings_in(value))
    if edit.changes and not any(text.startswith(UNKNOWN_NAMESPACE) for text in written):
        yield edit


def _field_edits(before: Json, after: Json, path: FieldPath) -> Iterator[FieldEdit]:
    """Compare an object with its edited copy, in the order of the fields; shared parts are skipped."""
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            if key in before and key in after:
                yield from _field_edits(before[key], after[key], path / key)
            else:
                removed = (before[key],) if key in before else ()
                added = (after[key],) if key in after else ()
                yield FieldEdit(path / key, removed, added)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _item_edits(before, after, path)
    elif before != after or type(before) is not type(after):
        yield FieldEdit(path, (before,), (after,))


def _item_edits(before: list[Json], after: list[Json], path: FieldPath) -> Iterator[FieldEdit]:
    if len(before) == len(after):
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _field_edits(old, new, path / position)
        return
    shorter = min(len(before), len(after))
    first = next((position for position in range(shorter) if before[position] is not after[position]), shorter)
    rest = shorter - first
    last = next((position for position in range(rest) if before[-1 - position] is not after[-1 - position]), rest)
    for position in range(first, len(before) - last):
        yield FieldEdit(path / position, (before[position],), ())
    for position in range(first, len(after) - last):
        yield FieldEdit(path / position, (), (after[position],))


def _lines(value: Json) -> int:
    """Count the lines of a value that is written out, one for each field and each plain item."""
    if not value or not isinstance(value, list | Mapping):
        return 1
    if isinstance(value, Mapping):
        return sum(_lines(child) + bool(child and isinstance(child, list | Mapping)) for child in value.values())
    return sum(map(_lines, value))


# Nothing else changes, something does, or something is taken away from somebody else.
Harm: TypeAlias = Literal["none", "some", "loss"]
HARMS: Final[tuple[Harm, ...]] = ("none", "some", "loss")


class SideEffects(Struct, frozen=True, kw_only=True):
    """The side effects of an edit."""

    settings: Annotated[
        int, Meta(description="The number of changed settings of other objects, counted once per object.", ge=0)
    ]
    objects: Annotated[tuple[ObjectRef, ...], Meta(description="The other objects whose settings change.")]
    replaced: Annotated[
        tuple[str, ...], Meta(description="Settings of other policies that the edit would replace on the target.")
    ]
    unprotected: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="The objects that lose settings relevant to security, or get other values for them."),
    ]
    losing: Annotated[tuple[ObjectRef, ...], Meta(description="Routes that receive fewer requests than before.")]
    gaining: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="Routes that receive more requests than before, except for the wanted effect."),
    ]
    lost: Annotated[
        tuple[NodeRef, ...], Meta(description="The nodes on which the policy would have no effect any more.")
    ]
    deletes: Annotated[bool, Meta(description="Whether an object is deleted.")]
    owners: Annotated[
        tuple[str, ...],
        Meta(description="The owners of these objects, if the config file names a label or annotation for owners."),
    ]
    owner_key: str

    @property
    def harm(self) -> Annotated[Harm, Meta()]:
        """none: no side effects; some: side effects without loss; loss: traffic, protection or an effect is lost."""
        if self.unprotected or self.losing or self.lost or self.deletes:
            return "loss"
        return "some" if self.settings or self.gaining or self.replaced else "none"

    @property
    def rank(self) -> tuple[int, bool, int, int]:
        """Sort key, the least harmful first: by harm, by the number of objects concerned, by settings."""
        concerned = len({*self.objects, *self.gaining, *self.losing}) + len(self.lost)
        return HARMS.index(self.harm), self.deletes, concerned, self.settings + len(self.replaced)


def side_effects(case: Case, comparison: StateComparison, effect: EffectOn, owner_key: str) -> SideEffects:
    """Collect the changes of an edit beside the effect that it is for."""
    policy = case.policy.ref
    elsewhere: dict[tuple[ObjectRef, GroupKind, str], FieldChange] = {}
    replaced: dict[str, None] = {}
    # An edit of a route changes the paths through it alone, which saves a look at those of all other routes.
    routes_alone = all(obj.group_kind in ROUTES for obj in comparison.changed)
    pairs = comparison.pairs(comparison.changed if routes_alone else None)
    for change in effect_changes(comparison, pairs, scoped=0):
        if change.where == "kept":
            for obj, is_wanted_there in _objects(case, change):
                for field in change.fields:
                    if not is_wanted_there:
                        elsewhere[obj, change.policy_kind, field.field] = field
                    elif field.sort == "lost" and field.before and field.before.source.object != policy:
                        replaced[field.field] = None
    traffic = traffic_changes(comparison)
    on_paths = {node.object for path in effect.paths for node in path if node.object.group_kind in ROUTES}
    # A route on the way to the node is to get requests, but from no more listeners if it gets some.
    gaining = {
        gained.route
        for gained in traffic.gained.routes
        if gained.route not in on_paths or (gained in traffic.gained.some and gained.lost)
    }
    losing = {lost.route for lost in (*traffic.lost.routes, *traffic.uncontrolled)} - comparison.deleted
    old, new = (
        affected_nodes(state.enforcement(policy), case.profile) for state in (comparison.before, comparison.after)
    )
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
    """Objects of a change, and for each whether it is on paths of the target alone.

    Where routes are concerned, what is above or behind them on the same paths says nothing more.
    """
    target = case.target
    through = {position for position, path in enumerate(change.paths) if any(target.includes(node) for node in path)}
    routes = [changed for changed in change.objects if changed.node.object.group_kind in ROUTES]
    yield from ((changed.node.object, through.issuperset(changed.paths)) for changed in routes or change.objects)
