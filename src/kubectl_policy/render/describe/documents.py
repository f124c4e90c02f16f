"""Descriptions as versioned documents: what the text says, under the same names, as values.

Paths are numbered from 1; everything else refers to them by number. Nothing is cut and nothing is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from kubectl_policy.model.authorship import Authorship
from kubectl_policy.questions.describe.focus import Focus
from kubectl_policy.questions.describe.marks import Mark
from kubectl_policy.questions.describe.objects import NotApplying, ObjectDescription
from kubectl_policy.questions.describe.policies import FieldOutcome, PolicyDescription, SupersededBy
from kubectl_policy.questions.describe.several import Descriptions
from kubectl_policy.questions.describe.surroundings import PolicyInAnswer, Unattached
from kubectl_policy.questions.predicted.policies import AncestorStatus
from kubectl_policy.questions.shared.in_force import Setting
from kubectl_policy.questions.shared.not_looked_into import NotLookedInto
from kubectl_policy.questions.shared.which_paths import WhichPaths
from kubectl_policy.render.describe.headline import object_headline
from kubectl_policy.render.output.documents import Field, Shaped, document, shape
from kubectl_policy.render.output.parts import (
    CALLED_BY,
    COMPLETE,
    DECLARED_AT,
    EVENTS,
    PROBLEMS,
    REFERRED_TO_BY,
    REPORTED,
    UNSEEN,
    assumed_field,
    class_field,
    doubts_field,
    headline_field,
    known_by_field,
    numbers_field,
    paths_field,
    strategies_field,
)
from kubectl_policy.render.words.headlines import policy_headline
from kubectl_policy.resolution import Fate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.questions.shared.in_force import InForce

_FIELD: Final = Field(
    "field", doc="As its policy writes it, below spec or a stanza of it: timeout.request, compressor[Gzip].gzip."
)
_VALUE: Final = Field("value", doc="Any JSON value.")
_DEFAULTED: Final = Field(
    "defaulted", doc="True if its policy leaves it out, so that the definition of its kind fills it in."
)

_BLAME: Final = Field("blame", doc="Who wrote it, and when; null without --blame, and where that cannot be told.")
shape(
    Authorship,
    "authorship",
    Field("who", doc="The author of a commit, or a field manager; empty for what is not committed."),
    Field("when", doc="As ISO 8601 has it."),
    Field("commit", doc="The id of the commit in git; empty for what is not committed, and for a field manager."),
)
shape(
    Fate,
    "fate",
    _FIELD,
    _VALUE,
    Field("source"),
    *DECLARED_AT,
    _BLAME,
    _DEFAULTED,
    Field(
        "state",
        doc="superseded by another value, rejected with its whole policy for a conflict, or unheeded: ignored by "
        "controllers, not because of another policy.",
        type=Literal["superseded", "rejected", "unheeded"],
    ),
    Field("supersededBy"),
)
shape(
    Setting,
    "setting",
    _FIELD,
    Field("value", doc="Any JSON value; null if removed."),
    Field("removed"),
    Field("certain", doc="False if it may not be in force: it is not known how its policy combines with others here."),
    Field("source"),
    *DECLARED_AT,
    _BLAME,
    _DEFAULTED,
    Field("security", doc="Whether the field is known as relevant to security."),
    Field("insteadOf", "beaten", doc="The declared values that it beat."),
)
shape(
    NotApplying,
    "notApplying",
    Field("policy"),
    Field("target"),
    Field("message"),
    Field("reason", doc="The API's own word for it, if it has one."),
    doc="Something that one might expect to apply, and why it does not.",
)
shape(
    NotLookedInto,
    "notLookedInto",
    Field("as", "sort", doc="What it is to what names it."),
    Field("object"),
    Field("origin", doc="Where the object was read; null if it was not."),
    Field("by", doc="What names it: a rule of a route, a Gateway or a GatewayClass."),
    Field("field", doc="Where its object names it."),
    Field("backend", doc="What the backendRef names whose filter it is; null for one of the rule itself."),
)
shape(
    Unattached,
    "unattached",
    Field("parent"),
    Field("field", doc="The parentRef that leads nowhere, or the field in it that is to blame."),
    Field("message"),
    Field("reason", doc="The API's own word for it, if it has one."),
    Field("hint", doc="What may have been meant; empty where nothing is near."),
    Field("origin"),
)
shape(
    PolicyInAnswer,
    "policyInAnswer",
    Field("policy"),
    Field("origin"),
    Field("contrary", doc="The condition by which a controller says that it does not work here; null if none does."),
    Field("otherwise", doc="Why it may not be as it was read; empty where nothing speaks for that."),
)
shape(
    AncestorStatus,
    "expected",
    Field("place", "ancestor", doc="The entry in status.ancestors; null for status.conditions of the policy."),
    Field("conditions"),
)


shape(SupersededBy, "superseded", Field("by"), numbers_field("paths", lambda found: found.positions))
shape(
    FieldOutcome,
    "fieldOutcome",
    _FIELD,
    _VALUE,
    Field("source"),
    *DECLARED_AT,
    _BLAME,
    _DEFAULTED,
    numbers_field("effectiveOn", lambda field: field.effective_on),
    numbers_field(
        "undecidedOn",
        lambda field: field.undecided_on,
        doc="Where it may be effective: it is not known how its policy combines with others there.",
    ),
    Field("superseded"),
    Field("rejected", doc="True if it is refused for a conflict somewhere."),
    numbers_field("unheededOn", lambda field: field.ignored_on, doc="Where controllers ignore it."),
)


class _OnPaths(Struct, frozen=True):
    """What is in force of a kind, and its paths in words."""

    group: InForce
    scope: str


def _in_force(answer: ObjectDescription) -> tuple[_OnPaths, ...]:
    which = WhichPaths(answer.paths)
    return tuple(_OnPaths(group, which.words(group.paths)) for group in answer.in_force)


shape(
    _OnPaths,
    "inForce",
    Field("policyKind", "group.kind"),
    class_field("group.profile"),
    known_by_field("group.profile"),
    strategies_field("group.strategies"),
    Field("policies", "group.policies"),
    Field("undecided", "group.undecided", doc="Those of them of which it is not known whether they have an effect."),
    numbers_field("paths", lambda found: found.group.paths),
    Field("scope", doc="These paths in words; empty if there is one path only."),
    Field("at", "group.at", doc="Where it takes effect."),
    Field(
        "patches",
        "group.profile.patches",
        doc="True if they patch the proxy's own settings: anything may change.",
    ),
    Field("passesDown", "group.passes_down", doc="True if it takes effect only below these paths."),
    Field("summary", "group.summary", doc="The settings in a few short phrases, for people."),
    Field("settings", "group.settings"),
    Field("withoutEffect", "group.beaten", doc="Declared fields for which nothing else stands."),
    assumed_field("group.assumed"),
    doubts_field("group.doubts"),
    doc="What the policies of one kind result in, the same on all of the paths.",
)

shape(
    Mark,
    "mark",
    Field("policyKind", "kind"),
    Field("object", "on", doc="What is marked: the subject, or what is above it."),
    Field("sort"),
    Field("name", doc="The type of the condition, or the annotation."),
    Field("policies", doc="The policies that it names; none if it names none."),
    doc="A condition or an annotation that says that policies affect an object.",
)
shape(
    Focus,
    "focus",
    Field("kinds", doc="The kinds of policies; empty if all are asked for."),
    Field("fields", doc="What the fields begin with; empty if all are asked for."),
)
_FOCUS: Final = Field("focus", doc="What alone is asked for: --kind and --field.")


def _filters(answer: ObjectDescription) -> tuple[NotLookedInto, ...]:
    return tuple(each for each in answer.not_looked_into if each.sort == "filter")


OBJECT_DESCRIPTION: Final = document(
    ObjectDescription,
    "ObjectDescription",
    headline_field(object_headline),
    COMPLETE,
    Field("subject"),
    _FOCUS,
    Field("origin"),
    Field("hostnames", doc="Those with which requests come in, * for any; empty where that is no matter of its kind."),
    Field("routes", doc="The number of routes that are attached to its listeners.", limits={"minimum": 0}),
    Field("policies", doc="The policies with at least one effective field on some path."),
    Field("filtersInForce", "filters_in_force", doc="The filters of routes that set something on some path."),
    Field("parametersInForce", "parameters_in_force", doc="The parameters of Gateways or classes that set something."),
    Field("attached", doc="The policies attached to the subject itself or to one of its sections."),
    Field("targetedBy", doc="The policy kinds that target the subject's kind."),
    paths_field(),
    Field(
        "carriesTraffic",
        doc="False for a route that is attached to nothing: what is in force then has nothing to act on.",
    ),
    Field("unattached", doc="Of a route that is attached to nothing, why each of its parentRefs leads nowhere."),
    Field("inForce", _in_force),
    Field("sources", doc="The policies that inForce speaks of, whether in force or beaten."),
    CALLED_BY,
    REFERRED_TO_BY,
    Field("inInput", doc="False if the object is only named by something in the input."),
    Field("failing", doc="The routes of which requests on these paths get an error response."),
    Field("marks", doc="By what controllers say that policies affect it, or what is above it, which were not read."),
    Field("filters", _filters, doc="The filters in notLookedInto."),
    Field("notLookedInto", doc="What is referred to on the paths and may change anything: its kind is unknown."),
    Field("notApplying"),
    Field(
        "expected",
        doc="What the controllers of policy kinds should report on the subject; most report nothing there.",
    ),
    REPORTED,
    EVENTS,
    UNSEEN,
    PROBLEMS,
    doc="The answer about an object that is not a policy.",
)

POLICY_DESCRIPTION: Final = document(
    PolicyDescription,
    "PolicyDescription",
    headline_field(policy_headline),
    COMPLETE,
    Field("policy"),
    _FOCUS,
    Field("origin"),
    class_field(),
    known_by_field(),
    strategies_field(),
    Field("targets", "attachments"),
    Field("enforcement"),
    Field("reasons", doc="Why it has no effect anywhere, the first cause first; none if it has one, or may have."),
    paths_field(),
    Field(
        "affected",
        doc="Where it has an effective field: at the levels at which its kind takes effect or, where it is not known "
        "which these are, on its target and on every object below that.",
    ),
    Field("fields", "fields_asked_for"),
    assumed_field("profile.assumed"),
    doubts_field(),
    Field(
        "expected",
        doc="What the controllers of the policy's kind should report; empty if they would report nothing.",
    ),
    REPORTED,
    EVENTS,
    UNSEEN,
    PROBLEMS,
    doc="The answer about a policy.",
)


def _described(answer: Descriptions) -> Iterator[Shaped]:
    return (
        OBJECT_DESCRIPTION(item) if isinstance(item, ObjectDescription) else POLICY_DESCRIPTION(item)
        for item in answer.items
    )


DESCRIPTIONS: Final = document(
    Descriptions,
    "DescriptionList",
    Field(
        "items",
        _described,
        type=tuple[Any, ...],
        doc="An ObjectDescription or a PolicyDescription for each object that was asked about.",
    ),
    doc="The answers about several objects.",
)
