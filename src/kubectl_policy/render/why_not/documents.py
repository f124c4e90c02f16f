"""Why a policy has no effect on an object, as a versioned document. Nothing is cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.why_not.edit import FieldEdit
from kubectl_policy.questions.why_not.search import Offered
from kubectl_policy.questions.why_not.side_effects import SideEffects
from kubectl_policy.questions.why_not.why_not import WhyNot
from kubectl_policy.render.output.documents import Field, document, shape
from kubectl_policy.render.output.parts import (
    COMPLETE,
    UNSEEN,
    assumed_field,
    headline_field,
    numbers_field,
    paths_field,
)
from kubectl_policy.render.words.headlines import why_not_headline

# What an API server writes itself, and takes from nobody.
_OF_SERVERS: Final = frozenset({"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"})


def _to_be_applied(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object as `kubectl apply` takes it: without what only an API server writes."""
    stated = {key: value for key, value in raw["metadata"].items() if key not in _OF_SERVERS}
    return {**{key: value for key, value in raw.items() if key != "status"}, "metadata": stated}


shape(
    FieldEdit,
    "fieldEdit",
    Field("field", lambda edit: str(edit.path), type=str, doc="Where, in words."),
    Field(
        "path",
        "path.steps",
        type=tuple[str | int, ...],
        doc="The keys and, from 0, places in lists that lead there.",
    ),
    Field("removed", type=tuple[Any, ...], doc="What stands there, if anything.", limits={"maxItems": 1}),
    Field("added", type=tuple[Any, ...], doc="What is to stand there, if anything.", limits={"maxItems": 1}),
)


shape(
    SideEffects,
    "alsoChanges",
    Field(
        "settings",
        doc="How many settings of others differ, each counted at each object.",
        limits={"minimum": 0},
    ),
    Field("objects", doc="The other objects on which they do."),
    Field("replaced", doc="Settings of others that would no longer be in force where the effect is wanted."),
    Field("unprotected", doc="Those on which settings that are relevant to security are lost or have other values."),
    Field("losing", doc="Routes that answer fewer requests than before."),
    Field("gaining", doc="Routes that answer more requests than before, apart from what is wanted."),
    Field("lost", doc="Where the policy would have no effect any more."),
    Field("deletes", doc="Whether an object is deleted."),
    Field("owners", doc="Who owns those objects, if the config file says by which label."),
    Field("harm", doc="none; some; or loss, if something is taken away from somebody else."),
    doc="What an edit changes beside the effect that it is for.",
)
shape(
    Offered,
    "edit",
    Field("action", "edit.action"),
    Field("object", "edit.object"),
    Field("changes", "edit.changes", type=tuple[FieldEdit, ...], doc="Of an object that is changed."),
    Field(
        "manifest",
        lambda found: found.edit.after and _to_be_applied(found.edit.after.raw),
        type=Mapping[str, Any] | None,
        doc="The object as it is to be; null if it is deleted.",
    ),
    Field("origin"),
    Field("defined", doc="Whether what was read says what an API server takes for such an object."),
    Field("alsoChanges", "also"),
    doc="An edit of one object, tried on what was read.",
)
EFFECT_EXPLANATION: Final = document(
    WhyNot,
    "EffectExplanation",
    headline_field(why_not_headline),
    COMPLETE,
    Field("policy"),
    Field("origin"),
    Field("target"),
    Field("targetOrigin"),
    Field(
        "hasEffect",
        lambda answer: bool(answer.in_force),
        type=bool,
        doc="Whether the policy has an effect on the target on any path.",
    ),
    paths_field(),
    numbers_field(
        "carryingTraffic", lambda answer: answer.carrying, doc="The paths on which traffic runs, as far as is known."
    ),
    numbers_field("effectiveOn", lambda answer: answer.in_force, doc="The paths on which the policy has an effect."),
    numbers_field(
        "undecidedOn",
        lambda answer: answer.undecided,
        doc="The paths on which it may have one: it is not known how it combines with others there.",
    ),
    assumed_field(),
    Field(
        "reasons",
        doc="Why there is no effect or, if there is one, why not on the other paths; first causes first.",
    ),
    Field(
        "edit",
        lambda answer: next(iter(answer.edits), None),
        type=Offered | None,
        doc="The first of the edits; null if none is needed, or none is known to help.",
    ),
    Field("edits", doc="Any of which would help, those first that change the least besides.", limits={"maxItems": 3}),
    Field("tried", doc="How many edits were tried.", limits={"minimum": 0}),
    Field(
        "lost",
        lambda answer: answer.edits[0].also.lost if answer.edits else (),
        type=tuple[NodeRef, ...],
        doc="Where the policy would have no effect any more, if the first edit were made.",
    ),
    Field("obstacle", doc="Why no edit of one object will do; empty if one does."),
    UNSEEN,
    doc="The answer of why-not: whether a policy has an effect on a target, why not, and what would help.",
)
