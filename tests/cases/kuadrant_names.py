"""The names that Kuadrant and policy-machinery give to nodes of the topology."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tests.cases.worlds import slashed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy import NodeRef, Path

# What the other project calls a section, by the kind of the object; rules are called after their route's kind.
_SECTION_KINDS: Final = {
    "Gateway": "Listener",
    "ListenerSet": "Listener",
    "XListenerSet": "Listener",
    "Service": "ServicePort",
    "ServiceImport": "ServicePort",
}
_RULE_NUMBER: Final = re.compile(r"rule\[(\d+)\]")


def name_of(node: NodeRef) -> str:
    """The other project's name for a node: `Kind/namespace/name`, with `#section`; unnamed rules count from 1."""
    if not node.section:
        return slashed(node.object)
    section = _RULE_NUMBER.sub(lambda match: f"rule-{int(match[1]) + 1}", node.section)
    return f"{section_kind(node)}/{node.object.qualified_name}#{section}"


def section_kind(node: NodeRef) -> str:
    """The other project's kind of a section."""
    return _SECTION_KINDS.get(node.kind, f"{node.kind}Rule")


def follows(path: Path, wanted: Iterable[str]) -> bool:
    """Whether a path has nodes of these names, in their order, whatever stands between them."""
    names = iter(map(name_of, path))
    return all(name in names for name in wanted)
