"""The oracle's verdicts on top of its effective specs: fates of fields, enforcement, and what is affected by what."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model import NodeRef
from tests import oracle, oracle_merging
from tests.oracle_specs import adds_nothing, covers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, ObjectRef
    from tests.oracle import Path
    from tests.oracle_merging import NodeInForce
    from tests.oracle_specs import Field, Flat, Who
    from tests.property.world import Kind, Policy, World


class Fate(NamedTuple):
    """The fate of one declared field."""

    field: Field
    value: Json
    who: Who
    state: str
    by: tuple[Who, ...]


def fates(outcome: NodeInForce) -> list[Fate]:
    """The fate of every field that a part declares."""
    all_fates: list[Fate] = []
    spec = {named(field): leaf for field, leaf in outcome.spec.items()}
    winners = tuple(part.who for part in outcome.parts if part.who in outcome.members)
    for part in outcome.parts:
        for field, (value, who) in part.spec.items():
            name = named(field)
            if who in outcome.rejected:
                all_fates.append(Fate(name, value, who, "rejected", outcome.kept_out.get(who, winners)))
                continue
            covering = [leaf for other, leaf in spec.items() if other == name[: len(other)]]
            by: tuple[Who, ...]
            if covering:
                effective, by = covering[0][1] == who, (covering[0][1],)
            else:
                effective = adds_nothing(value, field, outcome.spec)
                by = _instead(name, spec) or winners
            all_fates.append(
                Fate(name, value, who, "effective" if effective else "superseded", () if effective else by)
            )
    return all_fates


def _instead(field: Field, spec: Flat) -> tuple[Who, ...]:
    """Who set what is in the closest map around a field, if there is any but the whole spec."""
    maps = (field[:length] for length in range(len(field), 0, -1))
    around = ({leaf[1] for other, leaf in spec.items() if covers(place, other)} for place in maps)
    return tuple(sorted(next((found for found in around if found), ())))


def named(field: Field) -> Field:
    """A field as the engine calls it: an element of a list by its name alone."""
    return tuple(key[1:-1] if key.startswith("[") else key for key in field)


def in_force(outcome: NodeInForce) -> set[ObjectRef]:
    """The policies with an effective field, and those that declare none but were not beaten."""
    declaring = {part.who[0] for part in outcome.parts}
    empty = {part.who[0] for part in outcome.parts if not part.spec and part.who in outcome.members}
    return ({leaf[1][0] for leaf in outcome.spec.values()} | empty) & declaring


def affected_by(world: World, node: NodeRef) -> set[ObjectRef]:
    """The policies with at least one effective field at a node, on any path that traffic comes down."""
    found: set[ObjectRef] = set()
    for path, kind in product(oracle.paths_to(world, node), world.kinds):
        outcome = oracle_merging.effective(world, kind, path)
        if outcome and oracle.carries_traffic(path) and not is_below(kind, path):
            found |= in_force(outcome)
    return found


_DOWNWARD: Final = ("Namespace", "GatewayClass", "Gateway", "HTTPRoute", "Service")


def is_below(kind: Kind, path: Path) -> bool:
    """Whether a kind takes effect above the object that a path ends with, or nowhere from there on; and not at that."""
    if kind.direct or not kind.levels:
        return False
    at = [node.object for node in path if (node.object.group_kind, bool(node.section)) in kind.levels]
    if at:
        return path[-1].object not in at
    end = (_DOWNWARD.index(path[-1].object.group_kind.kind), bool(path[-1].section))
    return all((_DOWNWARD.index(level.kind), section) <= end for level, section in kind.levels)


def enforcement(world: World, policy: Policy) -> tuple[str, set[ObjectRef]]:
    """The state of a policy over all its paths, and who beats it."""
    kind = next(kind for kind in world.kinds if kind.name == policy.kind)
    targets, failures = oracle.attached(world, policy)
    if not targets:
        states = ("TargetNotFound", "NotPermitted", "NoEffect")
        return next((state for state in states if state in failures), "Invalid"), set()
    paths = {path for target in targets for path in paths_by_way_of(world, kind, target)}
    carrying = [path for path in paths if oracle.carries_traffic(path)]
    outcomes = [outcome for path in carrying if (outcome := oracle_merging.effective(world, kind, path))]
    if not outcomes:
        return "NoEffect", set()
    everywhere, somewhere, refused = True, False, True
    by: set[ObjectRef] = set()
    for outcome in outcomes:
        own = [fate for fate in fates(outcome) if fate.who[0] == policy.ref]
        holds = {(fate.field, repr(fate.value)) for fate in own if fate.state == "effective"}
        lost = [fate for fate in own if (fate.field, repr(fate.value)) not in holds]
        by |= {who[0] for fate in lost for who in fate.by}
        if policy.ref in in_force(outcome):
            somewhere = True
            everywhere = everywhere and not lost
            continue
        everywhere = False
        if not own:
            by |= in_force(outcome)
        takes_part = {part.who for part in outcome.parts if part.who[0] == policy.ref}
        refused = refused and takes_part <= outcome.rejected
    by -= {policy.ref}
    if somewhere:
        return "Enforced" if everywhere else "PartiallyEnforced", by
    contributes = any(part.who[0] == policy.ref for outcome in outcomes for part in outcome.parts)
    return "Conflicted" if refused and contributes else "Overridden", by


def paths_by_way_of(world: World, kind: Kind, target: NodeRef) -> Iterator[Path]:
    """The paths at whose ends a policy takes effect by way of one target."""
    if kind.direct:
        for end in _direct_ends(world, kind, target):
            yield from oracle.paths_to(world, end)
        return
    full = {path for path in oracle.full_paths(world) if target in path and _holds_something(world, target, path)}
    for path in full or oracle.paths_to(world, target):
        ends = [number for number, node in enumerate(path) if _takes_effect(kind, node, is_last=node == path[-1])]
        if ends and target in path[: ends[-1] + 1]:
            yield path[: ends[-1] + 1]


def _holds_something(world: World, target: NodeRef, path: Path) -> bool:
    """Whether a Namespace holds something on a path that exists; true of any other target."""
    there = [node for node in path if node in oracle.sections(world) and node.object.namespace == target.object.name]
    return target.kind != "Namespace" or bool(there)


def _takes_effect(kind: Kind, node: NodeRef, *, is_last: bool) -> bool:
    if kind.levels:
        return (node.object.group_kind, bool(node.section)) in kind.levels
    return is_last and node.kind not in {"Namespace", "GatewayClass"}


def _direct_ends(world: World, kind: Kind, target: NodeRef) -> list[NodeRef]:
    own_levels = [section for level, section in kind.levels if level == target.object.group_kind]
    if target.section or (own_levels and not any(own_levels)):
        return [target]
    names = oracle.sections(world).get(target, [])
    return [NodeRef(target.object, name) for name in names] or [target]
