"""Statements about two policies that meet: which one wins, in which units, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.kinds import listed
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.render.wording.names import either, kinds_phrase, levels_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import ConditionalField

# A label, the fields that belong together, and what they say, perhaps in several lines. That is empty where there is
# nothing to say, which is so of most fields that are not set.
Saying: TypeAlias = "tuple[str, tuple[str, ...], str | Iterable[str]]"

_REFUSED: Final = "the other one is refused"
_BOTH: Final = "both apply, neither beats the other"
_ABOVE: Final[Mapping[MergeStrategy, str]] = {
    MergeStrategy.NONE: f"the one further up stands, and {_REFUSED}",
    MergeStrategy.ATOMIC_DEFAULTS: "the nearer one replaces the other one as a whole",
    MergeStrategy.ATOMIC_OVERRIDES: "the one further up replaces the other one as a whole",
    MergeStrategy.PATCH_DEFAULTS: "field by field, the nearer one wins",
    MergeStrategy.PATCH_OVERRIDES: "field by field, the one further up wins",
    MergeStrategy.STRATEGIC_MERGE: "field by field, the nearer one wins; lists merge by their keys",
    MergeStrategy.ALL_APPLY: _BOTH,
}
_STANZAS: Final = {
    "plural": "settings in defaults give way to a nearer policy, settings in overrides beat it: as a whole, or field"
    " by field where they say strategy: {merge}",
    "singular": "settings in default give way to a nearer policy, settings in override beat it, field by field; one"
    " policy may have both",
    "none": "settings stand in the spec itself, not in defaults or overrides",
    None: "",
}
_FOLD: Final = {
    "bottom-up": "the two nearest combine first, so that nothing below can undo an override",
    "top-down": "the two furthest up combine first",
    None: "",
}
_WITHIN: Final = {
    "level": "policies on one level",
    "levels": "levels one below the other, such as a route and the routes that it leads to",
    "scopes": "the scopes",
}


def combinations(profile: PolicyKindProfile) -> Iterator[Saying]:
    """List the statements about two policies that meet, field by field of the profile."""
    yield "one further up", ("strategy",), ancestor_phrase(profile)
    yield "on one target", ("same_level", "strategy", "refusal"), one_target_phrase(profile)
    like = "a policy on a route is refused if another route has a Gateway, port, hostname and path in common with it"
    yield "on like routes", ("overlap",), like if profile.overlap == "refused" else ""
    chosen = [f"{value}: {_above(profile, meaning)}" for value, meaning in profile.strategy_values.items()]
    means = "; ".join(chosen) or "by the name of a strategy, such as AtomicDefaults or PatchOverrides"
    field, from_above = profile.strategy_field, profile.strategy_from_above
    unsaid = "; one that chooses nothing does as the nearest one above it that does" if from_above else ""
    fields = ("strategy_field", "strategy_values", "strategy_from_above")
    yield "as chosen in", fields, field and f"{field} of each policy ({means}){unsaid}"
    stanzas = _STANZAS[profile.stanzas].format(merge=profile.stanza_merge or "patch")
    yield "stanzas", ("stanzas", "stanza_merge"), stanzas
    yield "who decides", ("chooser",), _chooser(profile)
    closest = profile.merges_with == "closest"
    where = f" on {levels_phrase(profile.merge_parents)}" if profile.merge_parents else ""
    every = "the closest policy" if closest else "every policy"
    yield "merges with", ("merges_with", "merge_parents"), f"{every} above it{where}" if where or closest else ""
    yield "of three", ("fold",), _FOLD[profile.fold]
    scopes = [f"those on {levels_phrase(scope.levels)}{_below(scope.protocols)}" for scope in profile.scopes]
    remaining = f"{'; '.join(scopes)}; all others. The narrower one wins each field"
    yield "by themselves", ("scopes",), remaining if scopes else ""
    yield "between routes", ("route_choice",), _route_choice(profile)
    by_number = [f"{profile.order_field}, the smallest number first"] if profile.order_field else []
    weight = profile.weight_annotation
    numbers = [*by_number, *([f"the annotation {weight}, the greatest number first"] if weight else [])]
    age = f"{', then '.join(numbers)}, and only then age"
    yield "ordered by", ("order_field", "weight_annotation"), age if numbers else ""
    yield "as one unit", ("whole_fields",), _whole(profile)
    maps = listed(sorted(profile.maps_in_stanzas))
    yield "as one unit", ("map_fields",), maps and f"{maps} in default and override"
    yield "together", ("shared_fields",), _shared(profile)
    port = profile.port_field
    instead = f"for its port, an entry of {port.field} stands instead of {port.instead_of}" if port else ""
    yield "for a port", ("port_field",), instead
    yield "ignored", ("ignored",), _ignored(profile)
    lists = (f"{name} by {key}" if key else f"{name} are appended" for name, key in profile.list_keys.items())
    yield "lists", ("list_keys",), "; ".join(lists)
    null = "a field set to null counts as not set"
    yield "nulls", ("nulls",), null if profile.nulls == "ignore" else ""
    without = profile.empty_without
    yield "empty", ("empty_without",), without and f"a policy without {without} replaces none further up"
    fields_ = [f"its {theirs} for {ours}" for ours, theirs in profile.object_fields.items()]
    fields_ += [_in_case(field_) for field_ in profile.conditional_object_fields]
    beats = f"{listed(fields_)}; that beats every default and loses to every override" if fields_ else ""
    yield "target's fields", ("object_fields", "conditional_object_fields"), beats
    yield "elsewhere", ("variants",), _variants(profile)
    worded = listed(list(dict.fromkeys(part.field for part in profile.summary if part.words)))
    yield "in short", ("summary",), worded and f"first {worded}, then the names of other fields"


def _in_case(own_field: ConditionalField) -> str:
    cases = [f"it has {own_field.given}"] if own_field.given else []
    cases += [f"it has no {own_field.absent}"] if own_field.absent else []
    return f"its {own_field.object_field} for {own_field.field}" + (f" where {listed(cases)}" if cases else "")


def ancestor_phrase(profile: PolicyKindProfile) -> str:
    """Say which of two policies wins if one is above the other."""
    if profile.policy_class == "direct":
        return ""
    chosen = profile.strategy_field or profile.stanzas in {"plural", "singular"}
    return ("unless they say otherwise, " if chosen else "") + _above(profile, profile.default_strategy)


def _above(profile: PolicyKindProfile, strategy: MergeStrategy) -> str:
    # A challenger that chooses cannot be beaten from above: it merges, or it replaces.
    beaten = {MergeStrategy.NONE, MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES}
    replaces = profile.chooser == "challenger" and strategy in beaten
    return _ABOVE[MergeStrategy.ATOMIC_DEFAULTS if replaces else strategy]


def one_target_phrase(profile: PolicyKindProfile) -> str:
    """Say which of two policies on one target wins."""
    extent = ", on all of its targets" if profile.refusal == "everywhere" else ""
    if profile.same_level == "one-applies":
        return f"the older one applies, and {_REFUSED}{extent}"
    if profile.same_level == "disjoint":
        return f"both apply unless they set a common field; then the newer one is refused{extent}"
    if profile.same_level == "all-apply":
        return _BOTH
    first_wins = profile.same_level == "first-wins" or (profile.same_level is None and profile.stanzas == "singular")
    # The older one stands where the one further up does, and where the first one wins.
    phrase = _ABOVE[profile.default_strategy].replace("the nearer", "the older" if first_wins else "the newer")
    older = "the heavier or else the older one" if profile.weight_annotation else "the older one"
    return phrase.replace("the one further up", "the older one").replace("the older one", older)


def _chooser(profile: PolicyKindProfile) -> str:
    if profile.chooser == "challenger":
        return "the nearer one says how"
    return "the one further up says how" if profile.strategy_field else ""


def _below(protocols: Iterable[str]) -> str:
    return f" (below {either(sorted(protocols))} listeners)" if protocols else ""


def _route_choice(profile: PolicyKindProfile) -> str:
    choice = profile.route_choice
    if choice is None:
        return ""
    values = [
        f"{value}: {_ABOVE[means.strategy]}"
        + ("; joint fields are put together" if means.joint else "")
        + (", the further route's first" if means.joint is MergeStrategy.PATCH_OVERRIDES else "")
        for value, means in choice.values.items()
    ]
    if choice.listed:
        values.append(f"a list of fields below {choice.listed.below}: of these, {_ABOVE[choice.listed.strategy]}")
    return f"the annotation {choice.annotation} of the route that leads to the other one ({'; '.join(values)})"


def _whole(profile: PolicyKindProfile) -> str:
    units: list[str] = []
    for field in sorted(profile.whole_fields):
        path, _, key = field.rstrip("]").partition("[")
        entry = f"each entry of {field.removesuffix('.*')}" if field.endswith(".*") else field
        units.append(f"each element of {path}, by its {key}" if key else "each field" if field == "*" else entry)
    return listed(units)


def _shared(profile: PolicyKindProfile) -> Iterator[str]:
    for field in profile.shared_fields:
        entries = f"elements by their {field.by[1:-1]}" if field.by.startswith("[") else f"entries by {field.by}"
        of = {"": "what each policy says", "*": "its fields, each from one policy"}.get(field.by, entries)
        levels = either([_WITHIN[within] for within in field.within])
        unless = f", unless they disagree on {either(field.unless)}" if field.unless else ""
        yield f"{field.field}: {of}, among {levels}{unless}"


def _ignored(profile: PolicyKindProfile) -> Iterator[str]:
    """List the fields that controllers ignore."""
    for part in profile.ignored:
        where = f", where it is {either(sorted(part.values))}," if part.values else ""
        fields = listed(part.fields) if part.fields else "policies"
        yield f"{fields}{where} on {levels_phrase(part.levels)}{_below(part.protocols)}"


def _counting(profile: PolicyKindProfile) -> str:
    return f"only this counts: {listed(sorted(profile.counting_fields))}" if profile.counting_fields else ""


# What may be different at some targets, and what stands before it.
_VARYING: Final[Sequence[tuple[Callable[[PolicyKindProfile], str], str]]] = (
    (ancestor_phrase, ""),
    (one_target_phrase, "on one target "),
    (_chooser, "where they choose, "),
    (_whole, "as one unit: "),
    (_counting, ""),
    (lambda profile: "; ".join(_ignored(profile)), "ignored: "),
)


def _variants(profile: PolicyKindProfile) -> str:
    """Say what is different at the targets of each variant."""

    def differences(at_kind: PolicyKindProfile) -> str:
        phrases = ((lead, phrase(at_kind), phrase(profile)) for phrase, lead in _VARYING)
        return "; ".join(f"{lead}{varied or 'nothing'}" for lead, varied, usual in phrases if varied != usual)

    kinds = (kind for variant in profile.variants for kind in sorted(variant.targets))
    differing = grouped((differences(profile.at(kind)), kind) for kind in kinds)
    return ". ".join(f"At {kinds_phrase(kinds)}, {text}" for text, kinds in differing.items() if text)
