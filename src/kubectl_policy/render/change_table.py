"""What differs between two states as rows, in kubectl's column style, and as names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.change_rows import all_rows
from kubectl_policy.render.document import Line, Span
from kubectl_policy.render.table import rows
from kubectl_policy.render.words import node_words

if TYPE_CHECKING:
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.render.change_rows import Row
    from kubectl_policy.render.document import Document

_NARROW: Final = ("CHANGE", "KIND", "FIELD", "BEFORE", "AFTER", "SOURCE", "OBJECTS", "PATHS")
_WIDE: Final = (*_NARROW, "NAMES", "MESSAGE")


def diff_table(difference: StateDiff, *, wide: bool = False) -> Document:
    """A row for each setting that differs, worst first, then for each target, parent, policy and problem that does.

    Nothing if nothing differs. `wide` also has the names of the objects, and why something is as it is.
    """
    header = _WIDE if wide else _NARROW
    return rows(header, [_cells(row)[: len(header)] for row in all_rows(difference)])


def diff_names(difference: StateDiff) -> Document:
    """`kind.group/name` of the objects for which something differs, each once: of settings, then of relations."""
    refs = [
        *(changed.node.object for change in difference.effects for changed in change.objects),
        *(change.route for change in difference.parents),
        *(change.policy for change in difference.attachments),
        *(change.policy for change in difference.enforcement),
    ]
    names = (f"{str(ref.group_kind).lower()}/{ref.name}" for ref in dict.fromkeys(refs))
    return tuple(Line((Span(name),)) for name in names)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.change,
        row.kind,
        row.field,
        row.before,
        row.after,
        row.source,
        str(len(row.objects)) if row.objects else "",
        row.paths,
        ", ".join(map(node_words, row.objects)),
        row.message,
    )
