"""Candidates for the arguments of commands: types, and objects as `TYPE NAME`, `TYPE/NAME`, `TYPE/NAMESPACE/NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.completion import SCRIPTS
from kubectl_policy.cli.completion.objects import ALL_ROLES, KindRole
from kubectl_policy.cli.completion.offer import FILES, NOTHING, Offer, offer, offer_in_list, plain_tier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from kubectl_policy.cli.completion.known import KnownInput
    from kubectl_policy.cli.completion.line import CommandLine
    from kubectl_policy.cli.completion.offer import Candidate, Tiers
    from kubectl_policy.model.kinds import KindNames

_MANAGED: Final[Sequence[KindRole]] = ("policies", "targets")


def offer_argument(line: CommandLine, known: KnownInput) -> Offer:
    """Offer candidates for an argument of the command; nothing for a command without arguments."""
    tiers = ARGUMENTS[line.command](line, known) if line.command in ARGUMENTS else NOTHING
    if isinstance(tiers, Offer):
        return tiers
    takes_list = line.command == "get" and _is_type(line)
    return offer_in_list(line.prefix, *tiers) if takes_list else offer(line.prefix, *tiers)


def type_tiers(kinds: Sequence[KindNames], *, plurals: bool = False, end: str = "") -> list[list[Candidate]]:
    """Return names of kinds: singulars or plurals, then the other of these and short names, last those with groups."""
    tiers: list[list[Candidate]] = [[], [], []]
    for names in kinds:
        description, group = str(names.group_kind), names.group_kind.group
        usual, unusual = (names.plural, names.singular) if plurals else (names.singular, names.plural)
        tiers[0].append((f"{usual}{end}", description))
        tiers[1] += [(f"{name}{end}", description) for name in (unusual, *names.short_names)]
        tiers[2] += [(f"{name}.{group}{end}", description) for name in (usual, unusual) if group]
    return tiers


def object_tiers(
    known: KnownInput,
    text: str,
    roles: Sequence[KindRole],
    *,
    namespace: str = "",
    before: str = "",
    listed: Collection[str] = (),
) -> Tiers:
    """Return `TYPE/NAME` of objects whose kinds have some roles, except those that are listed.

    `text` is what is typed of it, and `before` comes before it in the same word.
    """
    type_name, slash, name = text.partition("/")
    if not slash:
        tiers = type_tiers(known.kinds(*roles), end="/")
        return [[(f"{before}{kind}", description) for kind, description in tier] for tier in tiers]
    typed_namespace, has_namespace, _ = name.partition("/")
    start = f"{before}{type_name}/"
    names, qualified_names = known.objects.names(
        type_name, typed_namespace if has_namespace else namespace or known.namespace
    )
    if has_namespace:
        names = [f"{typed_namespace}/{name}" for name in names]
    return [
        [(word, "") for name, _ in plain_tier(tier) if (word := f"{start}{name}") not in listed]
        for tier in (names, qualified_names)
    ]


def named_objects(line: CommandLine) -> list[tuple[str, str]]:
    """Return the type and name of each object among the arguments."""
    words = line.arguments
    if words and "/" not in words[0]:
        words = [f"{words[0]}/{word}" for word in words[1:]]
    pairs = [word.partition("/")[::2] for word in words]
    return [(type_name, name) for type_name, name in pairs if name]


def _is_type(line: CommandLine) -> bool:
    """Whether a type is under the cursor, and no name yet."""
    return not line.arguments and "/" not in line.prefix


def _names(line: CommandLine, known: KnownInput, roles: Sequence[KindRole] = _MANAGED) -> Tiers:
    """Return `NAME` after `TYPE`, else `TYPE/NAME`."""
    if not line.arguments or "/" in line.arguments[0]:
        return object_tiers(known, line.prefix, roles, listed=line.arguments)
    type_names, *listed = line.arguments
    pairs = [known.objects.names(type_name, known.namespace) for type_name in type_names.split(",") if type_name]
    names = {name for in_namespace, _ in pairs for name in in_namespace}
    qualified_names = {name for _, anywhere in pairs for name in anywhere}
    return [plain_tier(tier.difference(listed)) for tier in (names, qualified_names)]


def _objects(line: CommandLine, known: KnownInput, roles: Sequence[KindRole] = _MANAGED) -> Tiers:
    """Return `TYPE NAME...` or `TYPE/NAME...`, of kinds with some roles, else of any kind."""
    if _is_type(line):
        return [*type_tiers(known.kinds(*roles)), *type_tiers(known.kinds(*ALL_ROLES))]
    return _names(line, known, roles)


def _one_object(line: CommandLine, known: KnownInput, roles: Sequence[KindRole]) -> Tiers:
    """Return one object."""
    is_named = len(line.arguments) > 1 or "/" in "".join(line.arguments)
    return [] if is_named else _objects(line, known, roles)


def _listed_types(line: CommandLine, known: KnownInput) -> Tiers:
    """Return `TYPE[,TYPE]` and names, or `TYPE/NAME...`, for `get`."""
    if not _is_type(line):
        return _names(line, known)
    from kubectl_policy.questions.shared.selection import OWN_TYPES

    general = plain_tier(("effective", *(name for name in OWN_TYPES if name.endswith("s"))))
    plurals, *longer = type_tiers(known.kinds(*_MANAGED), plurals=True)
    return [[*general, *plurals], *longer, *type_tiers(known.kinds("unrelated"), plurals=True)]


def _compared_types(line: CommandLine, known: KnownInput) -> Tiers:
    """Return a type whose status controllers report, and names, or `TYPE/NAME...`, for `status`."""
    if not _is_type(line):
        return _names(line, known)
    from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS

    targets = [names for names in known.kinds("targets") if names.group_kind in {*ROUTES, *WITH_LISTENERS}]
    plurals, *longer = type_tiers([*known.kinds("policies"), *targets], plurals=True)
    return [[*plain_tier(("policies", "routes")), *plurals], *longer]


def _policy_and_target(line: CommandLine, known: KnownInput) -> Tiers:
    """Return `TYPE/NAME` of a policy, and then of an object."""
    if not line.arguments:
        return object_tiers(known, line.prefix, ["policies"])
    namespace = line.value("target_namespace")
    has_target = len(line.arguments) > 1
    return [] if has_target else object_tiers(known, line.prefix, ["targets"], namespace=namespace)


ARGUMENTS: Final[Mapping[str, Callable[[CommandLine, KnownInput], Tiers | Offer]]] = {
    "blast-radius": lambda line, known: _one_object(line, known, ALL_ROLES),
    "completion": lambda line, _: [] if line.arguments else [plain_tier(SCRIPTS)],
    "describe": _objects,
    "diff": lambda line, _: FILES if len(line.arguments) < 2 else NOTHING,  # noqa: PLR2004 (two states)
    "explain": lambda line, known: [] if line.arguments else type_tiers(known.kinds("policies")),
    "get": _listed_types,
    "graph": _objects,
    "history": lambda line, known: _one_object(line, known, ["targets"]),
    "lint": lambda _, __: FILES,
    "status": _compared_types,
    "why-not": _policy_and_target,
}
