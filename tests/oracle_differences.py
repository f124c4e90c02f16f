"""The oracle on two worlds: every field of every effective policy that differs, path by path, each from scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_policy.model import NodeRef
from tests import oracle, oracle_merging, oracle_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, ObjectRef
    from tests.oracle import Path
    from tests.oracle_merging import NodeInForce
    from tests.oracle_specs import Field, Flat, Who
    from tests.property.world import Kind, World

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
    return oracle_verdicts.enforcement(world, policy) if policy else (None, set())


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
    paths = {path for target in there for path in oracle_verdicts.paths_by_way_of(world, kind, target)}
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
    return {oracle_verdicts.named(field): leaf for field, leaf in spec.items()}


def _name(kind: Kind, field: Field) -> str:
    keys = field[1:] if _is_policy(kind, field) else field
    return "".join("[]" if "/" in key else f".{key}" for key in keys).removeprefix(".")
