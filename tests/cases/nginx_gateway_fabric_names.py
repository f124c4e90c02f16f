"""The names that the recorded cases of NGINX Gateway Fabric have for objects, listeners and rules."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef
from kubectl_policy.model.fields import items_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.topology.controllers import managed
from tests.cases.worlds import slashed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy import Analysis, ObjectRef
    from kubectl_policy.model import Json
    from kubectl_policy.questions.predicted.policies import PolicyCondition
    from kubectl_policy.topology import Condition

GROUP: Final = "gateway.nginx.org"
WITH_RULES: Final = ("HTTPRoute", "GRPCRoute")
WITH_LISTENERS: Final = ("Gateway", "ListenerSet")
ROUTES: Final = (*WITH_RULES, "TLSRoute", "TCPRoute", "UDPRoute")
# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind(GROUP, "ClientSettingsPolicy")
_ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")


class Named:
    """The objects of a world by the names that the cases have for them."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis

    @cached_property
    def policies(self) -> dict[str, ObjectRef]:
        """Every policy of the implementation's own kinds."""
        refs = (policy.ref for policy in self._analysis.policies)
        return {slashed(ref): ref for ref in refs if ref.group_kind.group == GROUP}

    @cached_property
    def hierarchy(self) -> dict[str, ObjectRef]:
        """Every Gateway, ListenerSet and route."""
        return {slashed(ref): ref for ref in self._of(*WITH_LISTENERS, *ROUTES)}

    @cached_property
    def routes_with_rules(self) -> tuple[ObjectRef, ...]:
        """Every route whose rules the cases look at."""
        return tuple(self._of(*WITH_RULES))

    def is_managed(self, parent: ObjectRef) -> bool | None:
        """Whether a Gateway, or what hangs on it, belongs to the implementation; None where that is unknown."""
        return managed(self._analysis.topology, parent, self._analysis.registry.known(_ANY_KIND).controllers)

    def _of(self, *kinds: str) -> Iterator[ObjectRef]:
        for kind in kinds:
            for resource in self._analysis.index.of_kind(GroupKind(GATEWAY_API, kind)):
                yield resource.ref


class LeftOut:
    """The facts that a case names as not judged, since its own runs differ on them."""

    def __init__(self, expected: Mapping[str, Json]) -> None:
        """Read the names, which stand beside the facts or beside their list."""
        found = [*items_at(expected, "left_out"), *items_at(expected, "expect.left_out")]
        self._texts = [json.dumps(item, ensure_ascii=False) for item in found]

    def names(self, *words: str) -> bool:
        """Whether one of the facts that are left out has all of these words in its name."""
        return any(all(word in text for word in words) for text in self._texts)


def node_name(node: NodeRef) -> str:
    """`Kind/namespace/name`, with `#section`."""
    return slashed(node.object) + (f"#{node.section}" if node.section else "")


def listener_name(listener: NodeRef) -> str:
    """`Kind/namespace/name/listener`."""
    return f"{slashed(listener.object)}/{listener.section}"


def element_name(key: str) -> str:
    """`policy#index` for the element of a list that several policies add to, which we call `policy[index]`."""
    found = _ELEMENT.fullmatch(key)
    return f"{found[1]}#{found[2]}" if found else key


def outcome(condition: Condition | PolicyCondition) -> str:
    """`Status/Reason` of a condition."""
    return f"{condition.status}/{condition.reason}"
