"""The settings that differ, a block for each way in which they do, worst first, and on which paths that is so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.questions.shared.which_paths import WhichPaths
from kubectl_policy.render.changes.blocks import alike, joined, targets_of
from kubectl_policy.render.changes.traffic import SHOWN, list_line, more_line
from kubectl_policy.render.output.text import Line, Span, cut
from kubectl_policy.render.words.names import flow, mark, sections_words, source_words
from kubectl_policy.render.words.reasons import assumption_lines, doubt_lines
from kubectl_policy.render.words.sections import BLANK
from kubectl_policy.render.words.settings import INDENT, columns, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.differences.effects import (
        ChangedObject,
        ChangeSort,
        EffectChange,
        EffectiveValue,
        FieldChange,
        Where,
    )
    from kubectl_policy.render.output.text import Style, View
    from kubectl_policy.render.words.names import Targets

# The field, its value before, and what becomes of it.
_Row: TypeAlias = "tuple[str, str, tuple[Span, ...]]"
_SORTS: Final[Mapping[ChangeSort, str]] = {
    "lost": "lost",
    "changed": "changed",
    "gained": "gained",
    "moved": "same value, set by another policy",
}
_BY_ANOTHER_TARGET: Final = "same value, from another target"
_NOW: Final = {True: "same value, now an override", False: "same value, now a default"}
_WHERE: Final[Mapping[Where, str]] = {
    "kept": "",
    "gone": "with the traffic that ends",
    "new": "on new paths",
}


def effect_sections(changes: Sequence[EffectChange], view: View, subject: ObjectRef | None = None) -> tuple[Line, ...]:
    """A block for each change, worst first, or for several that are alike; what the `subject` sets needs no source."""
    scopes = Scopes()
    common = set[str].intersection(*({*change.doubts} for change in changes)) if changes else set[str]()
    together = alike(changes)
    shown = together[:SHOWN] if view.cuts else together
    kinds = {change.kind for change in changes}
    names = [kind.kind for kind in kinds]
    words = {kind: str(kind) if names.count(kind.kind) > 1 else kind.kind for kind in kinds}
    blocks = [
        (
            BLANK,
            _heading(joined(same), words),
            *_effect(same, scopes, view, subject),
            *doubt_lines(sorted({*same[0].doubts} - common)),
        )
        for same in shown
    ]
    left = len(together) - len(shown)
    more = (BLANK, more_line(left, "change")) if left else ()
    basis = (*_assumptions(changes), *doubt_lines(sorted(common)))
    apart = (BLANK,) if basis and len(changes) > 1 else ()
    return (*(line for block in blocks for line in block), *more, *apart, *basis)


def _assumptions(changes: Iterable[EffectChange]) -> Iterator[Line]:
    """What is assumed of each kind of which something differs, once; of several kinds with their names."""
    by_kind: dict[GroupKind, tuple[PolicyKindProfile, set[str]]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, (change.profile, set()))[1].update(change.assumed)
    for kind, (profile, assumed) in by_kind.items():
        of_kind = [choice for choice in profile.assumed if choice in assumed]
        yield from assumption_lines(profile, of_kind, str(kind) if len(by_kind) > 1 else "")


def _effect(
    alike_changes: Sequence[EffectChange], scopes: Scopes, view: View, subject: ObjectRef | None
) -> Iterator[Line]:
    change, targets = joined(alike_changes), targets_of(alike_changes)
    # What of several fields protects is said at each; of one, or of all, the heading says it.
    relevant = change.security or change.demanding
    protecting = relevant and not all(field.security for field in change.fields)
    # What routes say themselves, as the heading has it, no one else sets.
    who = [
        ("", "") if change.profile.own else (_set_by(field, targets), _was_set_by(field, subject, targets))
        for field in change.fields
    ]
    by = {now for now, _ in who}
    for_all = next(iter(by)) if len(who) > 1 and len(by) == 1 else ""
    groups: dict[tuple[str, ...], list[FieldChange]] = {}
    for field, (now, former) in zip(change.fields, who, strict=True):
        groups.setdefault((now if now != for_all else "", former), []).append(field)
    # What of one row alone says who sets it stands beside it if there is room, else above it as for several.
    for longest in (1, 0):
        told = {key: () if len(fields) <= longest else key for key, fields in groups.items()}
        rows = {
            key: [_row(field, () if told[key] else key, view, protecting=protecting) for field in fields]
            for key, fields in groups.items()
        }
        every = [each for group in rows.values() for each in group]
        thirds = ["".join(span.text for span in third) for _, _, third in every]
        widths = columns([name for name, _, _ in every], [value for _, value, _ in every], thirds, view.width)
        if widths.alongside or len(who) == 1:
            break
    alone = len(groups) == 1
    yield from () if alone else _setters([for_all])
    # What needs no heading would be taken for what stands under the one before.
    for key in sorted(groups, key=lambda key: any(told[key])):
        yield from _setters([for_all, *told[key]] if alone else told[key])
        for name, value, third in rows[key]:
            yield from row(name, Span(value, "beaten"), third, widths, view)
    yield list_line(list(_places(change, scopes)), view, indent=2 * INDENT)


def _row(field: FieldChange, setters: Iterable[str], view: View, *, protecting: bool) -> _Row:
    said = [words for words in setters if words]
    before, after = _value(field.before), _value(field.after)
    if view.cuts:
        same = _same_beginning(before, after)
        if same > view.width // 4:
            before, after = f"…{before[same:]}", f"…{after[same:]}"
        after = cut(after, view.width // 2)
    return field.field or "sets no field", before, _becomes(field, after, said, protecting=protecting)


def _same_beginning(before: str, after: str) -> int:
    """How many characters two values begin with alike, up to the key or item in which they first differ."""
    first = next((place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), 0)
    return max((before.rfind(sign, 0, first) + len(sign) for sign in ("[", "{", ", ")), default=0)


def _setters(words: Iterable[str]) -> Iterator[Line]:
    """A line that says for several rows who sets them, or did; none if there is nothing to say."""
    if said := ", ".join(filter(None, words)):
        yield Line(tuple(_broken_at_arrows(said, "aside")), INDENT, 2 * INDENT)


def _broken_at_arrows(text: str, style: Style = "") -> Iterator[Span]:
    """A text that may be continued on another line before each arrow, and before who set it earlier."""
    yield from (Span(part, style) for part in re.split(r"(?= → | was set by )", text))


def _heading(change: EffectChange, kinds: Mapping[GroupKind, str]) -> Line:
    """What becomes of fields of which kind, on how many objects: `Lost, no RetryPolicy is left · 3 objects`."""
    sorts = {field.sort for field in change.fields}
    words = listed([word for sort, word in _sort_words(change).items() if sort in sorts])
    where = f" {_WHERE[change.where]}" if _WHERE[change.where] else ""
    alone = change.to_nothing and not change.from_nothing
    kind = f"{kinds[change.kind]}{mark(change.profile, 'being a policy')}"
    named = alone and not change.profile.own
    left = f", no {kind} is left" if named else ""
    danger = Span(_danger(change), "error")
    number = len({changed.node.object for changed in change.objects})
    objects = f"{number:,} {'object' if number == 1 else plural('object')}"
    lead = Span(f"{words[:1].upper()}{words[1:]}{where}{left}", "heading", prose=True)
    if change.profile.own:
        kind = "the routes' own settings" if number > 1 else "the route's own settings"
    return Line((lead, danger, Span(f"{'' if named else f' · {kind}'} · {objects}", prose=True)), 0, 2)


def _danger(change: EffectChange) -> str:
    if change.security:
        return " · security"
    return " · security, newly enforced" if change.demanding else ""


def _sort_words(change: EffectChange) -> Mapping[ChangeSort, str]:
    moved = [(field.before, field.after) for field in change.fields if field.sort == "moved"]
    sources = [(before.source, after.source) for before, after in moved if before and after]
    if not all(before.object == after.object for before, after in sources):
        return _SORTS
    now = {after.overrides for before, after in sources if replace(before, overrides=after.overrides) == after}
    return {**_SORTS, "moved": _NOW[now.pop()] if len(now) == 1 else _BY_ANOTHER_TARGET}


def _value(value: EffectiveValue | None) -> str:
    if value is None:
        return "nothing"
    text = "removed" if value.removed else flow(value.value)
    return text if value.certain else f"{text} (may hold)"


def _set_by(field: FieldChange, targets: Targets) -> str:
    return f"set by {source_words(field.after.source, targets)}" if field.after else ""


def _was_set_by(field: FieldChange, subject: ObjectRef | None, targets: Targets) -> str:
    """Who set a field before, unless that is the `subject` or who does so now."""
    before, after = field.before, field.after
    if before is None or before.source.object == subject:
        return ""
    words = source_words(before.source, targets)
    return "" if after and source_words(after.source, targets) == words else f"was set by {words}"


def _becomes(field: FieldChange, after: str, setters: Sequence[str], *, protecting: bool) -> tuple[Span, ...]:
    """What a field changes to, who sets it and did, and whether it is one of those that protect something."""
    spans = [Span("→ "), Span(after, "value" if field.sort != "lost" else "warning")]
    spans += [span for words in setters for span in _broken_at_arrows(f", {words}")]
    spans += [Span(" (security)", "error")] if protecting and field.security else []
    return tuple(spans)


def _places(change: EffectChange, scopes: Scopes) -> Iterator[str]:
    """Objects, each with its sections and, if it is not on all of its paths that something is so, on which."""
    by_object: dict[tuple[ObjectRef, str], list[NodeRef]] = {}
    for changed in change.objects:
        by_object.setdefault((changed.node.object, scopes.words(change, changed)), []).append(changed.node)
    for (obj, scope), nodes in by_object.items():
        named = [node.section for node in nodes if node.section]
        sections = sections_words(obj.group_kind, named) if named else ""
        about = [*([sections] if sections else []), *([scope] if scope else [])]
        yield f"{obj} ({', '.join(about)})" if about else str(obj)


class Scopes:
    """Says on which of its paths something is so for an object; what tells its paths apart is looked up once."""

    def __init__(self) -> None:
        """Nothing is looked up until somebody asks."""
        self._known: dict[tuple[NodeRef, bool], WhichPaths] = {}

    def words(self, change: EffectChange, changed: ChangedObject) -> str:
        """In words; empty if it is so on all of its paths, as far as is known."""
        return self._which(change, changed).words(changed.affected_paths) if changed.all_paths else ""

    def without_numbers(self, change: EffectChange, changed: ChangedObject) -> str:
        """The same for a reader to whom the paths are not shown: numbers of them would mean nothing."""
        if not changed.all_paths:
            return ""
        phrase = self._which(change, changed).phrase(changed.affected_paths)
        number = f"{len(changed.affected_paths)} of {len(changed.all_paths)} paths"
        return number if phrase.numbered else phrase.words

    def _which(self, change: EffectChange, changed: ChangedObject) -> WhichPaths:
        # All paths of an object are those of one of the states.
        key = (changed.node, change.where == "new")
        if key not in self._known:
            self._known[key] = WhichPaths(changed.all_paths)
        return self._known[key]
