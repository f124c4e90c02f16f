"""The oracle's enforcement of policies and differences between two states, by the sentences of the semantics alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from kubectl_policy.model import Json, NodeRef, ObjectRef
from tests import oracle, oracle_merging
from tests.oracle import Path
from tests.oracle_merging import NodeInForce
from tests.oracle_specs import Field, Flat, Who, adds_nothing, covers
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


# What stands at a field: its value and who set it; a value of None removes the field.
Leaf: TypeAlias = "tuple[Json, Who]"


class Place(NamedTuple):
    """A field of a kind on a path; without a name it is about a policy that declares no field."""

    kind: str
    path: Path
    field: str


class Difference(NamedTuple):
    """The leaf at a place in each world; None where there is none.

    It is `in_passing` if the path is in one world alone, and the way to its end is in the other one as well: so it is
    with a listener, which is the end of a path until it gets its first route.
    """

    place: Place
    before: Leaf | None
    after: Leaf | None
    in_passing: bool


class Verdict(NamedTuple):
    """The state of a policy in each world, None where it does not exist, and the policies that beat it then."""

    before: str | None
    after: str | None
    by: frozenset[ObjectRef]


def differences(before: World, after: World) -> Iterator[Difference]:
    """Yield every field that differs."""
    for kind in before.kinds:
        old, new = _ends(before, after, kind), _ends(after, before, kind)
        for path, earlier, later in _matched(old, new):
            one, other = _outcome(before, kind, earlier), _outcome(after, kind, later)
            in_passing = not (earlier and later) and _leads_to_its_end(path, after if earlier else before)
            for field, old_leaf, new_leaf in _differing(kind, one, other):
                yield Difference(Place(kind.name, path, field), old_leaf, new_leaf, in_passing)


def _leads_to_its_end(path: Path, world: World) -> bool:
    """Whether the way to the last object of a path, or to the section of it that is the end, is in a world.

    A Service to which no route leads has a way of its own, which neither ends nor begins where a route begins or ends.
    """
    if path[0].kind == "Namespace" and path[-1].kind == "Service" and _exists(world, path[-1]):
        return all(node.kind in {"Namespace", "Service"} for node in path)
    ends = {NodeRef(path[-1].object), path[-1]}
    return any(_exists(world, end) and path[: path.index(end) + 1] in oracle.paths_to(world, end) for end in ends)


def verdicts(before: World, after: World) -> dict[ObjectRef, Verdict]:
    """Return the policies whose state differs."""
    changed: dict[ObjectRef, Verdict] = {}
    for policy in sorted({policy.ref for world in (before, after) for policy in world.policies}):
        (old, superseded), (new, by) = _verdict(before, policy), _verdict(after, policy)
        if (old, superseded) != (new, by):
            changed[policy] = Verdict(old, new, frozenset(by))
    return changed


def _verdict(world: World, ref: ObjectRef) -> tuple[str | None, set[ObjectRef]]:
    policy = next((policy for policy in world.policies if policy.ref == ref), None)
    return enforcement(world, policy) if policy else (None, set())


def _ends(world: World, other: World, kind: Kind) -> set[Path]:
    """The paths with traffic at whose ends the policies of either world would take effect in this one."""
    targets = {
        target
        for one in (world, other)
        for policy in one.policies
        if policy.kind == kind.name
        for target in oracle.attached(one, policy)[0]
    }
    there = {target for target in targets if _exists(world, target)}
    paths = {path for target in there for path in paths_by_way_of(world, kind, target)}
    return {path for path in paths if oracle.carries_traffic(path)}


def _exists(world: World, node: NodeRef) -> bool:
    names = oracle.sections(world).get(NodeRef(node.object))
    return names is not None and node.section in ("", *names)


def _matched(old: set[Path], new: set[Path]) -> Iterator[tuple[Path, Path | None, Path | None]]:
    """Every path with what it is in each world; one that ends at a rule goes on where the rule gets its backend."""
    known = old | new
    for path in known:
        earlier, later = _in(old, path), _in(new, path)
        longer = (one for one in known if one != path and path in _shortened(one))
        if any(path in (_in(old, one), _in(new, one)) for one in longer):
            continue
        yield path, earlier, later


def _in(paths: set[Path], path: Path) -> Path | None:
    return next((one for one in (path, *_shortened(path)) if one in paths), None)


def _shortened(path: Path) -> list[Path]:
    """A path without the port of its backend, then without the backend."""
    rules = [place for place, node in enumerate(path) if node.kind == "HTTPRoute"]
    if not rules or rules[-1] == len(path) - 1:
        return []
    return [*([path[:-1]] if path[-1].section else []), path[: rules[-1] + 1]]


def _outcome(world: World, kind: Kind, path: Path | None) -> NodeInForce | None:
    return oracle_merging.effective(world, kind, path) if path else None


def _differing(
    kind: Kind, one: NodeInForce | None, other: NodeInForce | None
) -> Iterator[tuple[str, Leaf | None, Leaf | None]]:
    old, new = (_by_name(_leaves(kind, outcome.spec)) if outcome else {} for outcome in (one, other))
    if not (one and other):
        # What a route itself says is no setting of policies without any: it lasts, or goes with the route.
        old, new = ({field: leaf for field, leaf in leaves.items() if not _is_own(leaf[1])} for leaves in (old, new))
    for field in {**old, **new}:
        before, after = old.get(field), new.get(field)
        if repr(before) != repr(after):
            yield _name(kind, field), before, after
    mute, still = _without_fields(kind, one), _without_fields(kind, other)
    for policy in mute.keys() ^ still.keys():
        old_leaf: Leaf | None = ({}, mute[policy]) if policy in mute else None
        new_leaf: Leaf | None = ({}, still[policy]) if policy in still else None
        yield "", old_leaf, new_leaf


def _is_own(who: Who) -> bool:
    """Whether an object says it of itself."""
    return who[0] == who[1].object


def _leaves(kind: Kind, spec: Flat) -> Flat:
    """The fields of a spec; where all policies apply, a policy without fields is none."""
    return {field: leaf for field, leaf in spec.items() if field[1:] or not _is_policy(kind, field)}


def _without_fields(kind: Kind, outcome: NodeInForce | None) -> dict[ObjectRef, Who]:
    if outcome is None:
        return {}
    taking_part = (part for part in outcome.parts if part.who in outcome.members)
    return {part.who[0]: part.who for part in taking_part if not _leaves(kind, part.spec)}


def _is_policy(kind: Kind, field: Field) -> bool:
    """Whether a field begins with the name of a policy whose settings stand below that."""
    return kind.style == "apart" and any("/" in key for key in field[:1])


def _by_name(spec: Flat) -> Flat:
    """Fields as people write them, but that an element of a list is written like a field of a map."""
    return {named(field): leaf for field, leaf in spec.items()}


def _name(kind: Kind, field: Field) -> str:
    keys = field[1:] if _is_policy(kind, field) else field
    return "".join("[]" if "/" in key else f".{key}" for key in keys).removeprefix(".")
