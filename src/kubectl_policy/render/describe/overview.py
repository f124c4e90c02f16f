"""First screen of a description: for each scope a line per policy kind, with its settings in short."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.kinds import listed
from kubectl_policy.model.world import grouped_by
from kubectl_policy.render.describe.rows import source_key
from kubectl_policy.render.output.text import Line, Segment, cells, pad
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.settings import why_superseded, without_effect_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.render.describe.naming import Names, PathScopes
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution import Fate, Source

_GAP: Final = 2
_INDENT: Final = 2
# At a terminal so many scopes are shown, and so many others are named on a line.
_MOST_PLACES: Final = 12
_MOST_OTHERS: Final = 2
# The heading of what holds on all paths, if other headings are there.
_EVERYWHERE: Final = "all paths"
# What limits or ends requests, by the names of fields: time-outs, retries, limits of rates and of connections.
_LIMITS: Final = ("timeout", "retr", "limit", "fault", "circuit", "maxconn", "idle", "deadline")
# What is said of policies of which nothing is in force, by what became of them.
_FATES: Final = {"rejected": "refused", "unheeded": "ignored", "invalid": "not valid"}


class _Entry(Struct, frozen=True, kw_only=True):
    """One kind in a scope: its settings in short, and their sources."""

    kind: str
    summary: str
    sources: str
    doubt: str
    warning: str
    rank: tuple[int, str]

    @property
    def width(self) -> int:
        """The width of the summary and its sources, but for the gap between them."""
        return cells(self.summary) + cells(self.sources) + cells(self.doubt)


def overview(answer: ObjectDescription, scopes: PathScopes, names: Names, view: View) -> Iterator[Line]:
    """Return a heading for each scope, the narrowest first, and below it a line for each kind, security first."""
    by_place: dict[tuple[bool, bool, tuple[int, ...]], list[_Entry]] = {}
    for of_kind in by_kind(answer.in_force):
        for alike in grouped_by(of_kind, lambda group: repr(_likeness(group))).values():
            positions = tuple(sorted({position for group in alike for position in group.extent.positions}))
            key = alike[0].extent.passes_down, len(positions) == len(answer.paths), positions
            # By each source of the first group, the targets that it has in all of them.
            same_sources = zip(*(group.contest.order for group in alike), strict=True)
            targets = {same[0]: tuple(dict.fromkeys(source.target for source in same)) for same in same_sources}
            by_place.setdefault(key, []).append(_entry(alike[0], targets, names))
    entries = [entry for scope_entries in by_place.values() for entry in scope_entries]
    kinds = max((cells(entry.kind) for entry in entries), default=0)
    fitting = [entry for entry in entries if _INDENT + kinds + 2 * _GAP + entry.width <= view.width]
    widths = kinds, max((cells(entry.summary) for entry in fitting), default=0)
    ordered = sorted(by_place)
    is_route = answer.subject.object.group_kind in ROUTES
    shown, rest = view.first(ordered, _MOST_PLACES)
    for behind, everywhere, positions in shown:
        heading = scopes.scope(positions, behind=behind) or (_EVERYWHERE if len(by_place) > 1 else "")
        is_only = everywhere and not behind and len(by_place) == 1
        tail = _backends(scopes, positions) if is_only or scopes.is_one_section(positions) else ""
        tail += "" if answer.requests.carries_traffic else ", if it were attached" if is_route else ", if requests came"
        if heading:
            yield Line((Segment(heading, "subject"), Segment(tail, prose=True)), 0, 4)
        for entry in sorted(by_place[behind, everywhere, positions], key=lambda entry: entry.rank):
            yield from _lines(entry, widths, view)
    if rest:
        remark = f"and {count(rest, 'more place')} where it differs; --show-all shows them"
        yield Line((Segment(remark, "aside"),))


def by_kind(groups: Sequence[InForce]) -> list[list[InForce]]:
    """Group by kind, apart those that take effect further down: security first, as `_rank` orders them."""
    by_kind_ = grouped_by(groups, lambda group: (group.kind, group.extent.passes_down))
    return sorted(by_kind_.values(), key=lambda of_kind: (of_kind[0].extent.passes_down, min(map(_rank, of_kind))))


def _likeness(group: InForce) -> object:
    """Return what makes groups alike for a reader: everything but their paths and targets."""
    order = {source: index for index, source in enumerate(group.contest.order)}

    def fate_likeness(fate: Fate, why: str) -> object:
        return fate.field, fate.value, order.get(fate.source, fate.source), fate.defaulted, why

    at = group.extent.at[0]
    return (
        (at.object.group_kind, bool(at.section), group.extent.passes_down, group.combination),
        [(source.object, source.overrides, source.filter) for source in group.contest.order],
        [
            (
                *(setting.field, setting.value, order.get(setting.source, setting.source), setting.removed),
                *(setting.certain, setting.defaulted),
                [fate_likeness(fate, why_superseded(fate, setting.source, group)) for fate in setting.instead_of],
            )
            for setting in group.settings
        ],
        [fate_likeness(fate, without_effect_phrase(fate, group)) for fate in group.without_effect],
    )


def _backends(scopes: PathScopes, positions: Sequence[int]) -> str:
    backends = scopes.backends(positions)
    if not backends:
        return ""
    return f" ▸ {', '.join(backends) if len(backends) <= _MOST_OTHERS else count(len(backends), 'backend')}"


def _entry(group: InForce, targets: Mapping[Source, tuple[NodeRef, ...]], names: Names) -> _Entry:
    # What the route itself says, beside policies, is called after it.
    is_own = group.profile.route_settings and group.settings
    return _Entry(
        kind=names.policy(group.settings[0].source, group.kind) if is_own else names.kind(group),
        summary="; ".join(_summary(group)),
        sources="" if group.profile.route_settings else _sources(group, targets, names),
        doubt=" (may hold)" if group.undecided else "",
        warning=names.warning(group.policies),
        rank=_rank(group),
    )


def _summary(group: InForce) -> Iterator[str]:
    """Summarize the settings in force; patches and snippets of the proxy's configuration may be anything."""
    patches = group.profile.patches
    if not patches or (group.profile.summary and group.summary):
        yield ", ".join(group.summary) or ("sets no field" if group.policies else "nothing")
    if group.profile.patches:
        yield "may change anything here; its proxy configuration is not read"


def _rank(group: InForce) -> tuple[int, str]:
    """Order kinds: those that protect, those that limit or end requests, the rest; each by name."""
    if group.settings and all(setting.security for setting in group.settings):
        return 0, group.kind.kind
    fields = "\n".join(setting.field for setting in group.settings).lower()
    return 1 if any(limit in fields for limit in _LIMITS) else 2, group.kind.kind


def _sources(group: InForce, targets: Mapping[Source, tuple[NodeRef, ...]], names: Names) -> str:
    """`shop/cart → rule cart, merged with infra/defaults → Gateway infra/public`: the nearest first."""
    kind, nearest_first = group.kind, group.contest.order[::-1]
    setters = {source_key(setting.source) for setting in group.settings}
    phrases_ = {
        source_key(source): f"{names.policy(source, kind)}{names.targets(source, targets.get(source, [source.target]))}"
        for source in nearest_first
        if source_key(source) in setters or source.object in group.policies
    }
    themselves = dict.fromkeys(
        setting.source for setting in group.settings if setting.source.object == setting.source.target.object
    )
    policies = [text for (ref, *_), text in phrases_.items() if ref not in {source.object for source in themselves}]
    shown = policies[:1]
    if len(policies) > 1:
        joined_by = "together with" if group.profile.all_apply else "merged with"
        shown.append(f"{joined_by} {listed(policies[1:], _MOST_OTHERS)}")
    itself = dict.fromkeys(names.policy(source, kind) for source in themselves)
    shown += [("and " if shown else "") + listed(list(itself), _MOST_OTHERS)] if itself else []
    states: dict[Source, str] = {fate.source: fate.state for setting in group.settings for fate in setting.instead_of}
    states |= {fate.source: fate.state for fate in group.without_effect}
    states |= dict.fromkeys(group.contest.failing, "invalid")
    # Each policy is named once, although it may lose in several ways by several targets, or win by another one.
    named = {source.object for source in nearest_first if source_key(source) in phrases_}
    losers: dict[str, list[str]] = {}
    for state in ("superseded", *_FATES):
        outranked = dict.fromkeys(source.object for source in nearest_first if states.get(source) == state)
        sources = {source.object: source for source in nearest_first}
        losers[state] = [names.policy(sources[policy], kind) for policy in outranked if policy not in named]
        named.update(outranked)
    if losers["superseded"]:
        # What supersedes others may say nothing itself that is asked about.
        superseded = (fate for fate in group.without_effect if fate.state == "superseded")
        by = dict.fromkeys(winner for fate in superseded for winner in fate.superseded_by)
        winners = "" if shown else listed([names.policy(source, kind) for source in by], _MOST_OTHERS)
        shown.append(" ".join(filter(None, (winners, "replaces", listed(losers["superseded"], _MOST_OTHERS)))))
    remaining = [
        f"{listed(losers[state], _MOST_OTHERS)} {'is' if len(losers[state]) == 1 else 'are'} {verb}"
        for state, verb in _FATES.items()
        if losers[state]
    ]
    return "; ".join(filter(None, [", ".join(shown), *remaining]))


def _shortened(summary: str, room: int) -> str:
    """Return the phrases that there is room for, and how many more there are; the fields below say all."""
    phrases = summary.split(", ")
    for number in range(len(phrases), 0, -1):
        rest = len(phrases) - number
        text = ", ".join([*phrases[:number], *([f"{rest} more"] if rest else [])])
        if cells(text) <= room:
            return text
    return phrases[0]


def _lines(entry: _Entry, widths: tuple[int, int], view: View) -> Iterator[Line]:
    kind_width, summary_width = widths
    warning = (Segment(f"; {entry.warning}", "warning", prose=True),) if entry.warning else ()
    doubt = (Segment(entry.doubt, "aside"),) if entry.doubt else ()
    start = Segment(pad(entry.kind, kind_width) + " " * _GAP)
    hang = _INDENT + kind_width + _GAP
    room = view.width - hang - _GAP - entry.width
    if room >= 0:
        # In a column as far as there is room for it.
        gap = " " * (min(max(summary_width - cells(entry.summary), 0), room) + _GAP)
        summary = Segment(entry.summary, "value")
        yield Line((start, summary, Segment(gap), Segment(entry.sources), *doubt, *warning), _INDENT, hang)
    else:
        shortened = _shortened(entry.summary, view.width - hang) if view.cuts else entry.summary
        yield Line((start, Segment(shortened, "value", prose=True)), _INDENT, hang)
        # It is continued before an arrow or after a comma, never within a name.
        sources = (Segment(text) for text in re.split(r"(?= → )|(?<=[,;])(?= )", entry.sources))
        yield Line((*sources, *doubt, *warning), hang, hang + _INDENT)
