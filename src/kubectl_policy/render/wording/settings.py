"""Phrases about settings: values, reasons why a value is not in force, merging, assumptions and doubts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.model.kind_roles import NAMESPACE, ROUTES, layer_of
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.questions.shared.reasons import merge_does_not_count
from kubectl_policy.render.output.text import Line, Segment, cells, cut, prose_line
from kubectl_policy.render.wording.names import flow, source_phrase
from kubectl_policy.render.wording.values import beginning, brief

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.describe.policies import FieldOutcome
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution import Fate, Source

INDENT: Final = 2
GAP: Final = 3
# What is said of a field that its policy leaves out, and that the definition of its kind fills in.
DEFAULT: Final = "default of its kind"
# A value is cut to what is left of its line, but not to less than this.
_LEAST: Final = 24
# As many letters of the id of a commit as git shows.
SHORT_ID: Final = 7


_Field = TypeVar("_Field", "Setting", "Fate", "FieldOutcome")


def blame_phrase(placed: Setting | FieldOutcome) -> str:
    """`alice, 2026-01-03, 1a2b3c4`; empty where nobody asked who wrote it, or that cannot be told."""
    blame = placed.blame
    if blame is None:
        return ""
    parts = (blame.who, blame.when.partition("T")[0], blame.commit[:SHORT_ID])
    return ", ".join(filter(None, parts)) or "not committed yet"


def perhaps(setting: Setting) -> str:
    """` (may hold)`: mark a setting where it is not known how policies combine."""
    return "" if setting.certain else " (may hold)"


def default_spans(field: Setting | FieldOutcome) -> tuple[Segment, ...]:
    """Mark a field that its policy leaves out; nothing for one that somebody wrote."""
    return (Segment(f" ({DEFAULT})", "aside", prose=True),) if field.defaulted else ()


def without_keys(fields: tuple[_Field, ...]) -> Iterator[_Field]:
    """Leave out fields that only repeat the key of a list element, next to others of that element."""
    for index, field in enumerate(fields):
        element, _, _ = field.field.rpartition(".")
        neighbours = fields[max(index - 1, 0) : index] + fields[index + 1 : index + 2]
        repeats = element.endswith("]") and element.endswith(f"[{flow(field.value)}]")
        if not (repeats and any(neighbour.field.startswith(f"{element}.") for neighbour in neighbours)):
            yield field


def shortened(value: Json, room: int, view: View) -> str:
    """Return a value in one line; at a terminal the beginning of a long one, by the names of what it lists."""
    text = brief(value) if view.cuts else flow(value)
    room = max(room, _LEAST)
    if not view.cuts or cells(text) <= room:
        return text
    return cut(beginning(value) or text, room)


_ASSUMPTIONS: Final = {
    "being a policy": "it is a policy kind, because of its name and its target references",
    "class": "its policies reach what is below their target",
}
_BY_LABEL: Final = (
    "its policies change only their target, as its label Direct says, though they target Gateways and routes"
)
_MERGING: Final = {
    "direct": "of two on one target the older applies and the other is refused",
    "inherited": "a policy that does not say how it merges gives way to a nearer one as a whole",
}
_DOUBTS: Final = {
    "age unknown": "creationTimestamp is missing, so policies on one target are ordered by name instead of by age",
    "combination unknown": "how policies of this kind combine is not known, and these set no field in common: all of"
    " them may hold, or only one policy",
    "order undefined": "several of these policies set one field of their target, and which of them counts is undefined",
    "fold direction": "GEP-713 can be read in two ways here, which differ; this is the reading from the leaf upwards",
}
_PATCHING: Final = frozenset({MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE})


def why_superseded(fate: Fate, winner: Source, group: InForce) -> str:
    """Say why another value is in force, from the fate of a value and the source that won."""
    if fate.state == "rejected":
        is_only = group.contest.same_level == "one-applies" and winner.target == fate.source.target
        return f"refused: {_first(group, (winner,))} applies" if is_only else "conflict: refused"
    if fate.state == "unheeded":
        return _why_ignored(fate, group)
    if winner.object == winner.target.object:
        return _own_wins(fate, winner, group)
    return _by_filter(winner, fate.source) or _by_level(winner, fate.source, group)


def _own_wins(fate: Fate, winner: Source, group: InForce) -> str:
    """`the route's own timeout wins`: say why a value of the target object is in force."""
    if fate.source == winner:
        return "another of its own settings counts instead"
    around = (phrase for field, phrase in group.contest.own_words.items() if f"{fate.field}.".startswith(f"{field}."))
    is_route = winner.object.group_kind in ROUTES
    return f"the {'route' if is_route else winner.object.kind}'s own {next(around, 'setting')} wins"


def _by_level(winner: Source, loser: Source, group: InForce) -> str:
    """Say why a policy wins by the level at which it is attached, or by its order there."""
    together = winner.target == loser.target
    if winner.overrides and not (together and loser.overrides):
        return "overridden from above" if _above(winner, loser) else "an override wins over a default"
    if not together:
        return _chosen_above(winner, loser, group) or "the nearer policy wins"
    if group.contest.weights.get(winner.object, 0) != group.contest.weights.get(loser.object, 0):
        return "the heavier policy goes first"
    first_wins = group.contest.same_level == "first-wins" or winner.overrides
    if group.profile.order_field or "age unknown" in group.combination.doubts:
        return f"the {'first' if first_wins else 'last'} by {_order(group)} wins"
    return f"the {'older' if first_wins else 'newer'} policy wins"


def _above(winner: Source, loser: Source) -> bool:
    """Whether an override comes from further up than what it replaces; another override does not yield to one below."""
    upper, lower = winner.target, loser.target
    if upper.object == lower.object:
        return bool(lower.section) and not upper.section
    kinds = upper.object.group_kind, lower.object.group_kind
    return loser.overrides or NAMESPACE in kinds or layer_of(kinds[0]) <= layer_of(kinds[1])


def _chosen_above(winner: Source, loser: Source, group: InForce) -> str:
    """Say why a policy of a route wins against one of a child route, where its route has chosen so."""
    order, sources = group.contest.order, {winner, loser}
    known = sources <= set(order) and all(source.target.object.group_kind in ROUTES for source in sources)
    if not group.profile.route_choice or not known or order.index(winner) > order.index(loser):
        return ""
    return "the route above wins, by its annotation"


def _why_ignored(fate: Fate, group: InForce) -> str:
    """Say why controllers ignore a field of a policy that counts."""
    if fate.because:
        return f"controllers ignore it: {fate.because}"
    if not group.profile.counts(fate.field):
        return f"it has no effect on {plural(group.extent.at[0].object.kind)}"
    port_field = group.profile.port_field
    target = fate.source.target
    altogether = any(
        not part.fields and not part.annotations and any(level.includes(target) for level in part.levels)
        for part in group.profile.ignored
    )
    if port_field and not altogether and fate.field.startswith(f"{port_field.field}["):
        return "it is for another port"
    return "controllers ignore it here"


def without_effect_phrase(fate: Fate, group: InForce) -> str:
    """Say why a declared field has no effect and no successor: its whole spec was replaced, or refused.

    Of one that is refused, by whom is left out: that stands beside it.
    """
    if fate.state == "unheeded":
        return _why_ignored(fate, group)
    if fate.by_port and group.profile.port_field:
        return f"{group.profile.port_field.field} has an entry for this port, which is used instead"
    if fate.state != "rejected":
        return _why_replaced(fate, group)
    same_target = all(winner.target == fate.source.target for winner in fate.superseded_by)
    if group.contest.same_level == "one-applies" and same_target:
        return f"refused: of several on one target {_first(group, fate.superseded_by)} applies"
    elsewhere = all(winner.target != fate.source.target for winner in fate.superseded_by)
    if elsewhere and group.profile.refusal == "everywhere":
        names = listed([source_phrase(winner) for winner in fate.superseded_by])
        return f"refused on all of its targets, for {names}"
    return "refused for the conflict"


def _why_replaced(fate: Fate, group: InForce) -> str:
    of_objects = [winner for winner in fate.superseded_by if winner.object == winner.target.object]
    if of_objects:
        return _own_wins(fate, of_objects[0], group)
    names = listed([source_phrase(winner) for winner in fate.superseded_by]) or "another policy"
    several, why = len(fate.superseded_by) > 1, merge_not_counting(fate, group)
    if fate.source in group.contest.members:
        return f"{names} {'set' if several else 'sets'} what is used instead"
    phrase = f"all of it gives way to {names}" if several else f"{names} replaces all of it"
    return f"{phrase}; {why}" if why else phrase


def merge_not_counting(fate: Fate, group: InForce) -> str:
    """Say why a policy replaces another one as a whole although it says that it merges; else empty."""
    if fate.source in group.contest.members:
        return ""
    return merge_does_not_count(fate.source, fate.superseded_by, group.contest.strategy_of, group.profile)


def _by_filter(winner: Source, loser: Source) -> str:
    """Say why a policy that a filter of a rule names wins, or loses, against one on that rule or its route."""
    if winner.target.object != loser.target.object or not (winner.filter or loser.filter):
        return ""
    if winner.filter and loser.filter:
        return f"the {'earlier' if winner.filter < loser.filter else 'later'} filter wins"
    if winner.filter and (winner.target == loser.target or winner.overrides):
        return "a filter's policy comes first"
    return "a filter's policy comes first, and the last one wins" if winner.target == loser.target else ""


def _first(group: InForce, winners: Iterable[Source]) -> str:
    """Say which policy applies where one alone does."""
    if any(winner.filter for winner in winners):
        return "the first that a filter names"
    undecided = group.profile.order_field or "age unknown" in group.combination.doubts
    return f"the first by {_order(group)}" if undecided else "the oldest"


def _order(group: InForce) -> str:
    """Name the order of policies on one target."""
    age = "name" if "age unknown" in group.combination.doubts else "age"
    return f"{group.profile.order_field} and {age}" if group.profile.order_field else age


def merging_phrase(strategies: Collection[MergeStrategy], profile: PolicyKindProfile, *, merges: bool = True) -> str:
    """Say how policies of a kind merge; empty for the strategy None, with which none does.

    Where the policy itself chooses to merge, also with what; `merges` says whether there is anything to merge with.
    """
    phrases = [strategy.value.lower() for strategy in strategies if strategy is not MergeStrategy.NONE]
    if profile.chooser == "challenger" and merges and _PATCHING.intersection(strategies):
        partners = "the closest policy above it" if profile.merges_with == "closest" else "the policies above it"
        phrases[-1] += f" with {partners}" + (f" ({profile.strategy_field})" if profile.strategy_field else "")
    return ", ".join(phrases)


def basis_lines(groups: Sequence[InForce]) -> Iterator[Line]:
    """Return the basis of an answer about a policy kind: guesses, doubts of all groups, limits of its profile.

    `groups` are all of one kind, at least one. Doubts that not all of them have come first.
    """
    profile = groups[0].profile
    common = [
        doubt for doubt in groups[0].combination.doubts if all(doubt in group.combination.doubts for group in groups)
    ]
    for group in groups:
        yield from doubt_lines(doubt for doubt in group.combination.doubts if doubt not in common)
    assumed = tuple(
        choice for choice in profile.assumed if any(choice in group.combination.assumed for group in groups)
    )
    yield from assumption_lines(profile, assumed)
    yield from doubt_lines(common)
    shown = [setting.field for group in groups for setting in (*group.settings, *group.without_effect)]
    yield from note_lines(profile, shown, in_full=bool(assumed))


def assumption_lines(profile: PolicyKindProfile, assumed: Collection[str], kind: str = "") -> Iterator[Line]:
    """Return the assumptions about a policy kind; with its name where that is not plain."""
    if assumed:
        of_class = _BY_LABEL if profile.policy_class == "direct" else _ASSUMPTIONS["class"]
        meanings = {**_ASSUMPTIONS, "class": of_class, "merge strategy": _MERGING[profile.policy_class]}
        named = listed([meanings.get(choice, choice) for choice in assumed])
        why = "because its profile does not say" if profile.known_by == "profile" else "because no profile covers it"
        yield _aside(f"assumed{f' of {kind}' if kind else ''}, {why}: {named}")


def doubt_lines(doubts: Iterable[str]) -> Iterator[Line]:
    """Return the doubts about an answer."""
    for doubt in doubts:
        yield _aside(f"in doubt: {_DOUBTS.get(doubt, doubt)}")


def note_lines(profile: PolicyKindProfile, fields: Iterable[str], *, in_full: bool = True) -> Iterator[Line]:
    """Return the notes of a profile on some fields: where answers may be wrong and, `in_full`, all others."""
    notes = profile.notes_about(fields)
    if notes and profile.approximate:
        yield _aside(f"not everything about {profile.group_kind.kind} is computed: {notes}")
    elif notes and in_full:
        yield _aside(f"note: {notes}")


def _aside(text: str) -> Line:
    return prose_line(text, "aside", INDENT, 2 * INDENT)
