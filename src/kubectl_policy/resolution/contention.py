"""What two targets must not share: entries of a list in a section that one section alone may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model.fields import mappings_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.topology import Topology


class Contention(NamedTuple):
    """A section in which a policy is in force, and another one with the same entry and its policy.

    Of two policies it is the later one's; of two sections of one policy both are in contention.
    """

    policy: ObjectRef
    section: NodeRef
    entry: str
    other: NodeRef
    holder: ObjectRef


def contentions(enforcements: Iterable[Enforcement], field: str, topology: Topology) -> Iterator[Contention]:
    """The contentions for the entries at a field among the policies of one kind, given in their order of precedence."""
    held: dict[str, tuple[ObjectRef, NodeRef]] = {}
    for enforcement in enforcements:
        policy = enforcement.policy
        ends = dict.fromkeys(
            effective.target for effective in enforcement.outcomes if policy in effective.policies_in_force()
        )
        for section in ends:
            for entry in _entries(section, field, topology):
                holder, other = held.setdefault(entry, (policy, section))
                if other != section:
                    yield Contention(policy, section, entry, other, holder)
                if other != section and holder == policy:
                    yield Contention(policy, other, entry, section, policy)


def _entries(section: NodeRef, field: str, topology: Topology) -> dict[str, None]:
    """The objects that a list of references in a listener names; a namespace that is left out is the listener's."""
    return dict.fromkeys(
        f"{text_at(reference, 'kind', 'Secret')} {text_at(reference, 'namespace') or section.object.namespace}/{name}"
        for listener in topology.relations.listeners(section.object)
        if listener.node == section
        for reference in mappings_at(listener.raw, field)
        if (name := text_at(reference, "name"))
    )
