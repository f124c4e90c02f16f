"""The answer about a policy kind as a versioned document. Nothing is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from kubectl_policy.model.kinds import KindNames
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.load import name_in_files, profile_file
from kubectl_policy.questions.explain.kinds import Explanation
from kubectl_policy.render.explain.tree import explanation_headline
from kubectl_policy.render.explain.words import Statement, statements
from kubectl_policy.render.output.documents import Field, document, shape
from kubectl_policy.render.output.parts import (
    COMPLETE,
    UNSEEN,
    assumed_field,
    class_field,
    headline_field,
    known_by_field,
)

if TYPE_CHECKING:
    from kubectl_policy.profiles import TargetLevel

shape(
    KindNames,
    "names",
    Field("plural", doc="Guessed from the kind if no definition says so."),
    Field("singular"),
    Field("shortNames"),
)
shape(
    Statement,
    "statement",
    Field("topic"),
    Field("label"),
    Field(
        "fields",
        lambda statement: tuple(map(name_in_files, statement.fields)),
        type=tuple[str, ...],
        doc="The fields of a profile that say so; mapFields is of the definition's schema alone.",
    ),
    Field("text"),
    Field("basis", doc="Where it is from; assumed is a guess, default what holds where nothing says otherwise."),
)


class _Named(Struct, frozen=True):
    """A level that policies name, and how many references do."""

    level: TargetLevel
    references: int


def _named(answer: Explanation) -> tuple[_Named, ...]:
    return tuple(_Named(level, number) for level, number in answer.targets)


shape(
    _Named,
    "namedLevel",
    Field("group", "level.group_kind.group"),
    Field("kind", "level.group_kind.kind"),
    Field("section", "level.section"),
    Field("references", doc="How many references do.", limits={"minimum": 1}),
)

EXPLANATION: Final = document(
    Explanation,
    "PolicyKindExplanation",
    headline_field(explanation_headline),
    COMPLETE,
    Field("policyKind", "profile.group_kind"),
    Field("names"),
    Field("origin", doc="Its profile, else its definition, else one of its policies."),
    class_field(),
    known_by_field(),
    Field(
        "defaultStrategy",
        lambda answer: answer.profile.default_strategy if answer.profile.attaches_as_known else None,
        type=MergeStrategy | None,
        doc="That of a policy that chooses none; null if it is not computed how its policies attach.",
    ),
    Field(
        "profile",
        lambda answer: profile_file(answer.profile),
        type=dict[str, Any],
        doc="What is known or assumed, as a profile file says it; docs/profiles.md describes the fields.",
    ),
    Field("statements", statements, type=tuple[Statement, ...], doc="What is known or assumed, in words."),
    assumed_field("profile.assumed"),
    Field("evidence", "profile.evidence", doc="Where it is written."),
    Field("notes", "profile.notes"),
    Field("policies", doc="The number of its policies in the input.", limits={"minimum": 0}),
    Field("targets", _named, doc="The kinds, or sections of such objects, that these name."),
    UNSEEN,
    doc="The answer about a policy kind.",
)
