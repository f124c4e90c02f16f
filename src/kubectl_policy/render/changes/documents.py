"""What differs between two states, and what an object reaches, as versioned documents. Nothing is cut.

The paths of each change are numbered from 1; its objects refer to them by number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from kubectl_policy.attachment import Attachment
from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.questions.changes.behind import RouteBehind
from kubectl_policy.questions.changes.blast_radius import BlastRadius, DetachedRoute, SupersededOn
from kubectl_policy.questions.changes.diff import ProblemChanges, StateDiff
from kubectl_policy.questions.differences.counts import ObjectCounts
from kubectl_policy.questions.differences.effects import EffectChange, EffectiveValue, FieldChange
from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
from kubectl_policy.questions.differences.traffic import (
    FailingRule,
    RouteTraffic,
    StillAnswered,
    TrafficChanges,
    TrafficOneWay,
)
from kubectl_policy.questions.shared.numbered import NumberedPath, numbered
from kubectl_policy.questions.shared.reasons import Reason
from kubectl_policy.render.changes.blast_headline import blast_headline
from kubectl_policy.render.changes.diff_headline import diff_headline
from kubectl_policy.render.changes.settings import Scopes
from kubectl_policy.render.output.documents import Field, Shape, document, shape
from kubectl_policy.render.output.parts import (
    CALLED_BY,
    COMPLETE,
    DECLARED_AT,
    REFERRED_TO_BY,
    assumed_field,
    doubts_field,
    headline_field,
    numbers_field,
)
from kubectl_policy.resolution.enforcement import Enforcement

if TYPE_CHECKING:
    from kubectl_policy.questions.differences.effects import ChangedObject

_SORT_DOC: Final = "moved: the same value, or none, and set by somebody else."

shape(
    EffectiveValue,
    "effectiveValue",
    Field("value", type=Any, doc="Any JSON value."),
    Field("removed", doc="Whether the value removes the field."),
    Field("certain", doc="False if it may not be in force: it is not known how its policy combines with others."),
    Field("source"),
    *DECLARED_AT,
    doc="An effective value; null where nothing sets the field.",
)
shape(
    FieldChange,
    "fieldChange",
    Field("field", doc="Empty for a policy that takes part and declares no field."),
    Field("sort", doc=_SORT_DOC),
    Field("security", doc="Whether the field is known as relevant to security."),
    Field("before"),
    Field("after"),
)


class _Scoped(Struct, frozen=True):
    """An object for which something differs, with the words for which of its paths are concerned."""

    changed: ChangedObject
    scope: str


class _Effect(Struct, frozen=True):
    """What differs of one kind, with the scopes of its objects."""

    change: EffectChange
    objects: tuple[_Scoped, ...]


def _effects(difference: StateDiff) -> tuple[_Effect, ...]:
    scopes = Scopes()
    return tuple(
        _Effect(change, tuple(_Scoped(changed, scopes.without_numbers(change, changed)) for changed in change.objects))
        for change in difference.effects
    )


shape(
    _Scoped,
    "changedObject",
    Field("object", "changed.node", type=NodeRef),
    numbers_field("paths", lambda scoped: scoped.changed.paths),
    Field(
        "scope",
        doc="Which of its paths these are, in words; empty if all of them, or if that was not looked up.",
    ),
    Field(
        "ofPaths",
        lambda scoped: len(scoped.changed.all_paths) or None,
        type=int | None,
        doc="How many paths it has, if scope says which.",
    ),
)
shape(
    _Effect,
    "effectChange",
    Field("policyKind", "change.kind", type=GroupKind),
    Field("sort", "change.sort", doc=f"The worst of its fields. {_SORT_DOC}"),
    Field(
        "security",
        lambda effect: effect.change.security or effect.change.demanding,
        type=bool,
        doc="Whether a field that is relevant to security is lost, changed or newly set.",
    ),
    Field("where", "change.where", doc="Whether both states have the paths, or only the earlier or the later one."),
    Field("fromNothing", "change.from_nothing", doc="No policy of the kind was in force there."),
    Field("toNothing", "change.to_nothing", doc="No policy of the kind is in force there any more."),
    Field("fields", "change.fields"),
    Field(
        "paths",
        lambda effect: numbered(effect.change.paths),
        type=tuple[NumberedPath, ...],
        doc="Numbered for this change alone.",
    ),
    Field("objects", doc="Whom it concerns, from the root downward."),
    assumed_field("change.assumed"),
    doubts_field("change.doubts"),
    doc="What differs of one policy kind, in the same way on all of its paths.",
)

_REFERENCE: Final = "The state of the reference; null where there is none."
_PARENT: Final = "Null where the route does not name the parent, or there is no such parent."
_NO_POLICY: Final = "Null where there is no such policy."
shape(
    AttachmentChange,
    "attachmentChange",
    Field("policy"),
    Field("target"),
    Field("before", doc=_REFERENCE),
    Field("after", doc=_REFERENCE),
    Field("message", doc="Why it is not attached, in the state in which it is not."),
)
shape(
    ParentChange,
    "parentChange",
    Field("route"),
    Field("parent"),
    Field("before", doc=_PARENT),
    Field("after", doc=_PARENT),
    Field("message"),
)
shape(
    EnforcementChange,
    "enforcementChange",
    Field("policy"),
    Field("before", doc=_NO_POLICY),
    Field("after", doc=_NO_POLICY),
    Field("by", doc="Who beats it in the later state."),
    Field("byBefore", doc="Who beats it in the earlier state."),
)
shape(
    ProblemChanges,
    "problemChanges",
    Field("introduced", doc="Only the later state has them."),
    Field("fixed", doc="Only the earlier state has them."),
    Field("unchanged", doc="Both have them, of objects that are not alike."),
)

_HOSTNAMES: Final = "`*` for every host."
_OWNER: Final = "By the label or annotation that names owners; empty if it has none, or none was asked for."
shape(
    FailingRule,
    "failingRule",
    Field("rule"),
    Field("failing", doc="Of the `total` of its requests, by the weights of its backends."),
    Field("total"),
    Field("backends", doc="To which these requests would go."),
    Field("reason", doc="The API's own word for it, if it has one."),
    Field("message"),
    Field("status", doc="The HTTP status with which a filter answers these requests; 0 if none does."),
    Field("gone", "is_gone", doc="Whether the state has no rule for such requests."),
)
shape(
    RouteTraffic,
    "routeTraffic",
    Field("route"),
    Field("hostnames", doc=_HOSTNAMES),
    Field("lost", doc="The listeners, or other parents, at which it takes requests in one of the states alone."),
    Field("kept", doc="Those at which it takes requests in the other state, or may."),
    Field("failing", doc="The rules of which requests are answered in one of the states alone."),
    Field("rules", doc="How many it has.", limits={"minimum": 0}),
    Field("owner", doc=_OWNER),
)
shape(StillAnswered, "stillAnswered", Field("hostnames"), Field("by"))
_UNREACHED: Final = Shape(
    TrafficOneWay,
    "unreached",
    Field("hostnames", doc=f"For which no route takes requests. {_HOSTNAMES}"),
    Field("answered", doc="The other hostnames of these routes, and who takes the requests for them."),
    Field("listeners", doc="At which no route takes requests."),
    Field("backends", doc="To which no route that gets requests sends any."),
)
shape(
    TrafficChanges,
    "traffic",
    Field("losesAll", "lost.all", doc="The routes that answer nothing any more."),
    Field("losesSome", "lost.some", doc="The routes that answer a part of what they did."),
    Field("uncontrolled", doc="The routes behind Gateways on which no controller acts any more."),
    Field("unreached", "lost", shape=_UNREACHED, doc="What nothing reaches any more."),
    Field("gainsAll", "gained.all", doc="The routes that answered nothing before."),
    Field("gainsSome", "gained.some", doc="The routes that answer more than before."),
    Field("ownerKey", doc="The label or annotation that names owners; empty if none was asked for."),
)
shape(
    RouteBehind,
    "routeBehind",
    Field("route"),
    Field("hostnames", doc=_HOSTNAMES),
    Field("listeners"),
    Field("owner", doc=_OWNER),
)
_TRAFFIC: Final = Field("traffic", doc="Who loses traffic, and who gets some.")

_DIFFERENCE: Final = (
    Field("created", doc="The objects that only the later state has."),
    Field("deleted", doc="The objects that only the earlier state has."),
    Field("updated", doc="The objects that both states have, and not alike."),
    Field("changes", doc="Whether anything follows from what differs."),
    Field("effects", _effects, type=tuple[_Effect, ...], doc="What effective policies differ in, the worst first."),
    Field("attachments"),
    Field("parents"),
    Field("cutOff", doc="The routes to which requests come no more."),
    Field("withoutClass", doc="The Gateways on which no controller acts any more."),
    Field("failing", doc="The routes of which requests newly get an error response."),
    Field("enforcement"),
    Field("problems"),
)
POLICY_DIFF: Final = document(
    StateDiff,
    "PolicyDiff",
    headline_field(diff_headline, "The difference in one sentence, for people."),
    COMPLETE,
    _TRAFFIC,
    *_DIFFERENCE,
    Field("unseen", doc="In either state."),
    doc="The answer of diff: what two states differ in, and what follows from that.",
)


class _Count(Struct, frozen=True):
    """A number of objects that have something in common."""

    common: GroupKind | str
    count: int


def _counts(pairs: tuple[tuple[GroupKind | str, int], ...]) -> tuple[_Count, ...]:
    return tuple(_Count(common, count) for common, count in pairs)


_NUMBER: Final = Field("count", limits={"minimum": 0})
shape(
    ObjectCounts,
    "counts",
    Field("total", limits={"minimum": 0}),
    Field(
        "kinds",
        lambda counts: _counts(counts.kinds),
        type=tuple[_Count, ...],
        shape=Shape(
            _Count,
            "kindCount",
            Field("group", "common.group", type=str),
            Field("kind", "common.kind", type=str),
            _NUMBER,
        ),
    ),
    Field(
        "namespaces",
        lambda counts: _counts(counts.namespaces),
        type=tuple[_Count, ...],
        shape=Shape(
            _Count,
            "namespaceCount",
            Field("namespace", "common", type=str, doc="Empty for cluster-scoped objects."),
            _NUMBER,
        ),
    ),
    Field("ownerKey", doc="The label or annotation that names the owner; empty if none was asked for."),
    Field(
        "owners",
        lambda counts: _counts(counts.owners),
        type=tuple[_Count, ...],
        shape=Shape(
            _Count, "ownerCount", Field("owner", "common", type=str, doc="Empty for objects that name none."), _NUMBER
        ),
    ),
    doc="How many objects a policy affects, with those of `behind`, or how many deleting another subject would affect.",
)
shape(SupersededOn, "supersededOn", Field("objects"), Field("by"))
shape(
    DetachedRoute,
    "detachedRoute",
    Field("object"),
    Field("message"),
    Field("reason", doc="The API's own word for it, if it has one."),
)
BLAST_RADIUS: Final = document(
    BlastRadius,
    "BlastRadius",
    headline_field(blast_headline, "The answer in one or two sentences, for people."),
    Field("complete", lambda answer: not answer.difference.unseen, type=bool, doc=COMPLETE.doc),
    Field("subject"),
    Field("origin"),
    Field(
        "policy",
        lambda answer: answer.reach is not None,
        type=bool,
        doc="Whether it is a policy; targets, affected, beaten and idle are empty otherwise.",
    ),
    Field("changes", doc="Whether deleting the object changes anything but itself and what goes with it."),
    Field("targets", lambda answer: answer.reach.attachments if answer.reach else (), type=tuple[Attachment, ...]),
    Field(
        "enforcement",
        lambda answer: answer.reach and answer.reach.enforcement,
        type=Enforcement | None,
        doc="Null if it is not a policy.",
    ),
    Field(
        "reasons",
        lambda answer: answer.reach.reasons if answer.reach else (),
        type=tuple[Reason, ...],
        doc="Why it has no effect anywhere, if it is a policy that is known to have none.",
    ),
    Field(
        "affected",
        lambda answer: answer.reach.affected if answer.reach else (),
        type=tuple[NodeRef, ...],
        doc="Where it has an effective field, as in a PolicyDescription.",
    ),
    Field(
        "beaten",
        lambda answer: answer.reach.superseded if answer.reach else (),
        type=tuple[SupersededOn, ...],
        doc="Where it takes part and others set all that it would set.",
    ),
    Field(
        "idle",
        lambda answer: answer.reach.detached if answer.reach else (),
        type=tuple[DetachedRoute, ...],
        doc="What is below its targets and attached to nothing, and why.",
    ),
    Field(
        "behind",
        lambda answer: answer.reach.behind if answer.reach else (),
        type=tuple[RouteBehind, ...],
        doc="The routes whose requests come through what it affects, if that is Gateways and listeners alone.",
    ),
    Field(
        "hostnames",
        lambda answer: answer.reach.hostnames if answer.reach else (),
        type=tuple[str, ...],
        doc=f"Of the requests that it affects. {_HOSTNAMES}",
    ),
    Field("withIt", "deleted_with_it", doc="The objects that are deleted with it."),
    CALLED_BY,
    REFERRED_TO_BY,
    Field("inInput", doc="False if the subject is only named by something in the input."),
    Field("counts"),
    Field(
        "traffic",
        "difference.traffic",
        type=TrafficChanges,
        doc="Who loses traffic by deleting it, and who gets some.",
    ),
    Field(
        "difference",
        shape=Shape(StateDiff, "difference", *_DIFFERENCE),
        doc="What differs between what is and what would be without the subject; as in a PolicyDiff.",
    ),
    Field("unseen", "difference.unseen"),
    doc="The answer of blast-radius: what an object touches, and what deleting it would change.",
)
