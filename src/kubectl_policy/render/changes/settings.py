"""The settings that differ, a block for each way in which they do, worst first, and on which paths that is so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.world import grouped, grouped_by
from kubectl_policy.questions.shared.effects import from_the_root
from kubectl_policy.questions.shared.path_phrases import path_phrases
from kubectl_policy.render.changes.traffic import SHOWN, list_line, more_line
from kubectl_policy.render.output.text import Line, Segment, cells, cut, pad
from kubectl_policy.render.wording.names import flow, kind_names, mark, sections_phrase, source_phrase
from kubectl_policy.render.wording.sections import BLANK
from kubectl_policy.render.wording.settings import GAP, INDENT, assumption_lines, doubt_lines
from kubectl_policy.render.wording.values import brief, brief_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.differences.effects import (
        ChangedObject,
        ChangeSort,
        EffectChange,
        EffectiveValue,
        FieldChange,
        Where,
    )
    from kubectl_policy.render.output.text import Style, View
    from kubectl_policy.render.wording.names import Targets
    from kubectl_policy.resolution import Source

# The field, its value before, and what becomes of it.
_Row: TypeAlias = "tuple[str, str, tuple[Segment, ...]]"
_SORTS: Final[Mapping[ChangeSort, str]] = {
    "lost": "lost",
    "changed": "changed",
    "gained": "gained",
    "moved": "same value, set by another policy",
}
_BY_ANOTHER_TARGET: Final = "same value, from another target"
_NOW: Final = {True: "same value, now an override", False: "same value, now a default"}
# Below this a value column is not worth having: the value then takes a line of its own.
_NARROWEST: Final = 12
_WHERE: Final[Mapping[Where, str]] = {"kept": "", "gone": "with the traffic that ends", "new": "on new paths"}


class _Columns(Struct, frozen=True, kw_only=True):
    """Widths of the field and value columns, and the cell at which the third column begins.

    A value wider than its column has a line of its own. The third column stands to the right of the others or, if that
    leaves no room for the longest name in it, on lines of its own (it is not `alongside`).
    """

    field: int
    value: int
    third: int
    alongside: bool


def _columns(fields: Iterable[str], values: Iterable[str], thirds: Iterable[str], width: int) -> _Columns:
    """Compute the columns for these texts; thirds may be broken before an arrow."""
    thirds = tuple(thirds)
    field = max(map(cells, fields), default=0)
    max_value = max(width - 3 * INDENT - field - 2 * GAP - max(map(cells, thirds), default=0), _NARROWEST)
    value = max((size for size in map(cells, values) if size <= max_value), default=0)
    third = INDENT + field + GAP + value + GAP
    longest = max((cells(piece) for text in thirds for piece in text.split(" → ")), default=0)
    alongside = third + longest + 2 * INDENT <= width
    return _Columns(field=field, value=value, third=third if alongside else 3 * INDENT, alongside=alongside)


def effect_sections(changes: Sequence[EffectChange], view: View, subject: ObjectRef | None = None) -> tuple[Line, ...]:
    """Return a block for each group of equal changes, worst first; the `subject` is not named as a source."""
    common = {
        doubt
        for change in changes[:1]
        for doubt in change.doubts
        if all(doubt in another.doubts for another in changes)
    }
    # Changes of the same fields by the same policies, whatever their targets.
    together = grouped_by(changes, lambda change: repr(_likeness(change)))
    shown, rest = view.first(list(together.values()), SHOWN)
    kinds = kind_names(change.policy_kind for change in changes)
    blocks = [
        (
            BLANK,
            _heading(_joined(same), kinds),
            *_effect(same, view, subject),
            *doubt_lines(sorted({*same[0].doubts} - common)),
        )
        for same in shown
    ]
    rest_lines = (BLANK, more_line(rest, "change")) if rest else ()
    basis = (*_assumptions(changes), *doubt_lines(sorted(common)))
    apart = (BLANK,) if basis and len(changes) > 1 else ()
    return (*(line for block in blocks for line in block), *rest_lines, *apart, *basis)


def _assumptions(changes: Iterable[EffectChange]) -> Iterator[Line]:
    by_kind = grouped_by(changes, lambda change: change.policy_kind)
    for kind, of_kind in by_kind.items():
        profile, assumed = of_kind[0].profile, {choice for change in of_kind for choice in change.assumed}
        choices = [choice for choice in profile.assumed if choice in assumed]
        yield from assumption_lines(profile, choices, str(kind) if len(by_kind) > 1 else "")


def _effect(alike_changes: Sequence[EffectChange], view: View, subject: ObjectRef | None) -> Iterator[Line]:
    change, targets = _joined(alike_changes), _targets_of(alike_changes)
    # What of several fields protects is said at each; of one, or of all, the heading says it.
    protecting = change.security and not all(field.security for field in change.fields)
    # What routes say themselves, as the heading has it, no one else sets.
    setters = [
        ("", "") if change.profile.route_settings else _setter_phrases(field, subject, targets)
        for field in change.fields
    ]
    by = {now for now, _ in setters}
    for_all = next(iter(by)) if len(setters) > 1 and len(by) == 1 else ""
    groups: dict[tuple[str, ...], list[FieldChange]] = {}
    for field, (now, former) in zip(change.fields, setters, strict=True):
        groups.setdefault((now if now != for_all else "", former), []).append(field)
    # What of one row alone says who sets it stands beside it if there is room, else above it as for several.
    for longest in (1, 0):
        shown_setters = {key: () if len(fields) <= longest else key for key, fields in groups.items()}
        rows = {
            key: [_row(field, () if shown_setters[key] else key, view, protecting=protecting) for field in fields]
            for key, fields in groups.items()
        }
        every = [cells for group in rows.values() for cells in group]
        thirds = ["".join(span.text for span in third) for _, _, third in every]
        widths = _columns([name for name, _, _ in every], [value for _, value, _ in every], thirds, view.width)
        if widths.alongside or len(setters) == 1:
            break
    is_single = len(groups) == 1
    yield from () if is_single else _setters([for_all])
    # What needs no heading would be taken for what stands under the one before.
    for key in sorted(groups, key=lambda key: any(shown_setters[key])):
        yield from _setters([for_all, *shown_setters[key]] if is_single else shown_setters[key])
        for name, value, third in rows[key]:
            yield from _setting_row(name, Segment(value, "superseded"), third, widths, view)
    yield list_line(list(_object_phrases(change)), view, indent=2 * INDENT)


def _setting_row(
    field: str, value: Segment, third: tuple[Segment, ...], widths: _Columns, view: View
) -> Iterator[Line]:
    """Return a row of three columns; two lines where the value is wider than its column."""
    start = Segment(pad(field, widths.field) + " " * GAP)
    if cells(value.text) <= widths.value and widths.alongside:
        filled = replace(value, text=pad(value.text, widths.value) + " " * GAP)
        yield Line((start, filled, *third), INDENT, widths.third + INDENT)
        return
    room = max(view.width - INDENT - widths.field - GAP, _NARROWEST)
    value_text = cut(value.text, room) if view.cuts else value.text
    yield Line((start, replace(value, text=value_text)), INDENT)
    yield Line(third, widths.third, widths.third + INDENT)


def _row(field: FieldChange, setters: Iterable[str], view: View, *, protecting: bool) -> _Row:
    clauses = [clause for clause in setters if clause]
    before, after = _value_phrases(field, view)
    if view.cuts:
        same = _same_beginning(before, after)
        if same > view.width // 4:
            before, after = f"…{before[same:]}", f"…{after[same:]}"
        after = cut(after, view.width // 2)
    third = [Segment("→ "), Segment(after, "value" if field.sort != "lost" else "warning")]
    third += [span for clause in clauses for span in _broken_at_arrows(f", {clause}")]
    third += [Segment(" (security)", "error")] if protecting and field.security else []
    return field.field or "sets no field", before, tuple(third)


def _same_beginning(before: str, after: str) -> int:
    """Count the characters with which two values begin alike, up to the first key or item that differs."""
    first = next((position for position, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), 0)
    return max((before.rfind(sign, 0, first) + len(sign) for sign in ("[", "{", ", ")), default=0)


def _setters(clauses: Iterable[str]) -> Iterator[Line]:
    """Return a line with the setters of several rows; none if there is nothing to say."""
    if line := ", ".join(filter(None, clauses)):
        yield Line(tuple(_broken_at_arrows(line, "aside")), INDENT, 2 * INDENT)


def _broken_at_arrows(text: str, style: Style = "") -> Iterator[Segment]:
    """Split a text so that a line can be continued before each arrow, and before its former setter."""
    yield from (Segment(part, style) for part in re.split(r"(?= → | was set by )", text))


def _heading(change: EffectChange, kinds: Mapping[GroupKind, str]) -> Line:
    """Return the heading of a change: `Lost, no RetryPolicy is left · 3 objects`."""
    sorts = {field.sort for field in change.fields}
    sort_words = listed([sort_word for sort, sort_word in _sort_phrases(change).items() if sort in sorts])
    where = f" {_WHERE[change.where]}" if _WHERE[change.where] else ""
    emptied = change.to_nothing and not change.from_nothing
    kind = f"{kinds[change.policy_kind]}{mark(change.profile, 'being a policy')}"
    named = emptied and not change.profile.route_settings
    remark = f", no {kind} is left" if named else ""
    demand = " · security, newly enforced" if change.demanding else ""
    danger = Segment(" · security" if change.harmful else demand, "error")
    number = len({changed.node.object for changed in change.objects})
    objects = f"{number:,} {'object' if number == 1 else plural('object')}"
    lead = Segment(f"{sort_words[:1].upper()}{sort_words[1:]}{where}{remark}", "heading", prose=True)
    if change.profile.route_settings:
        noun = "route" if change.policy_kind in ROUTES else change.policy_kind.kind
        kind = f"the {plural(noun)}' own settings" if number > 1 else f"the {noun}'s own settings"
    return Line((lead, danger, Segment(f"{'' if named else f' · {kind}'} · {objects}", prose=True)), 0, 2)


def _sort_phrases(change: EffectChange) -> Mapping[ChangeSort, str]:
    moved = [(field.before, field.after) for field in change.fields if field.sort == "moved"]
    sources = [(before.source, after.source) for before, after in moved if before and after]
    if not all(before.object == after.object for before, after in sources):
        return _SORTS
    now = {after.overrides for before, after in sources if replace(before, overrides=after.overrides) == after}
    return {**_SORTS, "moved": _NOW[now.pop()] if len(now) == 1 else _BY_ANOTHER_TARGET}


def value_phrase(
    value: EffectiveValue | None, nothing: str = "nothing", removed: str = "removed", text: str = ""
) -> str:
    """Return a value in one line, or a `text` that stands for it."""
    if value is None:
        return nothing
    phrase = removed if value.removed else text or flow(value.value)
    return phrase if value.certain else f"{phrase} (may hold)"


def _value_phrases(field: FieldChange, view: View) -> tuple[str, str]:
    """Return the values before and after a change in one line each; at a terminal, what differs in long lists."""
    before, after = field.before, field.after
    if not view.cuts:
        return value_phrase(before), value_phrase(after)
    if before and after:
        old, new = brief_change(before.value, after.value)
    else:
        old, new = (brief(value.value) if value else "" for value in (before, after))
    return value_phrase(before, text=old), value_phrase(after, text=new)


def _setter_phrases(field: FieldChange, subject: ObjectRef | None, targets: Targets) -> tuple[str, str]:
    """Say who sets a field and, unless it is the `subject` or the same, who set it before."""
    before, after = (value and source_phrase(value.source, targets) for value in (field.before, field.after))
    is_other = field.before and field.before.source.object != subject and before != after
    return f"set by {after}" if after else "", f"was set by {before}" if is_other else ""


def _object_phrases(change: EffectChange) -> Iterator[str]:
    """List objects with their sections and, where it is not on all paths, with the paths concerned."""
    scopes = (
        path_phrases(changed.all_paths).words(changed.affected_paths) if changed.all_paths else ""
        for changed in change.objects
    )
    nodes = (changed.node for changed in change.objects)
    by_scope = grouped(((node.object, scope), node.section) for node, scope in zip(nodes, scopes, strict=True))
    for (obj, scope), sections in by_scope.items():
        phrase = sections_phrase(obj.group_kind, [*filter(None, sections)])
        about = ", ".join(filter(None, (phrase, scope)))
        yield f"{obj} ({about})" if about else str(obj)


def _joined(changes: Sequence[EffectChange]) -> EffectChange:
    if len(changes) == 1:
        return changes[0]
    objects = grouped_by((changed for change in changes for changed in change.objects), lambda changed: changed.node)
    return replace(changes[0], objects=tuple(_on_paths_of_all(objects[node]) for node in from_the_root(objects)))


def _targets_of(changes: Sequence[EffectChange]) -> Mapping[Source, Sequence[NodeRef]]:
    """Map each source of the first change to the targets that it has in all of these changes."""
    sources = (
        [value.source for field in change.fields for value in (field.before, field.after) if value]
        for change in changes
    )
    return grouped((same[0], source.target) for same in zip(*sources, strict=True) for source in same)


def _on_paths_of_all(changed: Sequence[ChangedObject]) -> ChangedObject:
    """Join the paths of one object in several changes; all paths where they are not known one by one."""
    first = changed[0]
    if len(changed) == 1:
        return first
    paths = {path for part in changed for path in part.affected_paths}
    if all(part.all_paths for part in changed) and len(paths) < len(first.all_paths):
        return replace(first, affected_paths=tuple(sorted(paths)))
    return replace(first, all_paths=(), affected_paths=())


def _likeness(change: EffectChange) -> object:
    # What routes say themselves, each says of itself.
    of_route = change.profile.route_settings is not None
    fields = [
        (
            field.field,
            field.security,
            _value_likeness(field.before, of_route=of_route),
            _value_likeness(field.after, of_route=of_route),
        )
        for field in change.fields
    ]
    nothing = change.from_nothing, change.to_nothing
    return change.policy_kind, change.where, nothing, change.assumed, change.doubts, fields


def _value_likeness(value: EffectiveValue | None, *, of_route: bool) -> object:
    """Return what makes two values alike: value and source; for settings of routes the value alone."""
    if value is None or of_route:
        return value and (value.value, value.removed)
    source = value.source
    target = source.object == source.target.object and source.target
    return value.value, value.removed, value.certain, source.object, source.overrides, source.filter, target
