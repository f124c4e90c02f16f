"""The oracle on merging: which policies count on a path, who is refused, and what they amount to, each from scratch."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.oracle import attached, is_ours, obj
from tests.oracle_specs import covers, flatten, patch, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json, ObjectRef
    from tests.oracle import Path
    from tests.oracle_specs import Field, Flat, Who
    from tests.property.world import Kind, Policy, World


def in_order(kind: Kind, policies: Iterable[Policy]) -> list[Policy]:
    """Policies by their number, if the kind has such, then the weightiest first, if they have weights, then by age."""
    found = sorted(policies, key=lambda one: (one.created is None, one.created or 0, f"{one.namespace}/{one.name}"))
    if kind.weighted:
        found.sort(key=lambda one: one.weight or 0, reverse=True)
    if kind.ordered:
        found.sort(key=lambda one: one.number or 0)
    return found


def refused(world: World, kind: Kind) -> dict[tuple[ObjectRef, NodeRef], tuple[ObjectRef, NodeRef]]:
    """The policies that are refused on a target of theirs, each with who came first and the target where they meet."""
    found: dict[tuple[ObjectRef, NodeRef], tuple[ObjectRef, NodeRef]] = {}
    if kind.same_level not in {"one-applies", "disjoint"}:
        return found
    policies = in_order(kind, (policy for policy in world.policies if policy.kind == kind.name))
    targets = {policy.ref: sorted(set(attached(world, policy)[0])) for policy in policies}
    for place, policy in enumerate(policies):
        meets: dict[NodeRef, tuple[ObjectRef, NodeRef]] = {}
        for node in targets[policy.ref]:
            earlier = [one for one in policies[:place] if node in targets[one.ref] and (one.ref, node) not in found]
            holders = [one for field in _claims(kind, policy) for one in earlier if field in _claims(kind, one)]
            if holders:
                meets[node] = (holders[0].ref, node)
        if meets and kind.refusal == "everywhere":
            first = meets[min(meets)]
            meets = {node: meets.get(node, first) for node in targets[policy.ref]}
        found |= {(policy.ref, node): holder for node, holder in meets.items()}
    return found


def _claims(kind: Kind, policy: Policy) -> list[Field]:
    """Return the exclusive claims of a policy: everything, or the fields that it sets; list elements by their names."""
    if kind.same_level == "one-applies":
        return [()]
    name = f"{policy.namespace}/{policy.name}"
    above = (name,) if kind.style == "apart" else ()
    # A list that merges by keys is one field all the same.
    whole = kind._replace(style="bare")
    specs = [without_nulls(spec) if kind.nulls == "ignore" else spec for _, spec in policy.parts]
    fields = [(*above, *field) for spec in specs for field in flatten(spec, whole, name)]
    return [tuple(key[1:-1] if key.startswith("[") else key for key in field) for field in fields or [above] if field]


class Part(NamedTuple):
    """The declarations of one stanza of a policy at one node; `about` is the field without which it is empty."""

    who: Who
    strategy: str
    spec: Flat
    about: str

    @property
    def hollow(self) -> bool:
        """Whether it replaces nothing."""
        return _is_empty(self.spec, self.about) and self.strategy != "Patch defaults"


class NodeInForce(NamedTuple):
    """The effective spec at the end of a path; a removed field has the value None.

    `kept_out` are the parts that another policy on the same node keeps out, with the parts of that policy.
    """

    spec: Flat
    parts: list[Part]
    members: set[Who]
    rejected: set[Who]
    kept_out: dict[Who, tuple[Who, ...]]


class Merged(NamedTuple):
    """Some parts of a path as one: in the order in which each patches what stands before it."""

    order: list[Flat]
    strategy: str
    members: set[Who]
    rejected: set[Who]

    @property
    def spec(self) -> Flat:
        """The merged spec of the parts."""
        return reduce(patch, self.order)


def _is_empty(spec: Flat, about: str) -> bool:
    return about != "" and not any(field[0] == about for field in spec)


def _merge(established: Merged, challenger: Merged, about: str) -> Merged:
    rejected = established.rejected | challenger.rejected
    both = established.members | challenger.members
    winner = established if _is_empty(challenger.spec, about) else challenger
    yielding = [flat for flat in established.order if not any(who[2] for _, who in flat.values())]
    overriding = [flat for flat in established.order if flat not in yielding]
    table = {
        "None": (established.order, established.members, rejected | challenger.members),
        "Atomic defaults": (winner.order, winner.members, rejected),
        "Atomic overrides": (established.order, established.members, rejected),
        "Patch defaults": (established.order + challenger.order, both, rejected),
        "Patch overrides": (yielding + challenger.order + overriding, both, rejected),
        "Strategic merge": (established.order + challenger.order, both, rejected),
        "All apply": (established.order + challenger.order, both, rejected),
    }
    order, members, refused = table[established.strategy]
    return Merged(order, established.strategy, members, refused)


def fold(parts: list[Part], direction: str) -> Merged:
    """All parts of a path as one, the two most specific first or the two least specific first."""
    layers = [Merged([part.spec], part.strategy, {part.who}, set()) for part in parts]
    about = parts[0].about
    if direction == "bottom-up":
        while len(layers) > 1:
            layers[-2:] = [_merge(layers[-2], layers[-1], about)]
    while len(layers) > 1:
        merged = _merge(layers[0], layers[1], about)
        keeps = "None" if layers[0].strategy == "None" else layers[1].strategy
        layers[:2] = [merged._replace(strategy=keeps)]
    return layers[0]


def chosen(parts: list[Part], kind: Kind) -> Merged:
    """The parts of a path where each says whether it patches what is above it: those that count, one by one.

    What is empty replaces nothing, so that it counts only if there is nothing else. A part that patches takes the
    closest one above it, on a level with which the kind merges, and that one in turn the next, if it goes on so.
    """
    full = [part for part in parts if not part.hollow]
    counting = [full[-1] if full else parts[0]]
    above = parts[: parts.index(counting[0])]
    if kind.merge_parents:
        levels = set(kind.merge_parents)
        above = [part for part in above if (part.who[1].object.group_kind, bool(part.who[1].section)) in levels]
    if kind.merges_with == "closest":
        counting = above[-1:] * (counting[0].strategy == "Patch defaults") + counting
    while kind.merges_with == "every" and above and counting[0].strategy == "Patch defaults":
        full = [part for part in above if not part.hollow]
        counting.insert(0, full[-1] if full else above[0])
        above = above[: above.index(counting[0])]
    return Merged([part.spec for part in counting], counting[-1].strategy, {part.who for part in counting}, set())


def policies_on(world: World, kind: Kind, node: NodeRef) -> list[Policy]:
    """The policies of a kind at one node, in their order."""
    return in_order(
        kind, (policy for policy in world.policies if policy.kind == kind.name and node in attached(world, policy)[0])
    )


def _declared(kind: Kind, policy: Policy, node: NodeRef) -> Iterator[Part]:
    for strategy, spec in policy.parts:
        who = (policy.ref, node, strategy.endswith("overrides"), 0)
        name = f"{policy.namespace}/{policy.name}"
        flat = flatten(without_nulls(spec) if kind.nulls == "ignore" else spec, kind, name)
        if kind.style == "apart":
            flat = {(name, *field): value for field, value in flat.items()} or {(name,): {}}
        yield Part(who, strategy, {field: (value, who) for field, value in flat.items()}, kind.about)


def parts_on(world: World, kind: Kind, node: NodeRef) -> list[Part]:
    """Return the parts of the policies of a kind at one node, in the order in which they are folded."""
    parts = [part for policy in policies_on(world, kind, node) for part in _declared(kind, policy, node)]
    first_wins = kind.same_level in {"first-wins", "disjoint"} or (kind.same_level is None and kind.style == "singular")
    if not first_wins:
        return parts
    defaults = [part for part in parts if part.strategy.endswith(("defaults", "merge"))]
    return [part for part in parts if part not in defaults] + defaults[::-1]


def nodes_that_count(world: World, kind: Kind, path: Path) -> list[NodeRef]:
    """The nodes of a path whose policies count at its end, least specific first."""
    once = [node for place, node in enumerate(path) if node not in path[:place]]
    if kind.direct:
        once = [NodeRef(path[-1].object), path[-1]] if path[-1].section else [path[-1]]
    if kind.sections == "replace" or (kind.direct and kind.sections is None):
        replaced = {NodeRef(node.object) for node in once if node.section and policies_on(world, kind, node)}
        return [node for node in once if node not in replaced]
    return once


def parts_at_end(world: World, kind: Kind, path: Path) -> list[Part]:
    """Return the parts that count at the end of a path, least specific first, also those that are kept out."""
    return [part for node in nodes_that_count(world, kind, path) for part in parts_on(world, kind, node)]


def kept_out(world: World, kind: Kind, parts: list[Part]) -> dict[Who, tuple[Who, ...]]:
    """The parts of policies that another one keeps out of their node, each with the parts of that one."""
    holders: dict[Who, tuple[Who, ...]] = {}
    refusals = refused(world, kind)
    for part in parts:
        if part.who[:2] in refusals:
            holder, node = refusals[part.who[:2]]
            winners = tuple(dict.fromkeys(part.who for part in parts if part.who[:2] == (holder, node)))
            holders[part.who] = winners or ((holder, node, False, 0),)
    return holders


def own_value(world: World, node: NodeRef, field: str) -> Json:
    """A setting of a route itself."""
    for route in world.routes:
        if obj(GATEWAY_API, "HTTPRoute", route.namespace, route.name).object == node.object:
            return route.own.get(field.removeprefix("spec.own."))
    return None


def effective(world: World, kind: Kind, path: Path) -> NodeInForce | None:
    """The effective policy of a kind at the end of a path; None where no policy contributes."""
    parts = parts_at_end(world, kind, path)
    if not parts or not is_ours(world, kind, path):
        return None
    out = kept_out(world, kind, parts)
    left = [part for part in parts if part.who not in out]
    if not left:
        merged = Merged([{}], "None", set(), set())
    else:
        merged = chosen(left, kind) if kind.chooser == "challenger" else fold(left, kind.fold or "bottom-up")
    spec = dict(merged.spec)
    for policy_field, object_field in kind.object_fields.items():
        field, value = tuple(policy_field.split(".")), own_value(world, path[-1], object_field)
        meets = [other for other in spec if other == field or covers(field, other) or covers(other, field)]
        if value in (None, "", [], {}) or any(spec[other][1][2] for other in meets):
            continue
        spec = {other: leaf for other, leaf in spec.items() if other not in meets}
        spec[field] = (value, (path[-1].object, path[-1], False, 0))
    return NodeInForce(spec, parts, merged.members, merged.rejected | set(out), out)


def direction_matters(world: World, kind: Kind, path: Path) -> bool:
    """Whether the two directions of folding differ in what they make effective or refuse."""
    parts = parts_at_end(world, kind, path)
    out = kept_out(world, kind, parts)
    left = [part for part in parts if part.who not in out]
    if not left:
        return False
    up, down = (fold(left, direction) for direction in ("bottom-up", "top-down"))
    return (up.spec, up.rejected) != (down.spec, down.rejected)


def age_unknown(world: World, kind: Kind, path: Path) -> bool:
    """Whether names decide on a node of a path between policies one of which has no date."""
    for node in nodes_that_count(world, kind, path):
        policies = policies_on(world, kind, node)
        for policy in policies:
            rivals = [other for other in policies if not kind.ordered or (other.number or 0) == (policy.number or 0)]
            rivals = [other for other in rivals if not kind.weighted or (other.weight or 0) == (policy.weight or 0)]
            if policy.created is None and len(rivals) > 1:
                return True
    return False
