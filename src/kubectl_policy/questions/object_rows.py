"""The rows of lists of objects: what each of them is of, holds or refers to, and the policies that affect it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.reported import ReportedCondition
    from kubectl_policy.questions.unseen import Unseen
    from kubectl_policy.topology import BindingState


@dataclass(frozen=True, slots=True)
class Listed:
    """What every row has.

    `policies` have an effect on the object, or, if it carries no traffic itself (a GatewayClass, a Namespace), are
    attached to it. `attachments` are the references that name it or a section of it, also those that fail.
    """

    resource: Resource
    policies: tuple[ObjectRef, ...]
    attachments: tuple[Attachment, ...]
    reported: tuple[ReportedCondition, ...]
    unseen: tuple[Unseen, ...]


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """An object."""

    listed: Listed

    @property
    def ref(self) -> ObjectRef:
        """The name of the object."""
        return self.listed.resource.ref

    @property
    def raw(self) -> Mapping[str, Json]:
        """The object as it was read."""
        return self.listed.resource.raw

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be seen and might have changed the row."""
        return self.listed.unseen


@dataclass(frozen=True, slots=True)
class GatewayClassRow(ObjectRow):
    """A GatewayClass and the Gateways that name it."""

    gateways: tuple[ObjectRef, ...]


@dataclass(frozen=True, slots=True)
class GatewayRow(ObjectRow):
    """A Gateway with its class, or a ListenerSet with its Gateway; None if it names none.

    `routes` are those attached to its own listeners; of `undecided` ones it is not known whether they are.
    """

    above: ObjectRef | None
    listeners: tuple[str, ...]
    routes: tuple[ObjectRef, ...]
    undecided: tuple[ObjectRef, ...]


@dataclass(frozen=True, slots=True)
class Parent:
    """What comes of one parentRef: attached if it is at one listener at least; if not, the first reason why."""

    object: ObjectRef
    state: BindingState
    listeners: tuple[NodeRef, ...]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RouteRow(ObjectRow):
    """A route with its hostnames and one entry for each of its parentRefs."""

    hostnames: tuple[str, ...]
    parents: tuple[Parent, ...]


@dataclass(frozen=True, slots=True)
class BackendRow(ObjectRow):
    """A Service, or another object, and the routes that refer to it, as a backend or as their parent."""

    referred_by: tuple[ObjectRef, ...]


@dataclass(frozen=True, slots=True)
class NamespaceRow(ObjectRow):
    """A Namespace, what it `holds` of the hierarchy, what of that is affected by a policy, and what hides more."""

    holds: tuple[ObjectRef, ...]
    affected: tuple[ObjectRef, ...]
    unseen_inside: tuple[Unseen, ...]

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be seen of it and of what it holds."""
        return tuple(dict.fromkeys((*self.listed.unseen, *self.unseen_inside)))
