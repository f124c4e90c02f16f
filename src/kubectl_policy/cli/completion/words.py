"""The words of each command that belong to no option: what it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.completion.objects import ANY, listed, names_of, object_of, plain, types
from kubectl_policy.cli.completion.protocol import FILES, NOTHING, offered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.cli.completion.known import Sort
    from kubectl_policy.cli.completion.protocol import Offer
    from kubectl_policy.cli.completion.typed import Typed
    from kubectl_policy.cli.completion.world import World


def word_of(command: str, line: Typed, world: World) -> Offer:
    """What may stand in place of a word of a command; nothing for one that takes none."""
    words = WORDS.get(command)
    return words(line, world) if words else NOTHING


def _listed_types(line: Typed, world: World) -> Offer:
    """`TYPE[,TYPE]` and names, or `TYPE/NAME...`."""
    from kubectl_policy.questions.shared.selection import OWN_TYPES

    if _is_name(line):
        return _name(line, world, _MANAGED)
    own = plain(("effective", *(word for word in OWN_TYPES if word.endswith("s"))))
    usual, *further = types(world.kinds(*_MANAGED), plurals=True)
    return listed(line, [*own, *usual], *further, *types(world.kinds("others"), plurals=True))


def _compared_types(line: Typed, world: World) -> Offer:
    """`TYPE` of what controllers report on, and names, or `TYPE/NAME...`."""
    if _is_name(line):
        return _name(line, world, _MANAGED)
    from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS

    targets = [names for names in world.kinds("targets") if names.group_kind in {*ROUTES, *WITH_LISTENERS}]
    usual, *further = types([*world.kinds("policies"), *targets], plurals=True)
    return offered([*plain(("policies", "routes")), *usual], *further, to=line.completed)


def _objects(line: Typed, world: World) -> Offer:
    """`TYPE NAME...` or `TYPE/NAME...`."""
    return _type_or_name(line, world, _MANAGED)


def _any_object(line: Typed, world: World) -> Offer:
    """One object, which may be of any kind."""
    return NOTHING if _has_object(line) else _type_or_name(line, world, ANY)


def _affected_object(line: Typed, world: World) -> Offer:
    """One object that policies may affect."""
    return NOTHING if _has_object(line) else _type_or_name(line, world, _TARGETS)


def _policy_and_target(line: Typed, world: World) -> Offer:
    """`TYPE/NAME` of a policy, and then of an object."""
    if not line.words:
        return object_of(world, line.completed, ["policies"])
    there = line.last("target_namespace")
    return object_of(world, line.completed, _TARGETS, namespace=there) if len(line.words) == 1 else NOTHING


def _policy_kind(line: Typed, world: World) -> Offer:
    return NOTHING if line.words else offered(*types(world.kinds("policies")), to=line.completed)


def _two_states(line: Typed, _: World) -> Offer:
    return FILES if len(line.words) < 2 else NOTHING  # noqa: PLR2004 (a pair)


def _manifests(_: Typed, __: World) -> Offer:
    return FILES


def _shells(line: Typed, _: World) -> Offer:
    from kubectl_policy.cli.itself import SCRIPTS

    return NOTHING if line.words else offered(plain(SCRIPTS), to=line.completed)


def _has_object(line: Typed) -> bool:
    """Whether `TYPE/NAME` or `TYPE NAME` is there already."""
    return len(line.words) > 1 or "/" in "".join(line.words)


def _type_or_name(line: Typed, world: World, sorts: Sequence[Sort]) -> Offer:
    if _is_name(line):
        return _name(line, world, sorts)
    return offered(*types(world.kinds(*sorts)), *types(world.kinds(*ANY)), to=line.completed)


def _is_name(line: Typed) -> bool:
    """Whether more than a type is there, or is being typed."""
    return bool(line.words) or "/" in line.completed


def _name(line: Typed, world: World, sorts: Sequence[Sort]) -> Offer:
    """`NAME` after a type, or `TYPE/NAME` after others, in which there may be several kinds."""
    if line.words and "/" not in line.words[0]:
        return names_of(world, line)
    return object_of(world, line.completed, sorts, there=line.words)


_MANAGED: Final[Sequence[Sort]] = ("policies", "targets")
_TARGETS: Final[Sequence[Sort]] = ("targets",)
WORDS: Final[Mapping[str, Callable[[Typed, World], Offer]]] = {
    "blast-radius": _any_object,
    "completion": _shells,
    "describe": _objects,
    "diff": _two_states,
    "explain": _policy_kind,
    "get": _listed_types,
    "graph": _objects,
    "history": _affected_object,
    "lint": _manifests,
    "status": _compared_types,
    "why-not": _policy_and_target,
}
