"""What a team wants to hold for its own policies, as a config file says it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mapping_at
from kubectl_policy.profiles.shapes import (
    NOTHING,
    Boolean,
    Choice,
    Declared,
    Entries,
    Items,
    Record,
    Text,
    field_of,
    required_field,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import ObjectRef, Resource, Severity
    from kubectl_policy.topology import Path

_GATEWAYS: Final = frozenset({"Gateway", "ListenerSet", "XListenerSet"})


class RouteSelection(Declared, frozen=True, kw_only=True):
    """Some routes, and of the ways of requests to them those through some Gateway: all that it says must hold."""

    kind: str = field_of(Text(least=1), default="")
    """The kind of the routes. Without it: routes of every kind."""

    namespace: str = field_of(Text(least=1), default="")
    """Their namespace, or a pattern for it, as `shop-*`. Without it: any."""

    labels: Mapping[str, str] = field_of(Entries(Text()), default=NOTHING)
    """Labels that they have, with these values."""

    gateway: str = field_of(Text(least=1), default="")
    """The Gateway, or the ListenerSet, as `infra/public` or `public`, through which requests come. Without it: any."""

    listener: str = field_of(Text(least=1), default="")
    """The listener by which they come. Without it: any."""

    def has(self, route: Resource) -> bool:
        """Whether a route is among them."""
        labels = mapping_at(route.raw, "metadata.labels")
        return (
            self.kind in {"", route.ref.kind}
            and fnmatchcase(route.ref.namespace, self.namespace or "*")
            and all(labels.get(key) == wanted for key, wanted in self.labels.items())
        )

    def leads(self, path: Path) -> bool:
        """Whether requests on a path come through the Gateway, by the listener."""
        above = [node for node in path if node.object.kind in _GATEWAYS]
        through = not self.gateway or any(_is_called(node.object, self.gateway) for node in above)
        return through and self.listener in {"", *(node.section for node in above)}


def _is_called(obj: ObjectRef, words: str) -> bool:
    return words in {obj.name, obj.qualified_name}


class Requirement(Declared, frozen=True, kw_only=True):
    """What must be in force for some routes: policies of some kind, with some fields, and within bounds."""

    name: str = required_field(Text(least=1))
    """What it is called in findings."""

    policies: tuple[str, ...] = required_field(Items(Text(least=1), least=1))
    """The kinds of policies of which one must be in force."""

    routes: RouteSelection = field_of(Record(RouteSelection), default=RouteSelection())
    """The routes that it is about. Without it: all of them."""

    fields: tuple[str, ...] = field_of(Items(Text(least=1), least=1), default=())
    """Fields that must all be in force, as `jwt` or `timeout.http.requestTimeout`."""

    check: str = field_of(Text(least=1), default="")
    """What must be true of the settings in force wherever there are any, in CEL: `policy` are the settings, `route`,
    `gateway` and `listener` are what requests pass. What cannot be evaluated, as a field is not set, is not true."""

    required: bool = field_of(Boolean(), default=False)
    """Whether such a policy must be in force everywhere. Without it: only if there is no `check`."""

    message: str = field_of(Text(least=1), default="")
    """What is said where it does not hold. Without it: what is missing, or the check."""

    severity: Severity = field_of(Choice(("error", "warning", "info")), default="error")
    """How bad it is where it does not hold."""
