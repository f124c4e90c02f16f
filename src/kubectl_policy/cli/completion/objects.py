"""Types and names of objects, as commands take them: `TYPE NAME`, `TYPE/NAME`, `TYPE/NAMESPACE/NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.completion.protocol import offered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.cli.completion.known import Sort
    from kubectl_policy.cli.completion.protocol import Offer
    from kubectl_policy.cli.completion.typed import Typed
    from kubectl_policy.cli.completion.world import World
    from kubectl_policy.model.kinds import KindNames

ANY: Final[Sequence[Sort]] = ("policies", "targets", "others")


def plain(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names of which there is nothing to say, sorted; one that would be an option is left out."""
    return [(name, "") for name in sorted(names) if not name.startswith("-")]


def types(kinds: Sequence[KindNames], *, plurals: bool = False, end: str = "") -> list[list[tuple[str, str]]]:
    """What kinds are called: first their singular or plural, then also in other ways, last with their group."""
    called = [(names.plural, names.singular) if plurals else (names.singular, names.plural) for names in kinds]
    said = [str(names.group_kind) for names in kinds]
    groups = [names.group_kind.group for names in kinds]
    usual = [f"{first}{end}" for first, _ in called]
    return [
        list(zip(usual, said, strict=True)),
        [
            (f"{word}{end}", of)
            for (_, other), of, names in zip(called, said, kinds, strict=True)
            for word in (other, *names.short_names)
        ],
        [
            (f"{word}.{group}{end}", of)
            for pair, of, group in zip(called, said, groups, strict=True)
            for word in pair
            if group
        ],
    ]


def listed(line: Typed, *tiers: Iterable[tuple[str, str]]) -> Offer:
    """What is offered to the last one of words with commas between them."""
    before, comma, _ = line.completed.rpartition(",")
    there = before.split(",")
    lists = ([(f"{before}{comma}{word}", said) for word, said in tier if word not in there] for tier in tiers)
    return offered(*lists, to=line.completed)


def object_of(
    world: World,
    word: str,
    sorts: Sequence[Sort],
    *,
    namespace: str = "",
    before: str = "",
    there: Collection[str] = (),
) -> Offer:
    """`TYPE/NAME` of an object of some sorts, to a word with something `before` it; not those that are there."""
    type_name, slash, name = word.partition("/")
    if not slash:
        called = ([(f"{before}{kind}", said) for kind, said in tier] for tier in types(world.kinds(*sorts), end="/"))
        return offered(*called, to=f"{before}{word}")
    own, qualified, _ = name.partition("/")
    here, everywhere = world.known.names(type_name, own if qualified else namespace or world.namespace)
    start = f"{before}{type_name}/"
    tiers = (
        [(f"{start}{own}/{each}" if qualified else f"{start}{each}", said) for each, said in plain(here)],
        [(f"{start}{each}", said) for each, said in plain(everywhere)],
    )
    left = ([(each, said) for each, said in tier if each not in there] for tier in tiers)
    return offered(*left, to=f"{before}{word}")


def names_of(world: World, line: Typed) -> Offer:
    """The names that may follow a type, or several with commas."""
    type_names, *there = line.words
    pairs = [world.known.names(type_name, world.namespace) for type_name in type_names.split(",") if type_name]
    found = ({name for pair in pairs for name in pair[place]} for place in (0, 1))
    return offered(*(plain(names.difference(there)) for names in found), to=line.completed)


def named_objects(line: Typed) -> Iterator[tuple[str, str]]:
    """The objects that are named by the words so far, by type and name."""
    words = line.words
    if words and "/" not in words[0]:
        words = [f"{words[0]}/{word}" for word in words[1:]]
    for word in words:
        type_name, _, name = word.partition("/")
        if name:
            yield type_name, name
