"""The shapes that documents share: names of things, references, and what was reported or could not be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from kubectl_policy.attachment import Attachment, Call, SettingsReference
from kubectl_policy.model import Diagnostic, GroupKind, NodeRef, ObjectRef, Origin
from kubectl_policy.questions.predicted.policies import PolicyCondition
from kubectl_policy.questions.shared.failing import FailingRoute
from kubectl_policy.questions.shared.numbered import NumberedPath, numbered, numbers
from kubectl_policy.questions.shared.reasons import Reason
from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedEvent
from kubectl_policy.questions.unseen.things import Unseen
from kubectl_policy.render.output.documents import Field, shape
from kubectl_policy.resolution import Source
from kubectl_policy.resolution.enforcement import Enforcement
from kubectl_policy.resolution.merging import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


shape(GroupKind, "kind", Field("group", doc="Empty for the core group."), Field("kind"), recur=True)
shape(
    ObjectRef,
    "object",
    Field("group", "group_kind.group"),
    Field("kind"),
    Field("namespace", doc="Empty for a cluster-scoped object."),
    Field("name"),
    recur=True,
)
shape(
    NodeRef,
    "node",
    Field("group", "object.group_kind.group"),
    Field("kind"),
    Field("namespace", "object.namespace"),
    Field("name", "object.name"),
    Field(
        "section",
        doc="Empty for the object as a whole. Where states are compared, rules without a name are told by their places"
        " in the later one; `former rule[0]` is there no more, and its place is another one's.",
    ),
    doc="An object, or one named section of it: a listener, a rule (rule[0] if unnamed) or a port.",
    recur=True,
)
shape(
    Origin,
    "origin",
    Field("source"),
    Field("line", doc="From 1; 0 if unknown.", limits={"minimum": 0}),
    doc="Where the object was read; null if it was not read.",
)
shape(
    Source,
    "source",
    Field("object"),
    Field("target"),
    Field("overrides", doc="Whether it was declared as an override."),
    Field(
        "filter",
        doc="If a filter of the target, a rule, names the policy: its place there, from 1; else 0.",
        limits={"minimum": 0},
    ),
    doc="Who set a value: a policy by way of one of its targets, or the target object itself.",
)
TARGET: Final = shape(
    Attachment,
    "target",
    Field("target"),
    Field(
        "declaredIn",
        "declared.field",
        doc="The field, for example spec.targetRefs[0]: of the policy, or of the object in namedBy.",
    ),
    Field(
        "namedBy",
        "declared.named_by",
        doc="The object that names the policy: a route in a filter, a Gateway or GatewayClass as its parameters; null "
        "if the policy names its target.",
    ),
    Field("state"),
    Field("message"),
    Field("virtual", doc="True if no API serves the target's kind."),
)
shape(
    Enforcement,
    "enforcement",
    Field("state"),
    Field("by", doc="The policies, or objects with fields of their own, that beat it somewhere."),
    Field(
        "undecidedWith",
        "undecided_with",
        type=tuple[ObjectRef, ...],
        doc="The policies that set other fields, where it is not known how their kind combines; it is then Unknown.",
    ),
)
shape(
    ReportedCondition,
    "reportedCondition",
    Field("about", doc="The parent, ancestor or listener that it is about."),
    Field("controller"),
    Field("type"),
    Field("status"),
    Field("reason"),
    Field("message"),
    Field("stale", doc="True if it is not about the object's present generation."),
)
shape(
    PolicyCondition,
    "expectedCondition",
    Field("type"),
    Field("status", type=Literal["True", "False", "Unknown"]),
    Field("reason"),
    Field("message", doc="Why, in our words."),
    Field("related", doc="The targets, policies or routes that it is about."),
)
shape(
    ReportedEvent,
    "event",
    Field("type", doc="Normal or Warning."),
    Field("reason"),
    Field("from", "source", doc="The component that reported it."),
    Field("message"),
    Field("count", doc="How often it occurred."),
    Field("last", doc="When it last occurred; empty if that is not known."),
)
shape(
    Call,
    "call",
    Field("policy"),
    Field("field", doc="Where the policy names the backend."),
    Field("backend"),
)
shape(
    SettingsReference,
    "settingsReference",
    Field("policy"),
    Field("field", doc="Where the object is named: in the policy, or in what the policy needs for that, see of."),
    Field("of", doc="The object that holds the field; null if it is the policy itself."),
    Field("object", doc="Without a kind, if that is not known."),
    Field("without", doc="What follows if the object is not there."),
    Field("guessed", doc="True if no profile says what the field is for: it looks like a reference."),
)
REFERRED_TO_BY: Final = Field("referredToBy", "referred_to_by", doc="The settings of policies that name it.")
shape(
    FailingRoute,
    "failingRoute",
    Field("route"),
    Field("policy", doc="The policy that is not valid."),
    Field("message", doc="Why it is not."),
    Field("whole", doc="Whether all requests for the route are concerned."),
    Field("rules", type=tuple[NodeRef, ...]),
    doc="A route of which requests get an error response, since a policy that would hold there is not valid.",
)
CALLED_BY: Final = Field("calledBy", doc="The policies that send requests of their own there.")
shape(
    Unseen,
    "unseenThing",
    Field("what"),
    Field("reason"),
    Field("remedy"),
    Field(
        "needs",
        lambda thing: [str(each) for each in thing.needs],
        type=tuple[str, ...],
        doc="The permissions with which a cluster would show it: `list retrypolicies.example.io in namespace baker`.",
    ),
    Field("origin"),
)
shape(
    Diagnostic,
    "problem",
    Field("rule"),
    Field("severity"),
    Field("message"),
    Field("reason"),
    Field("subject"),
    Field("field", doc="The dotted path in the subject."),
    Field("origin"),
    Field("related"),
)


# Where a setting is written; these are two fields.
DECLARED_AT: Final = (
    Field(
        "origin",
        doc="Where it is written: the line of the field, or of its object if that cannot be told or no field says it.",
    ),
    Field(
        "declaredIn",
        lambda setting: str(setting.declared_in),
        type=str,
        doc="The field of its object, for example spec.overrides.timeout.request; empty if no field says it.",
    ),
)

# Fields that many documents have.
REPORTED: Final = Field("reported", doc="The conditions in the status, as controllers reported them.")
EVENTS: Final = Field("events", doc="The Events about it, newest last.")
UNSEEN: Final = Field("unseen")
PROBLEMS: Final = Field("problems", "diagnostics")
COMPLETE: Final = Field(
    "complete",
    lambda answer: not answer.unseen,
    type=bool,
    doc="False if something that could matter could not be seen.",
)


def headline_field(sentence: Callable[[Any], str], doc: str = "The answer in one sentence, for people.") -> Field:
    """The field with the sentence that an answer opens with."""
    return Field("headline", sentence, type=str, doc=doc)


def class_field(profile: str = "profile") -> Field:
    """The field with the class of a policy kind."""
    return Field("class", f"{profile}.policy_class")


def known_by_field(profile: str = "profile") -> Field:
    """The field that says how a policy kind is known."""
    return Field("knownBy", f"{profile}.known_by", doc="What makes it a policy kind.")


def strategies_field(get: str = "strategies") -> Field:
    """The field with merge strategies."""
    return Field("strategies", get, doc="The merge strategies, least specific first.")


def doubts_field(get: str = "doubts") -> Field:
    """The field that says what could not be decided."""
    return Field("doubts", get, type=tuple[Doubt, ...], doc="What could not be decided.")


def assumed_field(get: str = "assumed") -> Field:
    """The field that names what is assumed of a policy kind."""
    return Field(
        "assumed",
        get,
        type=tuple[Literal["being a policy", "class", "merge strategy"], ...],
        doc="What rests on a default or a guess, because no profile covers it.",
    )


def paths_field(doc: str = "") -> Field:
    """The field with the paths of an answer, which are numbered in it."""
    return Field("paths", lambda answer: numbered(answer.paths), type=tuple[NumberedPath, ...], doc=doc)


def numbers_field(name: str, get: Callable[[Any], Iterable[int]], doc: str = "") -> Field:
    """A field with the numbers of the paths at some positions."""
    return Field(name, lambda answer: numbers(get(answer)), type=tuple[int, ...], limits={"minimum": 1}, doc=doc)


shape(
    Reason,
    "effectReason",
    Field("rule", doc="A stable name.", limits={"pattern": "^[a-z]+(-[a-z]+)*$"}),
    Field("message"),
    Field("reason", "api_reason", doc="The API's own word for it, if it has one."),
    Field("object", doc="What is responsible."),
    Field("field", doc="The field of it that is; empty if none is."),
    Field("origin"),
    Field("related", doc="What else it is about: a route and a listener, or who beats the policy and where."),
    numbers_field("paths", lambda reason: reason.paths, doc="The paths of which it is true; empty if of all."),
)
