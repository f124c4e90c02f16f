"""The history of an object's effective settings as a versioned document. Nothing is cut."""

from __future__ import annotations

from typing import Final

from kubectl_policy.model.authorship import Commit
from kubectl_policy.questions.history.history import Change, History, SettingChange
from kubectl_policy.questions.shared.in_force import Setting
from kubectl_policy.render.history.tree import history_headline
from kubectl_policy.render.output.documents import Field, Shape, document, shape
from kubectl_policy.render.output.parts import DECLARED_AT, headline_field

shape(
    Commit,
    "commit",
    Field("id"),
    Field("author", "who"),
    Field("when", doc="As ISO 8601 has it; empty if that is not known."),
    Field("subject", doc="The first line of its message."),
)
_SETTING: Final = Shape(
    Setting,
    "settingThen",
    Field("value", doc="Any JSON value; null if removed."),
    Field("removed"),
    Field("certain", doc="False if it may not have been in force: it is not known how policies combined there."),
    Field("source"),
    *DECLARED_AT,
    Field("defaulted", doc="True if the definition of its kind filled it in."),
    doc="A setting as it was in force; its origin is in the files of the commit (REV:PATH).",
)
shape(
    SettingChange,
    "settingChange",
    Field("policyKind", "kind"),
    Field("field"),
    Field("before", shape=_SETTING, doc="Null where nothing was in force."),
    Field("after", shape=_SETTING, doc="Null where nothing is in force."),
    Field("sections", doc="At which sections of the object, if not at all of them."),
)
shape(
    Change,
    "change",
    Field("commit", doc="Null for what is on disk and not committed."),
    Field("sort", doc="appeared: the object was not there before; deleted: it is not there any more."),
    Field("traffic", doc="lost, if requests no longer reach it; gained, if they do again; else empty."),
    Field("left", doc="The listeners to which it is not attached any more."),
    Field("joined", doc="The listeners to which it is attached since then."),
    Field("settings"),
    doc="What one commit changed.",
)
EFFECT_HISTORY: Final = document(
    History,
    "EffectHistory",
    headline_field(history_headline),
    Field("subject"),
    Field("commits", doc="How many commits that change manifests were looked at.", limits={"minimum": 0}),
    Field("more", doc="Whether there may be more changes before those listed."),
    Field("shallow", "is_cut", doc="Whether that is because this is a shallow clone."),
    Field("changes", doc="Newest first."),
    doc="The answer of history: how the effective settings of an object changed over the commits of a git repository.",
)
