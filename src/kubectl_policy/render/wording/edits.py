"""Edits of objects as fragments of YAML, and remarks about them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kubectl_policy.render.output.encoding import as_field, as_item, as_yaml, plain
from kubectl_policy.render.output.text import Line, Segment, cells, prose_line
from kubectl_policy.render.wording.names import at_origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import FieldPath, Json
    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.questions.why_not.checked import CheckedEdit
    from kubectl_policy.questions.why_not.edits import Edit
    from kubectl_policy.render.output.text import Style, View


def edit_lines(edit: CheckedEdit, label: str, view: View, indent: int) -> Iterator[Line]:
    """Return the object of an edit with its location, and then what changes in it."""
    lead = {"change": "", "create": "a new ", "delete": "delete "}[edit.action]
    where = at_origin(edit.origin, " ({})")
    labels = (Segment(label),) if label else ()
    yield Line((*labels, Segment(f"{lead}{edit.object}", "subject"), Segment(where, "aside")), 2)
    yield from _lines(edit, view, indent)


def remark_line(sentence: str, indent: int, style: Style = "aside") -> Line:
    """Return a sentence about an edit."""
    return prose_line(sentence, style, indent, indent + 2)


def undefined_lines(edits: Sequence[CheckedEdit], world: SnapshotSource, indent: int) -> Iterator[Line]:
    """Say of which kinds no definition was read, against which edits could be checked."""
    for kind in dict.fromkeys(edit.object.kind for edit in edits if not edit.defined):
        yield remark_line(f"Not checked against a definition of {kind}: none is in {world}.", indent)


def _lines(edit: Edit, view: View, indent: int) -> Iterator[Line]:
    """Return an edit as a fragment of YAML: the context, then removed and added lines."""
    if edit.action == "create" and edit.after:
        for text in as_yaml(plain(edit.after.raw), unicode=view.unicode).split("\n"):
            yield _marked("+", text, indent)
    for context, changes in groupby(edit.changes, key=lambda change: change.path.parent):
        yield Line((Segment(f"{context}:"),), indent)
        for change in changes:
            for mark, values in (("-", change.removed), ("+", change.added)):
                for value in values:
                    for text in _written(change.path, plain(value), view, indent):
                        yield _marked(mark, text, indent)


def _marked(mark: str, text: str, indent: int) -> Line:
    style: Style = "value" if mark == "+" else "superseded"
    return Line((Segment(f"{mark} {text}", style),), indent)


def _written(path: FieldPath, value: Json, view: View, indent: int) -> list[str]:
    """Return a field or an item in one line of YAML, or in several where it would be too long."""
    last = path.steps[-1]
    is_item = isinstance(last, int)
    short = as_item(value, unicode=view.unicode) if is_item else as_field(str(last), value, unicode=view.unicode)
    if "\n" not in short and cells(short) + indent + 2 <= view.width:
        return [short]
    whole: Json = [value] if is_item else {str(last): value}
    return as_yaml(whole, unicode=view.unicode).split("\n")
