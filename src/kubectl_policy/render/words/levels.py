"""Kinds and levels of the hierarchy in running text: `a Gateway`, `a rule of an HTTPRoute or a GRPCRoute`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.render.words.names import section_noun
from kubectl_policy.topology.hierarchy import depth_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.profiles import TargetLevel


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def kind_words(kind: GroupKind) -> str:
    """The kind alone if it is of the core group or of Gateway API, which everybody knows; else with its group."""
    return kind.kind if kind.group in {"", GATEWAY_API, GATEWAY_API_EXPERIMENTAL} else str(kind)


def one(kind: GroupKind) -> str:
    """`a Gateway`, `an HTTPRoute`: one object of a kind, as it is spoken."""
    name = kind_words(kind)
    spelt = name[:2].isupper()
    return f"{'an' if name[:1] in ('AEFHILMNORSX' if spelt else 'AEIOaeio') else 'a'} {name}"


def kinds_words(kinds: Iterable[GroupKind]) -> str:
    """`a Gateway, an HTTPRoute or a Service`: any of some kinds, from the root of the hierarchy on."""
    return either([one(kind) for kind in sorted(set(kinds), key=_from_the_root)])


def levels_words(levels: Iterable[TargetLevel]) -> str:
    """`a rule of an HTTPRoute or a GRPCRoute`, `a Service, or a port of it`: any of some levels, in their order."""
    nouns: dict[str, list[GroupKind]] = {}
    for level in sorted(levels, key=lambda level: level.section):
        nouns.setdefault(section_noun(level.group_kind) if level.section else "", []).append(level.group_kind)
    whole = nouns.get("", [])
    parts = [
        f"a {noun} of {'it' if kinds == whole else either([one(kind) for kind in kinds])}"
        if noun
        else either([one(kind) for kind in kinds])
        for noun, kinds in nouns.items()
    ]
    return ", or ".join(parts)


def _from_the_root(kind: GroupKind) -> tuple[int, GroupKind]:
    return depth_of(kind), kind
