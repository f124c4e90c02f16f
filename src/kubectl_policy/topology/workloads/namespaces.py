"""Workloads by the labels of their namespaces: an index of these labels gives the workloads for a selector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.body import strings_in
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.selectors import keys_of
from kubectl_policy.model.unknown import has_placeholder
from kubectl_policy.topology.workloads.pod_sets import LabelIndex, PodSet, are_open, bitmap, positions_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index


class NamespaceIndex:
    """Sets of workloads by selectors of namespaces; see `Index.selects_namespace`."""

    def __init__(self, index: Index, members: Mapping[str, int]) -> None:
        """Index the labels of the namespaces that have workloads, which are `members` as bitmaps."""
        self._members = [*members.values()]
        read = {name: index.namespace_labels(name) for name in members}
        labels = [{**(known or {}), NAME_LABEL: name} for name, known in read.items()]
        self._labels = LabelIndex(labels, (position for position, own in enumerate(labels) if are_open(own)))
        self._unread = bitmap(position for position, known in enumerate(read.values()) if known is None)

    def selected(self, selector: Mapping[str, Json]) -> PodSet:
        """Return the workloads in the namespaces that a selector selects."""
        has_placeholders = any(map(has_placeholder, strings_in(selector)))
        chosen = self._labels.selected(selector, has_placeholders=has_placeholders)
        # Of what was not read, the name is known.
        unread = 0 if keys_of(selector) <= {NAME_LABEL} else self._unread
        certain, possible = chosen.certain & ~unread, chosen.possible | unread
        inside = self._in(certain)
        return PodSet(inside, inside | self._in(possible & ~certain))

    def _in(self, namespaces: int) -> int:
        workloads = 0
        for position in positions_in(namespaces):
            workloads |= self._members[position]
        return workloads
