"""Lists as versioned documents: everything that their tables say, under the same names as in a description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model import GroupKind, ObjectRef, Origin
from kubectl_policy.profiles import MergeStrategy, TargetLevel
from kubectl_policy.questions.listing.objects import (
    BackendRow,
    GatewayClassRow,
    GatewayRow,
    ListenerRow,
    NamespaceRow,
    ObjectRow,
    Parent,
    RouteRow,
)
from kubectl_policy.questions.listing.policies import KindRow, PolicyRow, Stanza
from kubectl_policy.questions.shared.selection import LeftOutKind, Listing
from kubectl_policy.render.listing.policies import reason
from kubectl_policy.render.output.documents import Field, Shape, Shaped, document, shape
from kubectl_policy.render.output.parts import (
    COMPLETE,
    REPORTED,
    UNSEEN,
    assumed_field,
    class_field,
    headline_field,
    known_by_field,
)
from kubectl_policy.render.words.headlines import list_headline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.questions.listing.lists import AnyRow
    from kubectl_policy.questions.shared.selection import RowSort

_ITEM_COMPLETE: Final = Field(
    "complete",
    lambda row: not row.unseen,
    type=bool,
    doc="False if something that could matter for it could not be seen.",
)

shape(
    Stanza,
    "stanza",
    Field("field", doc="For example spec.defaults."),
    Field("strategy"),
    Field("assumed", doc="True if nobody says that strategy, and other policies meet it somewhere."),
)
shape(
    PolicyRow,
    "policyItem",
    Field("policy", "ref", type=ObjectRef),
    Field("origin", "resource.origin"),
    _ITEM_COMPLETE,
    Field("created", type=str, doc="Its creationTimestamp; empty if that is not known."),
    class_field(),
    known_by_field(),
    assumed_field("profile.assumed"),
    Field("stanzas", doc="Its parts that take effect somewhere; spec alone if it has no stanzas."),
    Field("targets", "attachments"),
    Field("enforcement"),
    Field(
        "reason",
        reason,
        type=str,
        doc="Why it is not in force, or what its controller reports to the contrary; empty if neither is so.",
    ),
    Field("reasons", doc="Why it has no effect anywhere, the first cause first; none if it has one, or may have."),
    Field("affected", doc="Where it has an effective field, as in a PolicyDescription; null if that is not known."),
    REPORTED,
)
shape(
    TargetLevel,
    "targetLevel",
    Field("group", "group_kind.group"),
    Field("kind", "group_kind.kind"),
    Field("sections", "section", doc="True if sections of such objects are meant."),
)
shape(
    KindRow,
    "policyKindItem",
    Field("name", type=str, doc="plural.group, the name of its definition."),
    Field("policyKind", "profile.group_kind"),
    Field(
        "origin",
        lambda row: row.definition.origin if row.definition else None,
        type=Origin | None,
        doc="Where its definition was read; null if it was not.",
    ),
    Field("complete", doc="False if some of its policies could not be read."),
    Field("namespaced", "names.namespaced"),
    class_field(),
    known_by_field(),
    Field("strategy", "profile.strategy", doc="The merge strategy of all its policies; null if each policy chooses."),
    Field("strategyField", "profile.strategy_field", doc="The field by which a policy chooses, if there is one."),
    Field(
        "stanzas",
        "profile.stanzas",
        doc="defaults and overrides (plural), default and override, or none; null if that is not known.",
    ),
    Field(
        "defaultStrategy",
        "profile.default_strategy",
        type=MergeStrategy,
        doc="That of a policy that chooses none.",
    ),
    Field(
        "targetFields",
        "profile.target_fields",
        doc="Where its target references stand; empty if it is not known how it attaches.",
    ),
    Field(
        "declaredTargets",
        lambda row: sorted(row.profile.declared_targets),
        type=tuple[GroupKind, ...],
        doc="The kinds that its policies may target; empty for any kind.",
    ),
    Field(
        "effectiveTargets",
        "profile.effective_targets",
        doc="The levels at which it takes effect; empty if that is not known.",
    ),
    assumed_field("profile.assumed"),
    Field("policies"),
)
shape(
    Parent,
    "listedParent",
    Field("object"),
    Field("state"),
    Field("listeners", doc="Those that it is attached to."),
    Field("reason", doc="The API's own word for why it is not attached."),
    Field("message"),
)


def _item(of: type[ObjectRow], name: str, *own: Field) -> Shape:
    """The shape of an object's row: what each has, with what those of its sort have."""
    return shape(
        of,
        name,
        Field("object", "ref", type=ObjectRef),
        Field("origin", "listed.resource.origin"),
        _ITEM_COMPLETE,
        *own,
        Field(
            "policies",
            "listed.policies",
            doc="The policies with an effect on it; of a GatewayClass or Namespace, those attached to it.",
        ),
        Field(
            "undecidedPolicies",
            "listed.undecided",
            doc="The policies that may have an effect on it: it is not known how they combine with others.",
        ),
        Field(
            "targetedBy",
            "listed.attachments",
            doc="The target references that name it or a section of it, also those that fail.",
        ),
        Field("reported", "listed.reported", doc=REPORTED.doc),
    )


_item(
    GatewayClassRow,
    "gatewayClassItem",
    Field("controller"),
    Field("accepted", type=str, doc="The status of its condition Accepted, as reported; empty if it is not."),
    Field("gateways"),
)
_item(
    GatewayRow,
    "gatewayItem",
    Field("above", doc="The GatewayClass of a Gateway, the Gateway of a ListenerSet; null if it names none."),
    Field(
        "addresses",
        type=tuple[str, ...] | None,
        doc="Those in its status, as reported; null if it has no status.",
    ),
    Field("ports", doc="The ports of its listeners, each once."),
    Field("programmed", type=str, doc="The status of its condition Programmed, as reported; empty if it is not."),
    Field("listeners"),
    Field("routes", doc="The routes attached to its own listeners."),
    Field("undecidedRoutes", "undecided", doc="The routes of which it is not known whether they are attached."),
)
_item(
    ListenerRow,
    "listenerItem",
    Field("name", type=str),
    Field("hostname", "listener.hostname", type=str, doc="Empty for every host."),
    Field("port", "listener.port", type=int | str | None, doc="A text while something of it is to be filled in."),
    Field("protocol", "listener.protocol", type=str),
    Field("routes", doc="The routes attached to it."),
    Field("undecidedRoutes", "undecided", doc="The routes of which it is not known whether they are attached."),
)
_item(RouteRow, "routeItem", Field("hostnames"), Field("parents", doc="An entry for each of its parentRefs."))
_item(
    BackendRow,
    "backendItem",
    Field("type", doc="What sort of Service it is: ClusterIP, LoadBalancer; empty for any other object."),
    Field("ports", doc="Of a Service, as kubectl shows them: 80/TCP."),
    Field("referredBy", doc="The routes that refer to it."),
)
_item(
    NamespaceRow,
    "namespaceItem",
    Field("phase", type=str, doc="The phase in its status, as reported; empty if it is not."),
    Field("holds", doc="What is in it of the hierarchy."),
    Field("affected", doc="What of that is affected by a policy."),
)


shape(
    LeftOutKind,
    "leftOutKind",
    Field("kind", "kind"),
    Field("number", doc="How many objects of the kind are left out.", limits={"minimum": 1}),
    Field(
        "policies",
        "other",
        doc="True if they are policies, of what is no part of the hierarchy; false if they only look like policies.",
    ),
)


def _list(kind: str, row: Any, what: str) -> Shape:  # noqa: ANN401 (the annotation of a field can be anything)
    return document(
        Listing,
        kind,
        headline_field(list_headline, "How many there are, for people."),
        COMPLETE,
        Field("namespace", doc="Empty if the objects are from every namespace, or in none."),
        Field("items", "rows", type=tuple[row, ...]),
        Field("leftOut", "left_out", doc="What a list of policies leaves out; empty for any other list."),
        UNSEEN,
        doc=f"The answer of get for {what}.",
    )


LISTS: Final[Mapping[RowSort, Shape]] = {
    "policies": _list("PolicyList", PolicyRow, "policies"),
    "policy kinds": _list("PolicyKindList", KindRow, "policy kinds"),
    "gateway classes": _list("GatewayClassList", GatewayClassRow, "GatewayClasses"),
    "gateways": _list("GatewayList", GatewayRow, "Gateways"),
    "listener sets": _list("ListenerSetList", GatewayRow, "ListenerSets"),
    "listeners": _list("ListenerList", ListenerRow, "listeners"),
    "routes": _list("RouteList", RouteRow, "routes of any kind"),
    "backends": _list("BackendList", BackendRow, "Services, and for any kind that has no list of its own"),
    "namespaces": _list("NamespaceList", NamespaceRow, "Namespaces"),
}


def list_document(listing: Listing[AnyRow]) -> Shaped:
    """The document about a list. Nothing is cut."""
    return LISTS[listing.type.rows](listing)
