"""The shapes that documents share: names of things, references, and what was reported or could not be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from kubectl_policy.questions.shared.numbered import NumberedPath, numbered, numbers
from kubectl_policy.render.output.documents import Field
from kubectl_policy.resolution.merging import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


REFERRED_TO_BY: Final = Field("referredToBy", "referred_to_by", doc="The settings of policies that name it.")
CALLED_BY: Final = Field("calledBy", doc="The policies that send requests of their own there.")


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
