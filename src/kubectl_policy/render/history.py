"""`history` as text: the changes of effective settings, commit by commit."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.output.text import Line, Segment, cells, cut, pad, prose_line
from kubectl_policy.render.wording.names import count, flow, node_label, self_phrase
from kubectl_policy.render.wording.sections import BLANK, headline_line
from kubectl_policy.render.wording.settings import SHORT_ID
from kubectl_policy.render.wording.values import brief, brief_change
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.history import Change, History, SettingChange
    from kubectl_policy.questions.shared.in_force import Setting
    from kubectl_policy.render.output.text import Document, Style, View

_INDENT: Final = 2
_ROW: Final = 4
_GAP: Final = 3
# At a terminal, a value has no more room than this, and so many settings of an object that appears are shown.
_LONGEST: Final = 40
_MOST: Final = 8


def history_headline(answer: History) -> str:
    """Return the answer in a sentence."""
    name, changed = node_label(answer.subject), sum(change.commit is not None for change in answer.changes)
    on_disk = len(answer.changes) > changed
    if answer.more and not answer.shallow:
        last = "last change" if len(answer.changes) == 1 else f"last {len(answer.changes)} changes"
        return f"The {last} to what is in force on {name}; --limit shows more."
    total = count(answer.commits, "commit")
    commits = total if changed == answer.commits else f"{changed} of {total}" if changed else f"none of {total}"
    since = f"{', and' if changed else ', but'} on disk since" if on_disk else ""
    cut_off = "; older commits are not in this shallow clone" if answer.shallow else ""
    return f"What is in force on {name} changed in {commits}{since}{cut_off}."


def history_text(answer: History, view: View) -> Document:
    """Return the changes, newest first."""
    lines = [headline_line(history_headline(answer))]
    for change in answer.changes:
        lines += [
            BLANK,
            _commit_line(change),
            *_event_lines(change, answer.subject),
            *_settings(change, answer.subject, view),
        ]
    return tuple(lines)


def _commit_line(change: Change) -> Line:
    commit = change.commit
    if commit is None:
        return Line((Segment("not committed yet", "heading"),))
    about = " ".join(filter(None, (commit.when.partition("T")[0], commit.author)))
    subject = Segment(f"  {commit.subject}" if commit.subject else "", prose=True)
    return Line((Segment(commit.id[:SHORT_ID], "heading"), Segment(f"  {about}", "aside"), subject), 0, _INDENT)


def _event_lines(change: Change, subject: NodeRef) -> Iterator[Line]:
    """List what happened to the object itself, before its settings."""
    event = {"appeared": "appears", "deleted": "is deleted", "changed": ""}[change.sort]
    if event:
        number = f", with {count(len(change.settings), 'setting')} in force" if change.sort == "appeared" else ""
        yield _line(f"{subject.object} {event}{number}", "subject")
        return
    if change.traffic == "lost":
        yield _line("requests no longer reach it", "warning")
    if change.traffic == "gained":
        yield _line("requests reach it again")
    for verb, nodes in (("is no longer attached to", change.left), ("is now attached to", change.joined)):
        if nodes:
            yield _line(f"{verb} {listed([node_label(node) for node in nodes])}")


def _line(text: str, style: Style = "") -> Line:
    return prose_line(text, style, _INDENT, _ROW)


def _settings(change: Change, subject: NodeRef, view: View) -> Iterator[Line]:
    if change.sort == "deleted":
        return
    shown = change.settings
    if change.sort == "appeared" and view.cuts:
        shown = shown[:_MOST]
    field = max((cells(setting.field) for setting in shown), default=0)
    for kind, of_kind in groupby(shown, lambda setting: setting.policy_kind):
        yield Line((Segment(kind.kind, "heading"),), _INDENT)
        for setting in of_kind:
            yield _row(setting, subject, field, view, is_new=change.sort == "appeared")
    if len(shown) < len(change.settings):
        rest = count(len(change.settings) - len(shown), "more setting")
        yield Line((Segment(f"and {rest}; --show-all shows all {len(change.settings)}", "aside"),), _INDENT)


def _row(change: SettingChange, subject: NodeRef, field: int, view: View, *, is_new: bool) -> Line:
    """`retry.numRetries   2 → 4   on rule cart   infra/defaults, platform.yaml:55`."""
    old, new = change.before, change.after
    values = _values(old, new, view)
    text = values[1] if is_new else " → ".join(values)
    where = listed([section_words(replace(subject, section=section)) for section in change.sections])
    spans = [Segment(pad(change.field, field) + " " * _GAP), Segment(text, "value")]
    if where:
        spans.append(Segment(f"   on {where}", prose=True))
    setting = new or old
    if setting:
        # The commit stands above.
        origin = setting.origin
        position = f", {origin.source.rpartition(':')[2]}:{origin.line}" if origin else ""
        spans.append(Segment(f"   {_name(setting, subject)}{position}", "aside"))
    if old and new and old.source.object != new.source.object:
        spans.append(Segment(f"   was set by {_name(old, subject)}", "superseded", prose=True))
    return Line(tuple(spans), _ROW, _ROW + _GAP)


def _values(old: Setting | None, new: Setting | None, view: View) -> tuple[str, str]:
    """Return the values before and after a change; at a terminal, what differs in long lists."""
    differing = brief_change(old.value, new.value) if old and new and view.cuts else None

    def phrase(setting: Setting | None, text: str) -> str:
        if setting is None:
            return "nothing"
        return "removed" if setting.removed else cut(text, _LONGEST) if view.cuts else text

    show = brief if view.cuts else flow
    texts = differing or (show(old.value) if old else "", show(new.value) if new else "")
    return phrase(old, texts[0]), phrase(new, texts[1])


def _name(setting: Setting, subject: NodeRef) -> str:
    source = setting.source.object
    return self_phrase(source) if source == subject.object else source.qualified_name
